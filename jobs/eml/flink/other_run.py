"""Whether another run of this job is live, or one has written before: both would write every prediction twice.

Called by `start`. A run that was killed leaves open transactions and a young checkpoint behind, so neither proves
that it still runs; what proves it is that they move on while we watch. A live job finishes a checkpoint in every
interval, also when no records come, and begins a new transaction after it where they do.
"""

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eml.core.errors import EmlError
from eml.flink.client import java_class
from eml.flink.rows import KINDS
from eml.flink.topics import option_of
from eml.settings import Settings
from eml.starting.state_files import Found

log = logging.getLogger(__name__)

POLL_S = 0.5
INTERVALS = 2  # of checkpoints, until a run that does not move on counts as dead
MARGIN_S = 1.0


@dataclass
class OtherRun:
    """What another run of the job has left, watched from now on."""

    admin: Any
    settings: Settings
    newest_checkpoint: Callable[[], Found | None]
    _first: Found | None = None
    _transactions: dict[str, int] = field(default_factory=dict)
    _until: float = 0.0

    def __post_init__(self) -> None:
        window = INTERVALS * self.settings.job.checkpoint_interval_ms / 1000 + MARGIN_S
        self._first, self._transactions = self.newest_checkpoint(), self._open_transactions()
        young = self._first is not None and time.time() - self._first.written_s < window
        self._until = time.monotonic() + (window if young or self._transactions else 0.0)

    def check(self) -> None:
        """Raise where it is live; takes as long as that is not certain."""
        if time.monotonic() < self._until:
            log.info("a run of this job ended not long ago: making sure that it has ended")
        while True:
            self._look()
            if time.monotonic() > self._until:
                return
            time.sleep(POLL_S)

    def _look(self) -> None:
        checkpoint = self.newest_checkpoint()
        if checkpoint and (self._first is None or checkpoint.written_s > self._first.written_s):
            raise self._live(f"it wrote {checkpoint.path} while this one started")
        for sink, number in self._open_transactions().items():
            if number > self._transactions.setdefault(sink, number):
                raise self._live(f"it began transaction {sink}{number} while this one started")

    def _live(self, evidence: str) -> EmlError:
        return EmlError(
            f"another run of this job is live: {evidence}. Two of them would write everything twice: stop the other"
            " one, or give this one a kafka.transactional_id_prefix, kafka.group_id, job.name and topics of its own"
        )

    def _open_transactions(self) -> dict[str, int]:
        """The number of the newest open transaction of each sink task."""
        newest: dict[str, int] = {}
        for sink, number in _transactions(self.admin, self.settings, "ONGOING"):
            newest[sink] = max(number, newest.get(sink, 0))
        return newest


def committed_transactions(admin: Any, settings: Settings) -> str | None:  # noqa: ANN401  a Java object
    """What the job has written before, for a message; None: nothing the brokers remember.

    Offsets alone do not tell it: they are committed some time after a checkpoint, and a short run may end before.
    """
    count = len(_transactions(admin, settings, "COMPLETE_COMMIT"))
    prefix = settings.kafka.transactional_id_prefix
    return (
        f"{count} transactions with prefix {prefix!r} (kafka.transactional_id_prefix) are committed" if count else None
    )


def _transactions(admin: Any, settings: Settings, state: str) -> list[tuple[str, int]]:  # noqa: ANN401
    """The job's own transactions in a state: sink task and number. Flink names them PREFIX-TASK-NUMBER."""
    kafka = settings.kafka
    if kafka.delivery != "exactly-once":
        return []
    ours = re.compile(rf"({re.escape(kafka.transactional_id_prefix)}-(?:{'|'.join(KINDS)})-\d+-)(\d+)")
    wanted = getattr(java_class("clients.admin.TransactionState"), state)
    options = java_class("clients.admin.ListTransactionsOptions")().filterStates([wanted])
    listed = option_of(lambda: admin.listTransactions(options).all().get()) or ()
    matches = (ours.fullmatch(str(one.transactionalId())) for one in listed)
    return [(match[1], int(match[2])) for match in matches if match]

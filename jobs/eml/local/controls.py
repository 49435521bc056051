"""The demonstration's controls: the very records that were sent, through models that keep up less well.

Fed by `demo` while the fleet sends; runs in plain Python, in a thread of its own, what the job runs in Flink
(`stream.models.key_model`), so the figures beside EML's differ by the model alone. Knows no Kafka.
"""

from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Self

from eml.core import LearnerConfig
from eml.local.sender import Sent
from eml.settings import Settings
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import LookUp
from eml.stream.records import Position, Raw

Labels = dict[str, str | None]  # predicted, by event id

EML = "EML"
DROPS = "never learns new features"
RESTARTS = "restarts cold"
PIECE = 400  # records fed together: fewer cost more, and more keep Ctrl-C waiting


def _by_key(record: Sent) -> Hashable:
    return record.planned.key


def _by_key_and_version(record: Sent) -> Hashable:
    return record.planned.key, record.planned.version


@dataclass(slots=True)
class Contestant:
    """One way to keep up: as the job does it, unless told otherwise."""

    look_up: LookUp
    settings: Settings = field(default_factory=Settings)
    model_of: Callable[[Sent], Hashable] = _by_key  # which model a record goes to
    labels: Labels = field(default_factory=dict)
    _models: dict[Hashable, KeyModel] = field(default_factory=dict)

    def feed(self, sent: Iterable[Sent]) -> None:
        """Have each record predicted, and learnt where it is labelled, by its model."""
        pieces: dict[Hashable, list[Sent]] = {}
        for record in sent:
            pieces.setdefault(self.model_of(record), []).append(record)
        for which, piece in pieces.items():
            model = self._models.setdefault(which, KeyModel(KeyName(piece[0].planned.key), self.settings))
            results = model.step([_raw(record) for record in piece], self.look_up)
            self.labels.update({str(scored.event_id): scored.label for scored in results.predictions})


def _raw(record: Sent) -> Raw:
    return Raw(record.value, Position("", 0, 0, record.timestamp_ms), {})


class Controls:
    """All controls, fed while others wait for the network."""

    def __init__(self, look_up: LookUp) -> None:
        self._controls = {
            DROPS: Contestant(look_up, Settings(learner=LearnerConfig(inherit=False))),
            RESTARTS: Contestant(look_up, model_of=_by_key_and_version),
        }
        self._waiting: list[Sent] = []
        self._worker = ThreadPoolExecutor(1)
        self._work: list[Future[None]] = []

    def feed(self, sent: Iterable[Sent]) -> None:
        """Take records; their turn comes soon."""
        self._waiting.extend(sent)
        if len(self._waiting) >= PIECE:
            self._submit()

    def _submit(self) -> None:
        piece, self._waiting = self._waiting, []
        self._work += [self._worker.submit(control.feed, piece) for control in self._controls.values()]

    def finish(self) -> dict[str, Labels]:
        """Wait for the rest, and return what each said."""
        self._submit()
        for piece in self._work:
            piece.result()
        return {name: control.labels for name, control in self._controls.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.shutdown(wait=False, cancel_futures=True)

"""A micro-batch that made our own code fail, processed again in halves: only the record at fault becomes a dead letter.

Called by the operator after an unexpected error, with the key's state from before the micro-batch. Results do not
depend on how a stream is cut into micro-batches, so the pieces give what the whole would have given. Knows no Flink.
"""

import logging
import traceback
from collections.abc import Callable, Sequence

from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.records import Raw

log = logging.getLogger(__name__)

INTERNAL = "internal"
LONGEST_ERROR = 300  # characters of an error's own words in a dead letter

Load = Callable[[state_codec.StateParts], KeyModel]
Step = Callable[[KeyModel, Sequence[Raw]], Results]


class Isolation:
    """Steps through records in halves until the one that fails stands alone."""

    def __init__(self, load: Load, step: Step, parts: state_codec.StateParts) -> None:
        self._load = load
        self._step = step
        self._parts = parts  # the key's state before the next record
        self.model = load(parts)
        self.failures = 0

    def run(self, records: Sequence[Raw]) -> Results:
        """The results of all records; `model` is the key's model after them."""
        results, ahead = Results(), [list(records)]
        while ahead:
            piece = ahead.pop()
            try:
                done = self._advance(piece)
            except Exception as error:  # noqa: BLE001  whatever it is, it concerns this key only
                self.model = self._load(self._parts)
                if len(piece) > 1:
                    half = len(piece) // 2
                    ahead += [piece[half:], piece[:half]]
                    continue
                done = self._alone(piece[0], error)
            results.add(done)
            if done.waiting:  # all records behind it wait, too
                results.waiting += [raw for later in reversed(ahead) for raw in later]
                break
        return results

    def _advance(self, records: Sequence[Raw]) -> Results:
        results = self._step(self.model, records)
        self._parts = state_codec.take_all(self.model)
        return results

    def _alone(self, raw: Raw, error: Exception) -> Results:
        """One record that fails: if only learning what came before it fails, that is dropped; else the record is."""
        self.failures += 1
        dropped = self.model.drop_windows()
        if dropped:
            try:
                results = self._advance([raw])
            except Exception:  # noqa: BLE001, S110  the first error is the one to report
                pass
            else:
                log.error("%d labelled readings were dropped: learning them fails with %s", dropped, place_of(error))
                results.not_learnt += dropped
                return results
        self.model = self._load(self._parts)
        log.error("%s failed with %s", _where(raw), place_of(error))
        return Results(dead_letters=[dead_letter(raw, error)])


def dead_letter(raw: Raw, error: Exception) -> DeadLetter:
    """A record that made our own code fail."""
    return DeadLetter(raw, INTERNAL, type(error).__name__, f"{place_of(error)}: {str(error)[:LONGEST_ERROR]}", None)


def place_of(error: Exception) -> str:
    """The kind of an error and the line it came from; not its words, which may quote a record."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} in {frames[-1].name}, line {frames[-1].lineno}" if frames else type(error).__name__


def _where(raw: Raw) -> str:
    return f"{raw.position.topic}, partition {raw.position.partition}, offset {raw.position.offset}"

"""Models that new keys may begin with: of each schema the newest that this task has.

`moves` offers a model when it has learnt, and asks for one when a key is new. One instance per operator: which model
is newest depends on what other keys of the same task have sent, so a warm start is the one thing that can turn out
otherwise in another run; the event says whose model it was.
"""

from collections import OrderedDict
from dataclasses import dataclass

from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.models.version_model import Line

SCHEMAS = 64  # ids that models are kept for


@dataclass(slots=True)
class _Donor:
    key: str
    snapshot: bytes | None
    line: Line | None  # until it changes no more: bytes are made only when a new key asks


class Donors:
    """The newest model of each schema id, with more than one class learnt."""

    def __init__(self) -> None:
        self._newest: OrderedDict[int, _Donor] = OrderedDict()

    def offer(self, key: str, line: Line) -> None:
        """A key's head has learnt."""
        if len(line.learner.classes) > 1:
            self._newest[line.version.id] = _Donor(key, None, line)
            self._newest.move_to_end(line.version.id)
            if len(self._newest) > SCHEMAS:
                self._newest.popitem(last=False)

    def left(self, key: str, line: Line) -> None:
        """A key is about to leave a version: the model it had is still the newest of it."""
        donor = self._newest.get(line.version.id)
        if donor is not None and donor.key == key:
            donor.snapshot, donor.line = line.snapshot(), None

    def forget(self, key: str) -> None:
        """Do not offer a key's models any more: it is not known in which state they are."""
        self._newest = OrderedDict((number, donor) for number, donor in self._newest.items() if donor.key != key)

    def newest(self, schema: ReadingSchema, key: str) -> tuple[str, bytes] | None:
        """Whose model a key may begin with, and its bytes."""
        donor = self._newest.get(schema.id)
        if donor is None or donor.key == key:
            return None
        snapshot = donor.snapshot
        if donor.line is not None and donor.line.version.id == schema.id:  # not renamed since
            snapshot = donor.line.snapshot()
        return (donor.key, snapshot) if snapshot is not None else None

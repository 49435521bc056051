"""Models that new keys may begin with: for each schema the newest that this task has.

`key_model` offers a model when it has learnt, `version_routing` when a key is about to leave a version, and
`announcements` asks for one when a key is new. One instance per operator: which model is newest depends on what other
keys of the same task have sent, so a warm start is the one thing that can differ in another run; the event says whose
model it was.
"""

from collections import OrderedDict
from dataclasses import dataclass

from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.keys import KeyName
from eml.stream.models.version_model import VersionModel
from eml.stream.wire import SchemaId

SCHEMAS = 64  # ids that models are kept for


@dataclass(slots=True)
class _Offer:
    key: KeyName
    snapshot: bytes | None
    model: VersionModel | None  # while the key is on the version: bytes are made only when a new key asks


class WarmStartModels:
    """The newest model of each schema id, with more than one class learnt."""

    def __init__(self) -> None:
        self._newest: OrderedDict[SchemaId, _Offer] = OrderedDict()

    def offer(self, key: KeyName, model: VersionModel) -> None:
        """The model of a key's current version has learnt."""
        if len(model.learner.classes) > 1:
            self._newest[model.version.id] = _Offer(key, None, model)
            self._newest.move_to_end(model.version.id)
            if len(self._newest) > SCHEMAS:
                self._newest.popitem(last=False)

    def version_left(self, key: KeyName, model: VersionModel) -> None:
        """A key is about to leave a version: the model it had is still the newest of it."""
        offer = self._newest.get(model.version.id)
        if offer is not None and offer.key == key:
            offer.snapshot, offer.model = model.snapshot(), None

    def forget(self, key: KeyName) -> None:
        """Do not offer a key's models any more: it is not known in which state they are."""
        self._newest = OrderedDict((number, offer) for number, offer in self._newest.items() if offer.key != key)

    def newest(self, schema: ReadingSchema, key: KeyName) -> tuple[KeyName, bytes] | None:
        """Whose model a key may begin with, and its bytes."""
        offer = self._newest.get(schema.id)
        if offer is None or offer.key == key:
            return None
        snapshot = offer.snapshot
        if offer.model is not None and offer.model.version.id == schema.id:  # not renamed since
            snapshot = offer.model.snapshot()
        return (offer.key, snapshot) if snapshot is not None else None

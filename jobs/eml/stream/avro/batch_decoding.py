"""Records of one call decoded together, whichever models they belong to.

Called by the operator before it serves the models of a call one by one: a fleet of many slow devices has one record per
model and call, and decoding costs far less for a hundred records of a schema than a hundred times for one. Only an
optimisation: a record that is not found here is decoded by its model as if there were no others.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from eml.settings import LimitsSettings
from eml.stream.avro.decoder import Decoded
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.errors import BadRecordError
from eml.stream.limits import check_size
from eml.stream.records import Raw
from eml.stream.wire import HEADER_SIZE, SchemaId, unframe

Decode = Callable[[ReadingSchema, Sequence[Raw]], Decoded]  # of records that are all of one schema
Cached = Callable[[SchemaId], ReadingSchema | None]  # the schema with an id, where no look-up is needed


def decode(schema: ReadingSchema, raws: Sequence[Raw]) -> Decoded:
    """Decode records by themselves."""
    return schema.decode([raw.value or b"" for raw in raws], HEADER_SIZE)


@dataclass(frozen=True, slots=True)
class _Group:
    """The records of one schema."""

    decoded: Decoded
    good: dict[int, int]  # a record's place in the group -> its row in `decoded`
    bad: dict[int, BadRecordError]


class BatchDecoding:
    """What was decoded of a call, for its models to take."""

    def __init__(self, records: Iterable[Raw], cached: Cached, limits: LimitsSettings) -> None:
        self._places: dict[int, int] = {}  # by the identity of a record, which its caller holds meanwhile
        self._groups: dict[int, _Group] = {}  # by the identity of a schema
        by_id: dict[SchemaId, list[Raw]] = {}
        for raw in records:
            schema_id = _readable_id(raw, limits)
            if schema_id is not None:
                members = by_id.setdefault(schema_id, [])
                self._places[id(raw)] = len(members)
                members.append(raw)
        for schema_id, members in by_id.items():
            schema = cached(schema_id)
            if schema is not None:
                decoded = decode(schema, members)
                good = {place: row for row, place in enumerate(decoded.rows)}
                self._groups[id(schema)] = _Group(decoded, good, dict(decoded.bad))

    def take(self, schema: ReadingSchema, raws: Sequence[Raw]) -> Decoded:
        """These records' part."""
        group = self._groups.get(id(schema))
        if group is None:
            return decode(schema, raws)
        found, kept, bad = [], [], []
        for number, raw in enumerate(raws):
            place = self._places.get(id(raw), -1)
            row = group.good.get(place)
            if row is not None:
                found.append(number)
                kept.append(row)
            elif place in group.bad:
                bad.append((number, group.bad[place]))
            else:
                return decode(schema, raws)
        return group.decoded.at(kept, found, bad)


def _readable_id(raw: Raw, limits: LimitsSettings) -> SchemaId | None:
    try:
        check_size(raw, limits)
        return unframe(raw.value)
    except BadRecordError:
        return None  # its model says what is wrong with it

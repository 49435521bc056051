"""What must hold for any bytes at all: the fuzzed functions, each from one string of bytes.

Driven by Hypothesis in the unit tests (`tests/unit/stream/test_fuzz.py`) and by atheris, guided by coverage, in
`make fuzz` (`tests.hostile.fuzz`). The bytes are choices: which schema, which key, which damage.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from eml.core import LearnerConfig
from eml.local.fleet import VERSIONS, Machine
from eml.local.messages import ReadingWriter
from eml.settings import KafkaSettings, LearningSettings, RecordSettings, Settings
from eml.stream import waiting_records
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.errors import BadRecordError, BadSchemaError, RegistryUnavailableError
from eml.stream.keys import KeyName
from eml.stream.limits import headers_size
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.output import dead_letters
from eml.stream.output.encoder import Encoder, OutputIds, read_evolution, read_prediction, read_score
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId, frame, unframe
from tests.hostile.site import reading_fields, record_schema, written

REASONS = {  # all that a record may be refused for here; `internal` is not among them
    *("no-value", "not-framed", "unknown-schema", "unsupported-schema", "truncated", "trailing-bytes", "bad-value"),
    *("not-finite", "no-label", "too-large", "too-many-classes", "foreign-subject", "wrong-key", "waiting-full"),
}
RECORD = RecordSettings(max_features=64, max_nodes=256, max_schema_bytes=20_000)
SETTINGS = Settings(
    kafka=KafkaSettings(labels_topic="labels"),
    record=RECORD,
    learner=LearnerConfig(memory_size=48, rank=4, warm_up=16, catch_up=2),
    learning=LearningSettings(labels_kept=20, late_records=4, window_records=12, recovery_records=10),
)
SUBJECT = "readings-value"
AWAY, LABEL = 77, 9  # an id that cannot be asked for now, and that of labels
ENCODER = Encoder(OutputIds(300, 301, 302))


class Choices:
    """A string of bytes as choices; zeros where it has ended."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def number(self, below: int) -> int:
        """A number from 0 on; of two bytes where one does not do."""
        return int.from_bytes(self.bytes(1 if below <= 256 else 2), "big") % below

    def bytes(self, count: int) -> bytes:
        """The next bytes, as far as there are some."""
        self._at += count
        return self._data[self._at - count : self._at]

    def text(self) -> str:
        """Any text, of 40 bytes at most."""
        return self.bytes(self.number(40)).decode(errors="replace")

    def one(self, *of: Any) -> Any:
        """One of these."""
        return of[self.number(len(of))]


# -- the wire format and the decoder -----------------------------------------------------------------------------------

ENUM = {"type": "enum", "name": "State", "symbols": ["fine", "worn", "dead"]}
NESTED = {
    "type": "record",
    "name": "Inner",
    "fields": [{"name": "x", "type": "float"}, {"name": "t", "type": "string"}],
}
TEXTS = {
    **{version: schema_text(f"readings/v{version}") for version in (1, 2, 3)},
    4: record_schema(
        [
            {"name": "label", "type": ["null", ENUM]},
            {"name": "inner", "type": NESTED},
            {"name": "list", "type": {"type": "array", "items": ["null", "long"]}},
            {"name": "map", "type": {"type": "map", "values": "Inner"}},
            *({"name": f"n{number}", "type": ["double", "null"]} for number in range(9)),
            *({"name": f"w{number}", "type": "long"} for number in range(9)),
            *({"name": f"i{number}", "type": ["null", "int"]} for number in range(3)),
            {"name": "yes", "type": "boolean"},
            *({"name": f"s{number}", "type": "State"} for number in range(9)),
            {"name": "mode", "type": ["State", "null"]},
            {"name": "zone", "type": ["null", "string"], "eml.category": True},
            {"name": "code", "type": "long", "eml.category": True},
        ]
    ),
    5: record_schema(reading_fields()),
    6: record_schema(reading_fields({"name": "d", "type": "double", "aliases": ["a"]}, names=("b", "c"))),
    7: record_schema([{"name": "note", "type": "string"}]),
    LABEL: schema_text("label"),
}
SCHEMAS = {
    number: compile_schema(text, SchemaId(number), SUBJECT, number, RecordSettings()) for number, text in TEXTS.items()
}


def decode(data: bytes) -> None:
    """Any bytes under any of the schemas: each record has one fate, and no other error comes out."""
    choices = Choices(data)
    schema = SCHEMAS[choices.one(*TEXTS)]
    values: list[bytes] = []
    while choices and len(values) < 8:
        values.append(choices.bytes(1 + choices.number(120)))
    _check_decoded(schema, values)


def _check_decoded(schema: ReadingSchema, values: list[bytes]) -> None:
    decoded = schema.decode(values)
    assert sorted([*decoded.rows, *(row for row, _ in decoded.bad)]) == list(range(len(values)))
    assert decoded.values.shape == (len(decoded.rows), len(schema.space))
    assert {error.reason for _, error in decoded.bad} <= REASONS
    for row, value in enumerate(values):  # alone as among others
        alone = schema.decode([value])
        assert bool(alone.rows) == (row in decoded.rows)
        if alone.rows:
            assert alone.values.tobytes() == decoded.values[decoded.rows.index(row)].tobytes()


def wire(data: bytes) -> None:
    """Any value names a schema or is refused; what is framed comes out again."""
    try:
        schema_id = unframe(data)
    except BadRecordError as error:
        assert error.reason in REASONS  # noqa: PT017  no pytest here
    else:
        assert frame(schema_id, data[5:]) == data


# -- schemas -----------------------------------------------------------------------------------------------------------


def schema(data: bytes) -> None:
    """Any text is a schema that decodes, or is refused as one."""
    choices = Choices(data)
    if choices.number(4):
        text = json.dumps(_record(choices, 0))
    else:
        text = _damaged(choices, TEXTS[choices.one(*TEXTS)].encode()).decode(errors="replace")
    try:
        compiled = compile_schema(text, SchemaId(1), SUBJECT, 1, RECORD)
    except BadSchemaError as error:
        assert error.reason in REASONS  # noqa: PT017  no pytest here
        return
    assert len(compiled.space) <= RECORD.max_features
    _check_decoded(compiled, [choices.bytes(choices.number(60)) for _ in range(3)])


def _record(choices: Choices, level: int) -> dict[str, Any]:
    fields = [
        {
            "name": choices.one("a", "b", "c", "label", "event_id", "event_time", "sensor_id", choices.text()),
            "type": _type(choices, level + 1),
            **choices.one(
                {},
                {},
                {"aliases": choices.one([], ["a"], ["a", "b"], "a", [1])},
                {"eml.retiring": True},
                {"eml.category": True},
            ),
        }
        for _ in range(choices.number(7))
    ]
    return {"type": "record", "name": choices.one("R", "S", "T", "n.s.R", choices.text()), "fields": fields}


def _type(choices: Choices, level: int) -> Any:
    if not choices or level > 12:
        return "double"
    simple: list[Any] = ["double", "int", "long", "float", "boolean", "string", "bytes", "null", "R", "S", "E", "F"]
    made: Callable[[], Any] = choices.one(
        lambda: choices.one(*simple),
        lambda: choices.one(*simple),
        lambda: [_type(choices, level + 1) for _ in range(choices.number(4))],
        lambda: _record(choices, level),
        lambda: {"type": "array", "items": _type(choices, level + 1)},
        lambda: {"type": "map", "values": _type(choices, level + 1)},
        lambda: {"type": "enum", "name": "E", "symbols": choices.one(["a", "b"], ["a", "a"], [], [1], "ab")},
        lambda: {"type": "fixed", "name": "F", "size": choices.one(0, 4, 16, -1, 2**40, "4", 2.5, None)},
        lambda: {"type": choices.one(*simple), "logicalType": choices.one("timestamp-millis", "uuid", "decimal", 7)},
        lambda: choices.one(None, 7, {}, [], {"type": []}, choices.text()),
    )
    return made()


# -- one key through its models ----------------------------------------------------------------------------------------


def _pool() -> Mapping[int, list[bytes]]:
    """Honest values of each schema, for damage to begin with."""
    pool: dict[int, list[bytes]] = {}
    for version in (1, 2, 3):
        writer, machine = ReadingWriter(version, version), Machine(version, labelled=0.7)
        readings = machine.readings(VERSIONS[version - 1], 40)
        pool[version] = [writer.write("k", f"e{n}", n, reading) for n, reading in enumerate(readings)]
    numbers = {f"n{n}": None if n == 4 else n / 2 for n in range(9)} | {f"w{n}": 2 ** (7 * n) for n in range(9)}
    more = {"inner": {"x": 1.5, "t": "t"}, "list": [None, 3], "map": {"k": {"x": 1.0, "t": ""}}, "yes": True}
    symbols = {f"s{n}": ENUM["symbols"][n % 3] for n in range(9)} | {"mode": None, "zone": "north", "code": -7}
    pool[4] = [
        written(4, TEXTS[4], {**numbers, **more, **symbols, "i0": n, "i1": None, "i2": -n, "label": label})
        for n, label in enumerate([None, "fine", "worn", "dead", "fine", "worn"])
    ]
    for schema_id, names in ((5, "abc"), (6, "dbc")):
        for n in range(24):
            values = {name: float(n % 3 + k) for k, name in enumerate(names)}
            fields = {"event_id": f"e{n}", "event_time": n, "label": (None, "x", "y")[n % 3], **values}
            pool.setdefault(schema_id, []).append(written(schema_id, TEXTS[schema_id], fields))
    pool[7] = [frame(7, b"\x04no")]
    said = ({"key": "k", "event_id": f"e{n}", "label": "xyz"[n % 3], "event_time": None} for n in range(30))
    pool[LABEL] = [written(LABEL, TEXTS[LABEL], each) for each in said]
    return pool


POOL = _pool()
SPECIAL = b"\0\0\0\0\0\0\xf8\x7f", b"\xff\xff\xff\xff\xff\xff\xef\x7f", b"\0" * 8, b"\x01", b"\xff" * 10


def _damaged(choices: Choices, value: bytes) -> bytes:
    """A value as it is, or with something changed."""
    at = choices.number(max(1, len(value)))
    match choices.number(12):
        case 0:
            return value[:at]
        case 1:
            return value + choices.bytes(choices.number(8))
        case 2:
            return value[:at] + choices.bytes(1) + value[at + 1 :]
        case 3:
            special: bytes = choices.one(*SPECIAL)
            return value[:at] + special + value[at + len(special) :]
        case 4:
            return choices.bytes(choices.number(80))
        case _:
            return value


def _raw(choices: Choices, offset: int) -> Raw:
    schema_id = choices.one(1, 2, 3, 4, 5, 6, 5, 5, 1, 1, LABEL, 7)
    value: bytes | None = _damaged(choices, choices.one(*POOL[schema_id]))
    topic = "labels" if (schema_id == LABEL) == bool(choices.number(16)) else "readings"
    match choices.number(24):
        case 0:
            value = None
        case 1:
            value = frame(choices.one(AWAY, 0, 10**6), b"x")
        case _:
            pass
    timestamp_ms = choices.one(1_000 * offset, 1_000 * offset, 0, -1, 2**42, -(2**63), 2**63 - 1)
    headers = choices.one({}, {}, {"name": b"\xff"}, {"": b""}, {"eml.errors.reason": b"forged"})
    return Raw(value, Position(topic, 0, offset, timestamp_ms), headers)


def look_up(schema_id: int, *_: object) -> ReadingSchema:
    """The schemas of the pool; one cannot be had."""
    if schema_id == AWAY:
        raise RegistryUnavailableError("the registry does not answer", 100)
    if schema_id not in SCHEMAS:
        raise BadSchemaError("unknown-schema", f"no schema {schema_id}")
    return SCHEMAS[schema_id]


def step(data: bytes) -> None:
    """Any records of a key: each has one fate, results can be written, and reloaded models have the same future."""
    choices = Choices(data)
    key = choices.one("k", "", "\x00", "grün", choices.text())
    raws: list[Raw] = []
    while choices and len(raws) < 60:
        repeat = 1 + choices.number(3) * choices.number(6)
        raws += [_raw(choices, len(raws) + n) for n in range(repeat)]
    raws = [replace(raw, position=replace(raw.position, offset=n)) for n, raw in enumerate(raws)]
    cut = choices.number(len(raws) + 1)
    model = KeyModel(key, SETTINGS)
    for part in (raws[:cut], raws[cut:]):
        results = model.step(part, look_up)
        _check_results(key, part, results)
        parts = state_codec.take_changes(model, everything=True)
        loaded = state_codec.load(key, SETTINGS, _kept(parts))
        assert _kept(state_codec.take_changes(loaded, everything=True)) == _kept(parts)
        _same_future(loaded, model, key)
        model = loaded


def _kept(changes: state_codec.StateUpdate) -> state_codec.StateParts:
    labels = [changes.all_labels] if changes.all_labels is not None else changes.labels
    return state_codec.StateParts(changes.model, changes.window, changes.others, labels)


def _same_future(one: KeyModel, other: KeyModel, key: str) -> None:
    """Both say the same of a reading without a label, which changes no model of theirs but the label join."""
    value = POOL[5][0]
    raws = [Raw(value, Position("readings", 0, 10**6, 61_000), {})]
    copies = [
        state_codec.load(KeyName(key), SETTINGS, _kept(state_codec.take_changes(each, everything=True)))
        for each in (one, other)
    ]
    said = [repr(list(copy.step(raws, look_up).predictions)) for copy in copies]
    assert said[0] == said[1]


def _check_results(key: str, raws: list[Raw], results: Results) -> None:
    ends = Counter(scored.position.offset for scored in results.predictions)
    ends.update(letter.raw.position.offset for letter in results.dead_letters)
    ends.update(raw.position.offset for raw in results.waiting)
    assert not ends or max(ends.values()) == 1
    silent = {raw.position.offset for raw in raws if raw.value is None or raw.position.topic == "labels"}
    assert {raw.position.offset for raw in raws} - silent <= ends.keys() <= {raw.position.offset for raw in raws}
    assert {letter.reason for letter in results.dead_letters} <= REASONS
    for scored in results.predictions:
        fields = read_prediction(ENCODER.prediction(KeyName(key), scored))
        assert (fields["label"], fields["source_offset"]) == (scored.label, scored.position.offset)
    for score in results.scores:
        fields = read_score(ENCODER.score(KeyName(key), score))
        assert (fields["truth"], fields["source_offset"]) == (score.truth, score.position.offset)
    for evolved in results.evolutions:
        read_evolution(ENCODER.evolution(KeyName(key), evolved))
    for letter in results.dead_letters:
        written = dead_letters.encode(key.encode(errors="replace"), letter, SETTINGS.limits)
        assert headers_size(written.headers) + len(written.value or b"") <= SETTINGS.limits.dead_letter_bytes
    if results.waiting:
        assert waiting_records.load(waiting_records.dump(results.waiting)) == results.waiting


TARGETS: dict[str, Callable[[bytes], None]] = {"wire": wire, "decode": decode, "schema": schema, "step": step}

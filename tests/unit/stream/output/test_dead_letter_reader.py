"""A dead letter says the same when it is read as when it was written; what makes no sense is left out."""

from eml.settings import LimitsSettings
from eml.stream.output.dead_letter_reader import ReadDeadLetter, own_headers, read
from eml.stream.output.dead_letters import DeadLetter, encode
from eml.stream.records import REPLAYS, Raw
from eml.stream.wire import SchemaId
from tests.unit.stream.output.examples import POSITION


def test_what_is_written_is_read():
    raw = Raw(b"x" * 600_000, POSITION, {"trace": b"1", REPLAYS: b"4"})
    letter = DeadLetter(raw, "too-large", "BadRecordError", "the value is grün", SchemaId(7), of_key=True)
    headers = encode(b"pump", letter, LimitsSettings()).headers
    found = read(headers)
    assert found == ReadDeadLetter(
        reason="too-large",
        error="BadRecordError",
        message="the value is grün",
        topic=POSITION.topic,
        partition=POSITION.partition,
        offset=POSITION.offset,
        timestamp_ms=POSITION.timestamp_ms,
        schema_id=7,
        of_key=True,
        shortened=("value",),
        replays=4,
    )
    assert found.source == f"{POSITION.topic}/{POSITION.partition}/{POSITION.offset}"
    assert own_headers(headers) == {"trace": b"1", REPLAYS: b"4"}


def test_headers_that_are_missing_or_make_no_sense_are_left_out():
    found = read({"__connect.errors.offset": b"-1", "eml.errors.schema.id": b"9" * 5_000, "eml.errors.reason": None})
    assert (found.reason, found.offset, found.schema_id, found.replays) == ("unknown", None, None, 0)
    assert found.source == "?/?/?"
    assert read({"eml.errors.reason": b"\xff"}).reason == "\ufffd"

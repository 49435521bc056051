"""Dead letters of a running job: listed, shown, sent again once their cause is mended, and predicted then."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from eml import cli
from eml.local.fleet import VERSIONS, Machine
from eml.local.messages import ReadingWriter
from eml.local.stack import Stack
from eml.stream.records import REPLAYS
from eml.stream.wire import HEADER_SIZE, VALUE_SCHEMA
from tests.integration.harness import BEGIN_MS, Job, Message, Topics, readings_of, receive, register_versions, send

pytestmark = pytest.mark.slow

GOOD = 40
AFTER_MS = BEGIN_MS + 1000 * GOOD


def bad_ones(writer: ReadingWriter) -> list[Message]:
    """One whose value is not finite, one without a frame, one of a schema that nobody has registered yet."""
    (reading,) = Machine(5, 0.0).readings(VERSIONS[0], 1)
    framed = writer.write("pump-0", "unknown", AFTER_MS, reading)
    unframed = writer.write("pump-0", "unframed", AFTER_MS, reading)[HEADER_SIZE:]
    reading.values[0] = math.nan
    not_finite = writer.write("pump-0", "not-finite", AFTER_MS, reading)
    values = (not_finite, unframed, b"\0\x7f\xff\xff\xf0" + framed[HEADER_SIZE:])
    return [Message(b"pump-0", value, AFTER_MS + 1000 * n, (("trace", b"1"),)) for n, value in enumerate(values)]


def in_header(writer: ReadingWriter) -> Message:
    """A good one whose schema stands in a header, as newer clients of Confluent write it."""
    (reading,) = Machine(6, 0.0).readings(VERSIONS[0], 1)
    framed = writer.write("pump-0", "in-header", AFTER_MS, reading)
    return Message(b"pump-0", framed[HEADER_SIZE:], AFTER_MS + 5_000, ((VALUE_SCHEMA, framed[:HEADER_SIZE]),))


def test_dead_letters_are_listed_shown_sent_again_and_predicted(
    stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    topics = Topics.new(stack)
    writers = register_versions(stack, topics.readings)
    writer, schema_id = writers[0], writers[0].schema_id
    send(
        stack, topics.readings, [*readings_of("pump-0", writers, (GOOD, 0, 0), 0), *bad_ones(writer), in_header(writer)]
    )
    with Job(stack, topics, tmp_path).start() as job:
        receive(job, topics.dead_letters, 3)

        def eml(*words: str, status: int = 0) -> str:
            found = cli.main([*words, "--settings", str(tmp_path / "eml.toml")])
            out, err = capsys.readouterr()
            assert found == status, out + err
            return out

        listed = json.loads(eml("dead-letters", "list", "--json"))
        assert listed["reasons"] == {"not-finite": 1, "not-framed": 1, "unknown-schema": 1}
        assert {letter["key"] for letter in listed["dead_letters"]} == {"pump-0"}
        place = {letter["reason"]: letter["place"] for letter in listed["dead_letters"]}
        assert "not-finite" in eml("tail", "dead-letters", "-n", "3", "--key", "pump-0")

        shown = json.loads(eml("dead-letters", "show", place["not-finite"], "--json"))
        assert shown["record"]["problem"] == ""
        names = [field["name"] for field in shown["record"]["fields"]]
        assert VERSIONS[0].names[0] in names
        assert "trace = 1" in eml("dead-letters", "show", f"{topics.readings}/{shown['partition']}/{shown['offset']}")

        assert "would be a dead letter again" in eml("dead-letters", "replay", "--key", "pump-0", "--yes", status=1)
        mended = ["--field", f"{VERSIONS[0].names[0]}=20.5"]
        assert "a dry run" in eml("dead-letters", "replay", place["not-finite"], *mended, "--dry-run")
        assert "1 sent" in eml("dead-letters", "replay", place["not-finite"], *mended, "--yes")
        by_id = ["--reason", "not-framed", "--reason", "unknown-schema", "--with-schema", str(schema_id)]
        assert json.loads(eml("dead-letters", "replay", *by_id, "--yes", "--json"))["sent"] == 2

        receive(job, topics.predictions, GOOD + 4)
        predicted = [json.loads(line) for line in eml("tail", "predictions", "--json", "-n", "500").splitlines()]
        assert len(predicted) == GOOD + 4
        assert {one["event_id"] for one in predicted} >= {"not-finite", "unframed", "unknown", "in-header"}
        again = [record for record in receive(job, topics.readings, GOOD + 7) if REPLAYS in dict(record.headers)]
        assert [dict(record.headers) for record in again] == 3 * [{"trace": b"1", REPLAYS: b"1"}]
        assert json.loads(eml("dead-letters", "list", "--json"))["reasons"] == listed["reasons"], "none died again"


def test_a_topic_that_is_not_there_is_reported_with_what_to_do(stack: Stack, tmp_path: Path, capsys: Any):
    (tmp_path / "eml.toml").write_text(Job(stack, Topics.named("never-made-"), tmp_path).toml())  # type: ignore[arg-type]
    for words in (["tail", "predictions"], ["dead-letters", "list"], ["dead-letters", "show", "0/1"]):
        assert cli.main([*words, "--settings", str(tmp_path / "eml.toml")]) == 1
        said = capsys.readouterr().err
        assert "does not exist" in said or "Unknown topic" in said
        assert "eml topics create" in said

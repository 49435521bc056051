"""Records from a real broker and a real registry into a file, and through the logic of the job again; no Flink."""

import json
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from eml import cli
from eml.local import record_file
from eml.local.record_lines import Registered
from eml.local.stack import Stack
from tests.integration.harness import BEGIN_MS, Job, Message, Topics, expected, readings_of, register_versions, send

pytestmark = pytest.mark.slow

PER_KEY = (60, 50, 0)  # records under each version; all keys are upgraded at the same moment
BAD = Message(b"pump-0", b"hello", BEGIN_MS, (("trace", b"1"),))
NO_KEY = Message(None, b"hello", BEGIN_MS)


def test_what_is_captured_replays_as_the_learner_alone_says(
    stack: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    topics = Topics.new(stack)
    writers = register_versions(stack, topics.readings)
    messages = {
        key: readings_of(key, writers, PER_KEY, seed) for seed, key in enumerate(("pump-0", "pump-1", "pump-2"))
    }
    send(stack, topics.readings, [BAD, NO_KEY, *chain.from_iterable(zip(*messages.values(), strict=True))])
    settings, file = tmp_path / "eml.toml", tmp_path / "records.jsonl"
    settings.write_text(Job(stack, topics, tmp_path).toml())

    assert cli.main(["capture", str(file), "--settings", str(settings)]) == 0
    out, err = capsys.readouterr()
    assert "331 records of 3 keys, 2 schemas" in out
    assert "Left out: 1 records" in err
    schemas = [entry for entry in record_file.read(file, topics.readings) if isinstance(entry, Registered)]
    assert [(schema.subject, schema.version) for schema in schemas] == [
        (f"{topics.readings}-value", 1 + n) for n in (0, 1)
    ]

    said = _replayed(file, settings, capsys)
    (dead,) = said["dead_letter"]
    assert (dead["key"], dead["reason"], dead["headers"]) == ("pump-0", "not-framed", {"trace": "MQ=="})
    for key, sent in messages.items():
        told = [(each["label"], each["scores"], each["margin"]) for each in said["prediction"] if each["key"] == key]
        assert told == expected(sent), key
    switches = [event for event in said["evolution"] if event["kind"] == "evolution"]
    assert sorted(event["key"] for event in switches) == sorted(messages)


def test_a_key_and_a_number_of_records_can_be_chosen(stack: Stack, tmp_path: Path):
    topics = Topics.new(stack)
    writers = register_versions(stack, topics.readings)
    pumps = [readings_of(key, writers, (20, 0, 0), 0) for key in ("pump-0", "pump-1")]
    send(stack, topics.readings, chain(*pumps))
    settings, file = tmp_path / "eml.toml", tmp_path / "records.jsonl"
    settings.write_text(Job(stack, topics, tmp_path).toml())
    command = ["capture", str(file), "--settings", str(settings), "--key", "pump-1", "--records", "7"]
    assert cli.main(command) == 0
    records = [entry for entry in record_file.read(file, topics.readings) if not isinstance(entry, Registered)]
    assert [record.raw.value for record in records] == [message.value for message in pumps[1][:7]]


def test_what_was_aborted_is_neither_there_nor_waited_for(stack: Stack, tmp_path: Path):
    topics = Topics.new(stack, partitions=1)
    messages = readings_of("pump-0", register_versions(stack, topics.readings), (20, 0, 0), 0)
    send(stack, topics.readings, messages[:10])
    producer = Producer({"bootstrap.servers": stack.bootstrap_servers, "transactional.id": topics.readings})
    producer.init_transactions()
    producer.begin_transaction()
    for message in messages[10:]:
        producer.produce(topics.readings, message.value, message.key, timestamp=message.timestamp_ms)
    producer.flush()
    producer.abort_transaction()
    settings, file = tmp_path / "eml.toml", tmp_path / "records.jsonl"
    settings.write_text(Job(stack, topics, tmp_path).toml())
    assert cli.main(["capture", str(file), "--settings", str(settings)]) == 0
    records = [entry for entry in record_file.read(file, topics.readings) if not isinstance(entry, Registered)]
    assert [record.raw.value for record in records] == [message.value for message in messages[:10]]


def _replayed(file: Path, settings: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict[str, Any]]]:
    """What the replay says, by kind."""
    assert cli.main(["replay", str(file), "--settings", str(settings), "--cut", "16"]) == 0
    said = defaultdict(list)
    for line in capsys.readouterr().out.splitlines():
        for kind, fields in json.loads(line).items():
            said[kind].append(fields)
    return said

"""The live page's reader beside a real broker and registry: topics that come late, and a broker that restarts."""

import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from eml.cli import main
from eml.local import record_file
from eml.local.record_lines import Arrived
from eml.local.stack import Stack
from eml.settings import describe
from eml.watch.session import Session
from eml.watch.views import Summary
from tests.watched import SyntheticFleet
from tests.watched_topics import Writer

TIMEOUT_S = 60.0

pytestmark = pytest.mark.slow


def wait_for(session: Session, true: Callable[[Summary], bool]) -> Summary:
    end = time.monotonic() + TIMEOUT_S
    while not true(summary := session.fleet.summary()):
        assert time.monotonic() < end, summary
        time.sleep(0.1)
    return summary


def test_it_reads_what_the_job_writes_through_late_topics_and_a_restart(stack: Stack):
    writer = Writer.of(stack.bootstrap_servers, stack.registry_url)
    begin_ms = int(time.time() * 1000) - 60_000
    records = list(SyntheticFleet(20, 4_000, begin_ms, per_s=100.0, dead=0.01).said())
    first, then = records[: len(records) // 2], records[len(records) // 2 :]
    predictions, dead = (sum(each.topic == name for each in records) for name in ("predictions", "dead-letters"))
    with Session(writer.settings) as session:
        problem = wait_for(session, lambda summary: bool(summary.problem)).problem
        assert "predictions" in problem
        assert "eml topics create" in problem
        writer.create("readings", "predictions", "evolutions", "dead-letters")
        wait_for(session, lambda summary: not summary.problem)
        writer.create("scores")
        writer.write(first)
        counted = sum(each.topic == "predictions" for each in first)
        wait_for(session, lambda summary: summary.predictions == counted)
        stack.broker.stop()
        stack.broker.start()
        writer.write(then)
        scored = sum(each.topic == "scores" for each in records)

        def complete(summary: Summary) -> bool:
            return summary.predictions == predictions and summary.scored == scored and not summary.reading

        wait_for(session, complete)
        name = f"{writer.prefix}readings-value v2"
        summary = wait_for(session, lambda summary: list(summary.versions) == [name])
        assert summary.devices == summary.versions[name] == 20
        assert sum(summary.dead_letters.values()) == dead
        wait_for(session, lambda summary: summary.lag == 0)  # the readings topic is empty
        assert session.fleet.evolutions().total >= 1
        (matrix,) = session.fleet.features()
        assert dict(zip(matrix.features, matrix.cells, strict=True))["rpm"] == ["survived", "renamed"]
        device = session.fleet.device("pump-00003")
        assert device is not None
        assert device.predictions[0].version == name
        letter = session.fleet.dead_letter(1)
        assert letter is not None
        assert letter.length == 13
        again = summary
    with Session(writer.settings) as session:  # opened late, it reads back
        assert session.wait_until_read(TIMEOUT_S)
        summary = wait_for(session, lambda summary: list(summary.versions) == [name])
        assert (summary.predictions, summary.scored, summary.regret) == (predictions, scored, again.regret)
        assert session.fleet.rollout().devices[name][-1] == 20
    with Session(writer.settings, since_ms=begin_ms + 30_000) as session:  # or only as far as it is told to
        assert session.wait_until_read(TIMEOUT_S)
        late = sum(each.topic == "predictions" and each.time_ms + 40 >= begin_ms + 30_000 for each in records)
        assert session.fleet.summary().predictions == late
    writer.remove(*writer.topics)


def test_the_lines_for_a_device_have_exactly_its_records(stack: Stack, tmp_path: Path, monkeypatch, capsys):
    writer = Writer.of(stack.bootstrap_servers, stack.registry_url)
    writer.create(*writer.topics)
    records = list(SyntheticFleet(4, 1_000, int(time.time() * 1000) - 60_000, per_s=100.0, dead=0.0).said())
    for each in records:
        if each.topic == "predictions":
            writer.put_reading(each)
    writer.write(records)
    monkeypatch.chdir(tmp_path)
    Path("eml.toml").write_text(describe(writer.settings), encoding="utf-8")
    with Session(writer.settings, options="--settings=eml.toml") as session:
        assert session.wait_until_read(TIMEOUT_S)
        device = session.fleet.device("pump-00002")
    assert device is not None
    shown = [row.time_ms for row in device.predictions]
    first, last = device.dips[0][:2] if device.dips else (min(shown), max(shown))
    mine = {each.time_ms for each in records if each.topic == "predictions" and each.key == "pump-00002"}
    capture, replay = (shlex.split(command) for command in device.commands)
    assert main(capture[1:]) == 0
    entries = record_file.read(Path(capture[2]), writer.settings.kafka.readings_topic)
    taken = [entry.raw.position.timestamp_ms for entry in entries if isinstance(entry, Arrived)]
    assert taken == sorted(time_ms for time_ms in mine if first <= time_ms <= last)
    assert {entry.key for entry in entries if isinstance(entry, Arrived)} == {"pump-00002"}
    assert main(replay[1:]) == 0
    assert capsys.readouterr().out.count('{"prediction"') == len(taken)
    writer.remove(*writer.topics)

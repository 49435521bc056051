"""The live page's reader beside a real broker and registry: topics that come late, and a broker that restarts."""

import time
from collections.abc import Callable

import pytest

from eml.local.stack import Stack
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
        assert summary.lag == 0, "the readings topic is empty"
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

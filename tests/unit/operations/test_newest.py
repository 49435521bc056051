"""The newest records of a topic: found from its end, however few of its offsets hold one that is wanted."""

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from eml.operations import newest as module
from eml.operations.newest import every, newest, one
from eml.stream.records import Raw

TOPIC = "predictions"


class Log:
    """A consumer of partitions that hold these offsets; others hold ends of transactions."""

    def __init__(self, held: Mapping[int, list[int]], ends: Mapping[int, int], committed: int = 10**9) -> None:
        self._held, self._ends, self._committed = held, ends, committed
        self.seen = 0

    def spans(self, topics: Sequence[str]) -> dict[tuple[str, int], tuple[int, int]]:
        return {(topic, partition): (0, end) for topic in topics for partition, end in self._ends.items()}

    def read(self, spans: Mapping[tuple[str, int], tuple[int, int]], take: Callable[[Any], bool]) -> None:
        for (topic, partition), (begin, end) in spans.items():
            for offset in self._held[partition]:
                if begin <= offset < min(end, self._committed):
                    self.seen += 1
                    if take(message(topic, partition, offset)):
                        break


def message(topic: str, partition: int, offset: int) -> Any:
    said = {
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "timestamp": (1, 1_000 * offset + partition),
        "key": b"pump" if offset % 2 else b"press",
        "value": b"",
        "headers": None,
    }
    return SimpleNamespace(**{name: (lambda value=value: value) for name, value in said.items()})


def place(raw: Raw) -> tuple[int, int]:
    return raw.position.partition, raw.position.offset


@pytest.fixture
def log() -> Log:
    return Log({0: list(range(0, 1_000, 2)), 1: list(range(1, 1_000, 2))}, {0: 1_000, 1: 1_001})


def test_the_last_ones_of_all_partitions_come_in_the_order_of_time(log):
    last = newest(log, TOPIC, 3, place)
    assert last.found == [(1, 997), (0, 998), (1, 999)]
    assert log.seen < 500, "only the end was read"


def test_what_is_wanted_is_found_however_far_back_it_is(log):
    last = newest(log, TOPIC, 2, lambda raw: place(raw) if raw.position.offset < 3 else None)
    assert last.found == [(1, 1), (0, 2)]
    assert log.seen == 1_000, "and nothing was read twice"


def test_fewer_than_are_asked_for_are_all(log):
    assert len(newest(log, TOPIC, 5_000, place).found) == 1_000
    assert newest(Log({0: []}, {0: 0}), TOPIC, 5, place).found == []


def test_a_reader_goes_on_behind_the_last_record(log):
    assert newest(log, TOPIC, 3, place).offsets == {(TOPIC, 0): 999, (TOPIC, 1): 1_000}


def test_what_is_not_committed_yet_is_read_when_it_is(monkeypatch):
    monkeypatch.setattr(module, "FIRST_WINDOW", 10)
    log = Log({0: [980, 985, 995]}, {0: 1_000}, committed=990)
    assert newest(log, TOPIC, 2, place).offsets[TOPIC, 0] <= 995


def test_one_record_is_found_by_its_place_and_not_another_in_its_stead(log):
    found = one(log, TOPIC, 0, 4)
    assert found is not None
    assert place(found) == (0, 4)
    assert one(log, TOPIC, 0, 5) is None, "an end of a transaction"
    assert one(log, TOPIC, 0, 10_000) is None
    assert one(log, TOPIC, 7, 0) is None


def test_every_record_is_handed_over(log):
    found: list[Raw] = []
    every(log, TOPIC, found.append)
    assert len(found) == 1_000

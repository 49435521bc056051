"""What the demonstration's fleet sends, and when; no broker."""

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from eml.local import sender
from eml.local.errors import LocalError
from eml.local.sender import EARLY, Sender, plan


def test_the_plan_has_all_machines_send_all_the_time_and_upgrades_one_after_another():
    planned = plan(3, 100, 0)
    keys = ("machine-1", "machine-2", "machine-3")
    assert Counter(each.key for each in planned) == dict.fromkeys(keys, 300)
    assert len({each.event_id for each in planned}) == len(planned)
    assert [each.due_s for each in planned] == sorted(each.due_s for each in planned)
    for version in (2, 3):
        switches = [next(p.due_s for p in planned if (p.key, p.version) == (key, version)) for key in keys]
        assert switches == sorted(set(switches))
    for key in keys:
        versions = [each.version for each in planned if each.key == key]
        assert versions == sorted(versions)
    assert np.mean([each.early for each in planned]) == pytest.approx(EARLY, abs=0.01)


@pytest.mark.parametrize(("machines", "records"), [(1, 1), (7, 1), (5, 3)])
def test_the_smallest_plans_have_early_records_of_every_version(machines, records):
    assert {each.version for each in plan(machines, records, 0) if each.early} == {1, 2, 3}


class FakeProducer:
    """Delivers at the next poll, or tells the error."""

    error: object = None

    def __init__(self, _settings: object) -> None:
        self.waiting: list[Callable[[object, object], None]] = []

    def produce(self, *_record: object, timestamp: int, on_delivery: Callable[[object, object], None]) -> None:
        assert timestamp > 0
        self.waiting.append(on_delivery)

    def poll(self, _timeout_s: float) -> None:
        for tell in self.waiting:
            tell(self.error, None)


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> type[FakeProducer]:
    monkeypatch.setattr(sender, "Producer", FakeProducer)
    return FakeProducer


@pytest.mark.usefixtures("producer")
def test_a_version_is_registered_right_before_its_first_record():
    planned = plan(1, 10, 0)
    registered: list[int] = []

    def register(version: int) -> int:
        registered.append(version)
        return 100 + version

    sending = Sender("", "readings", planned, register)
    for number, each in enumerate(planned, start=1):
        (record,) = sending.send_due(each.due_s)
        assert record.planned == each
        assert int.from_bytes(record.value[1:5]) == 100 + each.version
        assert registered == list(range(1, each.version + 1))
        assert sending.done == (number == len(planned))


def test_a_record_that_cannot_be_delivered_is_an_error(producer, monkeypatch):
    monkeypatch.setattr(producer, "error", SimpleNamespace(str=lambda: "timed out"))
    sending = Sender("", "readings", plan(1, 10, 0), int)
    sending.send_due(0.0)
    with pytest.raises(LocalError, match="timed out"):
        sending.send_due(0.0)

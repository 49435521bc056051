"""Hostile records while the registry is away or behind, with a short waiting list: others flow on, nothing is lost."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from eml.local.stack import Stack
from tests.hostile.cases import by_turns
from tests.hostile.expected import PREDICTION
from tests.hostile.fleet import Run
from tests.hostile.site import Hostile, hostile, reading_fields, record_schema
from tests.integration.harness import Message
from tests.unit.stream.registry.registry_server import NOT_FOUND, RegistryServer, Reply

pytestmark = pytest.mark.slow

WAITING = 50  # limits.waiting_records
OUTAGE_S = 6.0
BEHIND_S = 2.0
WAIT_S = 120.0
FIRST_ID = 40  # of the good keys' schemas
COUNTS = (40, 20, 25)  # good readings of a key under each version: both newer ones together fit into the waiting list


def _outage(run: Run) -> list[Hostile]:
    """Records of a new schema while nobody can be asked for it: too many, and with odd headers."""
    schema_id = run.site.schema(record_schema(reading_fields(), "Away"))
    value = run.site.value(schema_id)
    many = hostile("waiting-list-full", *[value] * (4 * WAITING))
    odd: list[tuple[str, bytes | None]] = [("nothing", None), ("same", b"first"), ("same", b"second"), ("", b"\xff")]
    return [*many, *hostile("headers-while-waiting", *[value] * 5, headers=odd)]


def _behind(run: Run) -> None:
    """Version 3 is not known to the registry in the first seconds in which it is asked for."""
    until: list[float] = []

    def not_yet(handler: Any) -> Reply | None:
        if f"/schemas/ids/{FIRST_ID + 3}" not in handler.path:
            return None
        until[:] = until or [time.monotonic() + BEHIND_S]
        return NOT_FOUND if time.monotonic() < until[0] else None

    run.server.trouble = not_yet


def _part(run: Run, start: int, stop: int) -> list[Message]:
    return list(by_turns([messages[start:stop] for messages in run.good.values()]))


@pytest.fixture(scope="module")
def run(stack: Stack, server: RegistryServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    settings: dict[str, dict[str, object]] = {"limits": {"waiting_records": WAITING}}
    folder = tmp_path_factory.mktemp("outage")
    run = Run(stack, server, folder, 6, COUNTS, FIRST_ID, settings, with_labels=False)
    with run.job:
        run.start()
        run.send(*_part(run, 0, 30))
        run.wait(WAIT_S)
        server.trouble = lambda _: (503, {"message": "away"})
        try:
            run.send(*_part(run, 30, 40), *_outage(run), *_part(run, 40, 50), per_second=200)
            known = 6 * 40
            run.wait(WAIT_S, lambda results: len(results.said) >= known)
            time.sleep(OUTAGE_S)
            _behind(run)
            run.send(*_part(run, 50, sum(COUNTS)))
            run.wait(WAIT_S)
        except AssertionError as error:
            run.stopped = str(error)
        finally:
            server.trouble = lambda _: None
        print(run.summary())
        yield run


def test_good_keys_are_complete_and_bit_equal_through_an_outage_and_a_registry_that_is_behind(run: Run):
    assert run.stopped == ""
    said, wanted = run.said(), run.wanted()
    assert {key: len(each) for key, each in said.items()} == {key: len(each) for key, each in wanted.items()}
    assert said == wanted


def test_the_task_was_never_restarted(run: Run):
    assert (run.stopped, run.restarts, run.failures) == ("", 0, [])


@pytest.mark.parametrize("case", ["waiting-list-full", "headers-while-waiting"])
def test_each_record_ends_once_and_as_it_should(run: Run, case: str):
    for record, _, found in run.ends_of(case):
        assert len(found) == 1, f"{len(found)} ends: {found}"
        assert found[0] in record.ends, f"{found[0]} instead of {record.ends}"


def test_what_did_not_fit_into_the_waiting_list_says_so_and_the_rest_is_predicted_later(run: Run):
    ends = [found for _, _, found in run.ends_of("waiting-list-full")]
    assert ends.count([PREDICTION]) <= WAITING
    assert ends.count(["waiting-full"]) == len(ends) - ends.count([PREDICTION])

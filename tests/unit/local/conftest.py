"""What the tests of the demonstration's parts share."""

import pytest

from eml.local.controls import EML, Contestant, Controls, Labels
from eml.local.results import Result, results
from eml.local.scoreboard import Scoreboard
from eml.local.sender import Sent
from tests.unit.local.demo_records import SCHEMAS, all_sent, evolution, prediction


@pytest.fixture(scope="session")
def sent() -> list[Sent]:
    """All records of a small fleet."""
    return all_sent()


@pytest.fixture
def board(sent: list[Sent]) -> Scoreboard:
    """Every second prediction is right; all machines were upgraded twice."""
    board = Scoreboard()
    board.add_sent(sent)
    for number, record in enumerate(sent):
        board.add_prediction(prediction(record, record.planned.reading.state if number % 2 else "no state"))
    for key in board.devices:
        for old in (1, 2):
            board.add_evolution(evolution(key, old, sent[0].timestamp_ms + 3000 * old))
    return board


@pytest.fixture(scope="session")
def labels(sent: list[Sent]) -> dict[str, Labels]:
    """EML's over all records at once, the controls' as they are fed."""
    eml = Contestant(SCHEMAS.__getitem__)
    eml.feed(sent)
    with Controls(SCHEMAS.__getitem__) as controls:
        for start in range(0, len(sent), 70):
            controls.feed(sent[start : start + 70])
        return {EML: eml.labels, **controls.finish()}


@pytest.fixture(scope="session")
def outcome(sent: list[Sent], labels: dict[str, Labels]) -> list[Result]:
    return results(sent, labels)

"""What the observer makes of Kafka's records; no broker."""

from types import SimpleNamespace

import pytest

from eml.local import observer
from eml.local.errors import LocalError
from eml.local.scoreboard import Scoreboard
from eml.local.topics import Topics
from eml.settings import LimitsSettings, Settings
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.output.dead_letters import DeadLetter, encode
from eml.stream.output.encoder import Encoder, OutputIds
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId
from tests.unit.local.demo_records import RECORDS, SCHEMAS

TOPICS = Topics.named("")


class FakeMessage:
    """One record of Kafka, as its client gives it."""

    def __init__(
        self, topic: str, value: bytes, headers: list[tuple[str, bytes]] | None = None, error: object = None
    ) -> None:
        self._parts = topic, value, headers, error

    def topic(self) -> str:
        return self._parts[0]

    def value(self) -> bytes:
        return self._parts[1]

    def headers(self) -> list[tuple[str, bytes]] | None:
        return self._parts[2]

    def error(self) -> object:
        return self._parts[3]


def observe(monkeypatch: pytest.MonkeyPatch, board: Scoreboard, messages: list[FakeMessage]) -> int:
    consumer = SimpleNamespace(assign=lambda _: None, consume=lambda *_: messages)
    monkeypatch.setattr(observer, "Consumer", lambda _: consumer)
    return observer.Observer("", TOPICS).poll(board, 0.1)


def test_the_observer_reads_what_the_job_writes(monkeypatch, sent):
    key = "machine-1"
    until_upgraded = [record for record in sent if record.planned.key == key][: RECORDS + 1]
    raws = [Raw(record.value, Position("readings", 0, 0, record.timestamp_ms), {}) for record in until_upgraded]
    said, encoder = KeyModel(KeyName(key), Settings()).step(raws, SCHEMAS.__getitem__), Encoder(OutputIds(1, 2))
    letter = DeadLetter(raws[0], "truncated", "BadRecordError", "too short", SchemaId(1))
    board = Scoreboard()
    board.add_sent(until_upgraded)
    messages = [
        FakeMessage(TOPICS.predictions, encoder.prediction(KeyName(key), scored)) for scored in said.predictions
    ]
    messages += [
        FakeMessage(TOPICS.evolutions, encoder.evolution(KeyName(key), evolved)) for evolved in said.evolutions
    ]
    messages += [
        FakeMessage(
            TOPICS.dead_letters, b"", [(n, v or b"") for n, v in encode(b"", letter, LimitsSettings()).headers.items()]
        )
    ]
    assert observe(monkeypatch, board, messages) == len(messages)
    assert board.predictions == len(board.labels) == RECORDS + 1
    assert board.dead_letters == {"truncated": 1}
    (change,) = board.changes
    assert (change.old_version, change.new_version, change.augmented) == (1, 2, ("acoustic",))
    assert change.at_s == (until_upgraded[-1].timestamp_ms - until_upgraded[0].timestamp_ms) / 1000


@pytest.mark.parametrize("fatal", [True, False])
def test_only_a_fatal_error_ends_the_reading(monkeypatch, fatal):
    error = SimpleNamespace(fatal=lambda: fatal, str=lambda: "fenced")
    messages = [FakeMessage(TOPICS.predictions, b"", error=error)]
    if fatal:
        with pytest.raises(LocalError, match="fenced"):
            observe(monkeypatch, Scoreboard(), messages)
    else:
        observe(monkeypatch, Scoreboard(), messages)

"""The reader without a broker: what it tells of topics, brokers and records that are not as they should be."""

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException

from eml.settings import KafkaSettings
from eml.watch import outputs
from eml.watch.decoding import Decoder
from eml.watch.fleet_view import FleetView
from eml.watch.reader import Reader, Source
from tests.watched import BEGIN_MS, dead_letter_headers, evolution, framed, prediction, score

KAFKA = KafkaSettings(bootstrap_servers="127.0.0.1:9")
TOPICS = ("readings", "predictions", "scores", "evolutions", "dead-letters")
END = SimpleNamespace(code=lambda: KafkaError._PARTITION_EOF)
GONE = SimpleNamespace(code=lambda: KafkaError.UNKNOWN_TOPIC_OR_PART)
PASSING = SimpleNamespace(code=lambda: KafkaError._TRANSPORT, fatal=lambda: False, str=lambda: "no connection")


class Record:
    """A record of Kafka, or an error, as its client gives it."""

    def __init__(
        self,
        topic: str,
        value: bytes | None = None,
        offset: int = 0,
        key: bytes | None = b"pump-1",
        headers: dict[str, bytes] | None = None,
        error: object = None,
    ) -> None:
        self.topic, self.value, self.key = lambda: topic, lambda: value, lambda: key
        self.partition, self.offset = lambda: 0, lambda: offset
        self.timestamp = lambda: (1, BEGIN_MS + 40)
        self.headers = lambda: list((headers or {}).items())
        self.error = lambda: error


class Broker:
    """A consumer with topics of one partition each; `trouble` answers in their place."""

    def __init__(self, *topics: str) -> None:
        self.topics = set(topics)
        self.refused: set[str] = set()
        self.trouble: Exception | None = None
        self.coming: list[Record] = []
        self.assigned: dict[str, int] = {}
        self.ends = dict.fromkeys(TOPICS, (0, 0))

    def list_topics(self, topic: str, _timeout: float) -> Any:
        if self.trouble:
            raise self.trouble
        error = None if topic in self.topics else SimpleNamespace(code=lambda: KafkaError.UNKNOWN_TOPIC_OR_PART)
        if topic in self.refused:
            error = SimpleNamespace(code=lambda: KafkaError.TOPIC_AUTHORIZATION_FAILED)
        return SimpleNamespace(topics={topic: SimpleNamespace(error=error, partitions={0: None})})

    def incremental_assign(self, partitions: Any) -> None:
        self.assigned |= {each.topic: each.offset for each in partitions}

    def incremental_unassign(self, partitions: Any) -> None:
        for each in partitions:
            del self.assigned[each.topic]

    def offsets_for_times(self, partitions: Any, _timeout: float) -> Any:
        return [SimpleNamespace(topic=each.topic, partition=each.partition, offset=77) for each in partitions]

    def get_watermark_offsets(self, partition: Any, _timeout: float) -> tuple[int, int]:
        return self.ends[partition.topic]

    def consume(self, *_: object) -> list[Record]:
        come, self.coming = self.coming, []
        return come

    def poll(self, _timeout: float) -> None:
        """Nothing is in the background."""

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def reading(monkeypatch):
    """A reader of a broker, its view, and a step that looks at everything."""

    def make(broker: Broker, since_ms: int | None = None) -> tuple[Reader, FleetView]:
        monkeypatch.setattr(outputs, "Consumer", lambda _: broker)
        view = FleetView()
        source = Source(KAFKA, since_ms, Decoder(lambda _: None), lambda key: (key or b"").decode())
        return Reader(source, view), view

    return make


def step(reader: Reader) -> None:
    reader._looked = reader._measured = -1e9
    reader.step()


def test_topics_are_read_from_when_they_are_there(reading):
    broker = Broker("readings", "evolutions")
    reader, view = reading(broker)
    step(reader)
    assert broker.assigned == {"evolutions": OFFSET_BEGINNING}
    assert "The topics predictions, dead-letters do not exist" in view.summary().problem
    assert "`eml topics create`" in view.summary().problem
    assert "scores" not in view.summary().problem, "a job need not write it"
    broker.topics = set(TOPICS)
    step(reader)
    assert broker.assigned == dict.fromkeys(TOPICS[1:], OFFSET_BEGINNING)
    assert view.summary().problem == ""


def test_a_topic_that_is_removed_is_missing_and_read_again_when_it_is_back(reading):
    broker = Broker(*TOPICS)
    reader, view = reading(broker)
    step(reader)
    broker.topics.remove("predictions")
    broker.coming = [Record("predictions", error=GONE)]
    step(reader)
    step(reader)
    assert "predictions" not in broker.assigned
    assert "The topic predictions does not exist" in view.summary().problem
    broker.topics.add("predictions")
    step(reader)
    assert "predictions" in broker.assigned


def test_it_reads_back_to_a_time_but_all_evolutions(reading):
    broker = Broker(*TOPICS)
    reader, _ = reading(broker, BEGIN_MS)
    step(reader)
    evolutions = broker.assigned.pop("evolutions")
    assert evolutions == OFFSET_BEGINNING
    assert set(broker.assigned.values()) == {77}


def test_it_reads_back_until_each_partition_has_ended(reading):
    broker = Broker(*TOPICS)
    reader, view = reading(broker)
    broker.trouble = KafkaException(SimpleNamespace(str=lambda: "timed out"))
    step(reader)
    assert view.summary().reading, "it is not known what there is"
    broker.trouble = None
    step(reader)
    assert view.summary().reading
    broker.coming = [Record(topic, error=END) for topic in TOPICS[1:]]
    step(reader)
    assert not view.summary().reading


def test_the_lag_is_known_once_all_is_read(reading):
    broker = Broker(*TOPICS)
    reader, view = reading(broker)
    broker.ends["readings"] = (3, 9)
    broker.coming = [Record(topic, error=END) for topic in TOPICS[1:]]
    step(reader)
    assert view.summary().lag == 6
    broker.coming = [Record("predictions", framed("prediction", prediction(source_offset=7)))]
    step(reader)
    assert view.summary().lag == 1
    broker.topics.remove("readings")
    step(reader)
    assert view.summary().lag is None


def test_a_broker_that_goes_is_told_until_it_is_back(reading):
    broker = Broker(*TOPICS)
    reader, view = reading(broker)
    broker.trouble = KafkaException(SimpleNamespace(str=lambda: "timed out"))
    step(reader)
    assert "Kafka at 127.0.0.1:9 cannot be read (timed out)" in view.summary().problem
    assert "kafka.bootstrap_servers" in view.summary().problem
    broker.trouble = None
    broker.coming = [Record("predictions", error=PASSING)]
    step(reader)
    assert view.summary().problem == ""


def test_topics_that_may_not_be_read_are_reported(reading):
    broker = Broker(*TOPICS)
    broker.refused = {"predictions"}
    reader, view = reading(broker)
    step(reader)
    assert "may not read predictions: allow it to READ" in view.summary().problem


def test_every_record_is_counted_or_told(reading):
    reader, view = reading(Broker(*TOPICS))
    reader.take(
        [
            Record("predictions", framed("prediction", prediction())),
            Record("predictions", b"nonsense", offset=5),
            Record("predictions", None),
            Record("scores", framed("score", score())),
            Record("evolutions", framed("evolution", evolution())),
            Record("dead-letters", b"\0", offset=3, headers=dead_letter_headers()),
            Record("dead-letters", b"\0", key=None),
        ]
    )
    summary = view.summary()
    assert (summary.predictions, summary.scored, view.evolutions().total) == (1, 1, 1)
    assert summary.dead_letters == {"truncated": 1, "unknown": 1}
    assert "2 records of the job's topics cannot be read" in summary.problem
    letter = view.dead_letter(1)
    assert letter is not None
    assert letter.commands == ["eml dead-letters replay 0/3"]


def test_a_fault_of_the_page_is_reported_on_it(reading, monkeypatch):
    reader, view = reading(Broker(*TOPICS))
    monkeypatch.setattr(reader, "take", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        reader.run()
    assert "Reading has stopped (ZeroDivisionError" in view.summary().problem

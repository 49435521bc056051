"""Reading topics from their first record to their last, without a broker."""

from collections.abc import Iterable
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError

from eml.local import topic_reader
from eml.local.errors import CaptureError
from eml.local.record_lines import Arrived
from eml.local.topic_reader import TopicReader, Wanted, as_arrived, client_properties
from eml.settings import KafkaSettings
from eml.stream.records import Position, Raw
from tests.unit.local.kafka_fakes import KAFKA, VALUE, FakeConsumer, FakeMessage


@pytest.fixture
def reading(monkeypatch):
    """Reads from a fake consumer: offsets by partition, and the reader."""

    def read(
        consumer: FakeConsumer,
        keys: Iterable[str] = (),
        most: int | None = None,
        times: tuple[int | None, int | None] = (None, None),
        topic: str = "readings",
    ) -> tuple[list[list[int]], TopicReader]:
        monkeypatch.setattr(topic_reader, "Consumer", lambda _: consumer)
        with TopicReader(KAFKA) as reader:
            kept = reader.records([topic], Wanted(frozenset(keys), most, *times))
        return [[each.raw.position.offset for each in partition] for partition in kept], reader

    return read


END = SimpleNamespace(code=lambda: KafkaError._PARTITION_EOF)
PASSING = SimpleNamespace(code=lambda: KafkaError._TRANSPORT, fatal=lambda: False, str=lambda: "no connection")
FATAL = SimpleNamespace(code=lambda: KafkaError._FATAL, fatal=lambda: True, str=lambda: "fenced")


def test_it_reads_from_the_first_record_to_the_last_there_was(reading):
    messages = [FakeMessage(0, 5), FakeMessage(2, 0), FakeMessage(0, 6), FakeMessage(0, 7), FakeMessage(2, 1)]
    consumer = FakeConsumer({0: (5, 7), 1: (3, 3), 2: (0, 2)}, messages)
    assert reading(consumer)[0] == [[5, 6], [], [0, 1]]
    assert consumer.assigned == [(0, 5), (2, 0)], "an empty partition is not waited for"


def test_a_partition_may_end_with_what_is_no_record(reading):
    consumer = FakeConsumer({0: (0, 3)}, [FakeMessage(0, 0), FakeMessage(0, error=PASSING), FakeMessage(0, error=END)])
    assert reading(consumer)[0] == [[0]]


def test_what_comes_meanwhile_is_left(reading):
    assert reading(FakeConsumer({0: (0, 3)}, [FakeMessage(0, 0), FakeMessage(0, 9)]))[0] == [[0]]


def test_only_the_keys_that_are_asked_for_count_against_the_limit(reading):
    keys = [b"pump", b"press", b"pump", b"pump", b"pump"]
    messages = [FakeMessage(0, offset, key) for offset, key in enumerate(keys)]
    assert reading(FakeConsumer({0: (0, 5)}, messages), ["pump"], 2)[0] == [[0, 2]]


def test_only_the_time_that_is_asked_for_is_taken_with_both_its_ends(reading):
    for times, taken in (((102, 104), [2, 3, 4]), ((None, 101), [0, 1]), ((105, None), [5]), ((104, 103), [])):
        messages = [FakeMessage(0, offset) for offset in range(6)]  # at 100, 101, ...
        assert reading(FakeConsumer({0: (0, 6)}, messages), times=times)[0] == [taken]


def test_records_without_a_usable_key_are_counted(reading):
    messages = [FakeMessage(0, offset, key) for offset, key in enumerate([None, b"", b"\xff", b"pump"])]
    offsets, reader = reading(FakeConsumer({0: (0, 4)}, messages))
    assert offsets == [[3]]
    assert reader.unusable == 3


def test_an_error_that_stays_is_reported(reading):
    with pytest.raises(CaptureError, match="cannot be read: fenced"):
        reading(FakeConsumer({0: (0, 1)}, [FakeMessage(0, error=FATAL)]))
    with pytest.raises(CaptureError, match="'elsewhere' cannot be read: Unknown topic"):
        reading(FakeConsumer({}, []), topic="elsewhere")


@pytest.mark.parametrize(("messages", "why"), [([], "silent"), ([FakeMessage(0, error=PASSING)], "no connection")])
def test_silence_is_reported(reading, monkeypatch, messages, why):
    monkeypatch.setattr(topic_reader, "SILENCE_S", -1.0)
    consumer = FakeConsumer({0: (0, 1)}, [])
    monkeypatch.setattr(consumer, "consume", lambda *_: messages)
    with pytest.raises(CaptureError, match=why):
        reading(consumer)


def test_a_message_is_taken_whole():
    found = as_arrived(FakeMessage(3, 5))  # type: ignore[arg-type]
    place = Position("readings", 3, 5, 105)
    assert found == Arrived(0, "pump", Raw(VALUE, place, {"trace": b"1", "empty": None}))


def test_properties_that_only_java_knows_are_named():
    kafka = KafkaSettings(bootstrap_servers="127.0.0.1:9", properties={"sasl.jaas.config": "hunter2"})
    with pytest.raises(CaptureError) as told:
        TopicReader(kafka)
    assert "sasl.jaas.config" in str(told.value)
    assert "librdkafka" in str(told.value)
    assert "hunter2" not in str(told.value)


def test_properties_cannot_undo_what_makes_a_capture():
    assert client_properties(KAFKA)["isolation.level"] == "read_committed"
    assert client_properties(KAFKA)["enable.auto.commit"] is False


def test_a_broker_that_does_not_answer_is_reported(monkeypatch):
    monkeypatch.setattr(topic_reader, "ANSWER_S", 0.2)
    with TopicReader(KAFKA) as reader, pytest.raises(CaptureError, match=r"kafka\.bootstrap_servers"):
        reader.records(["readings"], Wanted())

"""Reads what the job writes, from a time in the past on, and tells `fleet_records` of it.

A thread of `session`; calls `outputs` for the messages and `decoding` for their fields. It goes on when topics
come later, when the broker or the job starts again and when a record cannot be read; the page says what is wrong.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, cast

from confluent_kafka import KafkaException, Message

from eml.local.listeners import mismatch
from eml.settings import KafkaSettings
from eml.watch.dead_letters import Arrived
from eml.watch.decoding import Decoder, UnreadableError
from eml.watch.fleet_records import FleetRecords
from eml.watch.outputs import Found, Outputs

LOOK_S = 5.0  # between two looks at which topics there are
ENDS_S = 2.0  # between two looks at where the readings end
AGAIN_S = 5.0  # after an error of the client
PART, RECORDS = "kafka", "records"  # of the problems
NameOf = Callable[[bytes | None], str]  # of a device, by the key of a dead letter; empty: of none


@dataclass(frozen=True, slots=True)
class Source:
    """Where and since when."""

    kafka: KafkaSettings
    since_ms: int | None  # None: from the beginning
    decoder: Decoder
    name_of: NameOf


class Reader(Thread):
    """One thread."""

    def __init__(self, source: Source, view: FleetRecords) -> None:
        super().__init__(name="eml-watch-kafka", daemon=True)
        self._source, self._view = source, view
        kafka = source.kafka
        self._names = {
            kafka.predictions_topic: "prediction",
            kafka.scores_topic: "score",
            kafka.evolutions_topic: "evolution",
            kafka.dead_letters_topic: "dead letter",
        }
        self._names.pop("", None)
        # Evolutions are few, and what survivors took over is worth knowing for long.
        whole = frozenset((kafka.evolutions_topic,))
        self._outputs = Outputs(kafka, tuple(self._names), source.since_ms, whole)
        self._ended = Event()
        self._unreadable = 0
        self._looked = self._measured = 0.0

    def run(self) -> None:
        """Read until it is stopped."""
        try:
            while not self._ended.is_set():
                try:
                    self.step()
                except KafkaException as error:
                    self._view.set_problem(PART, self._unreachable(error.args[0].str()))
                    self._ended.wait(AGAIN_S)
        except Exception as error:
            what = f"Reading has stopped ({type(error).__name__}: {error}), which should not be"
            self._view.set_problem(PART, f"{what}: start `eml watch` again, and report it.")
            raise
        finally:
            self._outputs.close()

    def stop(self) -> None:
        """End soon."""
        self._ended.set()

    def step(self) -> None:
        """Look which topics there are, if it is time, and take what has come."""
        now = time.monotonic()
        if now >= self._looked + LOOK_S:
            found = self._outputs.look()
            self._view.set_problem(PART, self._problem(found))
            self._looked = time.monotonic()
        self.take(self._outputs.poll())
        self._view.set_reading(reading=self._outputs.reading_back)
        if now >= self._measured + ENDS_S and not self._outputs.reading_back:
            ends = self._outputs.ends(self._source.kafka.readings_topic)
            self._view.set_ends(ends)
            taken = time.monotonic() - now
            self._measured = now + (10 if ends else 1) * taken  # of many partitions it takes long

    def take(self, messages: Iterable[Message]) -> None:
        """Tell the view of some records."""
        by_topic: dict[str, list[Message]] = {}
        for message in messages:
            by_topic.setdefault(cast("str", message.topic()), []).append(message)
        for topic, here in by_topic.items():
            match self._names[topic]:
                case "prediction":
                    self._view.add_predictions(
                        (fields, _written(message), message.value() or b"")
                        for fields, message in self._read(topic, here)
                    )
                case "score":
                    self._view.add_scores((fields, _written(message)) for fields, message in self._read(topic, here))
                case "evolution":
                    events = [(fields, _written(message)) for fields, message in self._read(topic, here)]
                    self._view.add_evolutions(events)
                case _:
                    self._view.add_dead_letters([self._arrived(message) for message in here])

    def _read(self, topic: str, messages: Sequence[Message]) -> list[tuple[Mapping[str, Any], Message]]:
        """Their fields; a record that cannot be read is counted and told."""
        name, found = self._names[topic], []
        for message in messages:
            try:
                found.append((self._source.decoder.read(name, message.value()), message))
            except UnreadableError as error:
                self._unreadable += 1
                place = f"{topic}/{message.partition()}/{message.offset()}"
                what = f"{self._unreadable} records of the job's topics cannot be read and are left out"
                self._view.set_problem(RECORDS, f"{what}; the last one: {place} ({error}). Who else writes there?")
        return found

    def _arrived(self, message: Message) -> Arrived:
        headers = dict(cast("list[tuple[str, bytes | None]]", message.headers() or []))
        place = f"{message.partition()}/{message.offset()}"
        return Arrived(self._source.name_of(message.key()), message.value(), headers, _written(message), place)

    def _problem(self, found: Found) -> str:
        if found.unreachable:
            return self._unreachable(found.unreachable)
        kafka, said = self._source.kafka, []
        missing = [topic for topic in found.missing if topic != kafka.scores_topic]  # a job need not write it
        if missing:
            what = f"The topic {missing[0]} does" if len(missing) == 1 else f"The topics {', '.join(missing)} do"
            advice = "make them with `eml topics create` and start the job, or correct their names in [kafka]"
            said.append(f"{what} not exist on {kafka.bootstrap_servers}: {advice}.")
        if found.refused:
            said.append(f"This user may not read {', '.join(found.refused)}: allow it to READ them (kafka-acls).")
        return " ".join(said)

    def _unreachable(self, why: str) -> str:
        kafka = self._source.kafka
        advice = "The page shows what was read before, and goes on by itself when Kafka answers"
        why = mismatch(kafka) or why
        return f"Kafka at {kafka.bootstrap_servers} cannot be read ({why}). {advice}: look at kafka.bootstrap_servers."


def _written(message: Message) -> int:
    return message.timestamp()[1]

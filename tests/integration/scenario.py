"""A fleet of one test through the real stack: its own subject and keys, in a job that all scenarios share.

What the job says is compared with the same records through `KeyModel` alone, one by one, with announcements and warm
starts at the records at which the job heard of them.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import requests
from kafka import KafkaConsumer

from eml.settings import RecordSettings, Settings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.models.warm_start import WarmStartModels
from eml.stream.output.encoder import Encoder, OutputIds, read_evolution, read_prediction, read_score
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId
from tests.integration.harness import BEGIN_MS, Job, Message, send
from tests.synthetic import Device, label_value, reading_schema

Fields = dict[str, object]
WAIT_S = 120.0
A_MOMENT_S = 10.0
ENCODER = Encoder(OutputIds(1, 2, 3))
PLACE = ("source_partition", "source_offset")  # what records that never were in Kafka have not


class Output:
    """What a job has written and committed so far, by key."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._consumer = KafkaConsumer(
            job.topics.predictions,
            job.topics.scores,
            job.topics.evolutions,
            job.topics.dead_letters,
            bootstrap_servers=job.stack.bootstrap_servers,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            enable_auto_commit=False,
        )
        self.predictions: dict[str, list[Fields]] = {}
        self.scores: dict[str, list[Fields]] = {}
        self.events: dict[str, list[Fields]] = {}
        self.dead: list[bytes] = []
        self._kinds = {
            job.topics.predictions: (read_prediction, self.predictions),
            job.topics.scores: (read_score, self.scores),
            job.topics.evolutions: (read_evolution, self.events),
        }

    def wait_for(self, done: Callable[[], bool], what: str) -> None:
        """Read until it is so."""
        end = time.monotonic() + WAIT_S
        while not done():
            assert time.monotonic() < end, f"{what} did not come in {WAIT_S:.0f} s; log:\n{self._job.log()[-4000:]}"
            assert self._job.alive(), self._job.log()[-4000:]
            self.read(500)

    def read(self, timeout_ms: int) -> None:
        """Take in what has come."""
        for part, records in self._consumer.poll(timeout_ms=timeout_ms).items():
            for record in records:
                if part.topic == self._job.topics.dead_letters:
                    self.dead.append(record.value)
                    continue
                read, kept = self._kinds[part.topic]
                fields = read(record.value)
                kept.setdefault(str(fields["key"]), []).append(fields)

    def close(self) -> None:
        self._consumer.close()


@dataclass
class Scenario:
    """One device of a subject of its own, or several."""

    name: str
    job: Job
    output: Output
    labels_topic: str
    settings: Settings  # as the job has them
    texts: dict[int, str] = field(default_factory=dict)  # by schema id
    schemas: dict[int, ReadingSchema] = field(default_factory=dict)
    names: dict[int, Sequence[str]] = field(default_factory=dict)
    sent: dict[str, list[Message]] = field(default_factory=dict)
    truth: dict[str, str] = field(default_factory=dict)
    _devices: dict[str, Device] = field(default_factory=dict)
    _label_schema: int = 0

    # -- the registry ----------------------------------------------------------------------------------------------

    def register(self, names: Sequence[str], **marks: Mapping[str, object]) -> int:
        """The next version of the subject; its schema id."""
        text = reading_schema(names, self._record, **marks)
        schema_id = self._post(self.subject, text)
        version = len(self.schemas) + 1
        self.texts[schema_id], self.names[schema_id] = text, names
        self.schemas[schema_id] = compile_schema(text, SchemaId(schema_id), self.subject, version, RecordSettings())
        return schema_id

    @property
    def subject(self) -> str:
        """By TopicRecordNameStrategy: the scenarios share a topic, and each has a record of its own."""
        return f"{self.job.topics.readings}-test.{self._record}"

    @property
    def _record(self) -> str:
        return self.name.replace("-", "_")

    def _post(self, subject: str, text: str) -> int:
        url = f"{self.job.stack.registry_url}/subjects/{subject}/versions"
        answer = requests.post(url, json={"schema": text}, timeout=10)
        answer.raise_for_status()
        return int(answer.json()["id"])

    # -- records ---------------------------------------------------------------------------------------------------

    def readings(
        self,
        schema_id: int,
        count: int,
        *,
        labelled: bool = True,
        state: str | None = None,
        device: str = "",
        classes: Sequence[str] = (),
    ) -> list[str]:
        """Send readings of one version; their event ids."""
        return self.mixture([schema_id] * count, labelled=labelled, state=state, device=device, classes=classes)

    def mixture(
        self,
        schema_ids: Iterable[int],
        *,
        labelled: bool = True,
        state: str | None = None,
        device: str = "",
        classes: Sequence[str] = (),
    ) -> list[str]:
        """Send a reading of each of these versions."""
        key = self.name + device
        source = self._devices.setdefault(key, Device(len(self._devices)))
        source.classes = classes or source.classes
        ids, messages = [], []
        for schema_id in schema_ids:
            value, event_id, truth = source.value(
                schema_id, self.texts[schema_id], self.names[schema_id], labelled=labelled, state=state
            )
            self.truth[event_id] = truth
            ids.append(event_id)
            messages.append(self._message(key, value))
        send(self.job.stack, self.job.topics.readings, messages)
        return ids

    def labels(self, ids: Sequence[str], said: str | None = None, device: str = "") -> None:
        """Send labels of readings, the true ones if not told otherwise."""
        text = schema_text("label")
        self._label_schema = self._label_schema or self._post(f"{self.labels_topic}-value", text)
        messages = [
            self._message(
                self.name + device,
                label_value(self._label_schema, text, event_id, said or self.truth[event_id], self.name + device),
                "label",
            )
            for event_id in ids
        ]
        send(self.job.stack, self.labels_topic, messages)

    def _message(self, key: str, value: bytes, kind: str = "reading") -> Message:
        sent = self.sent.setdefault(key, [])
        sent.append(Message(key.encode(), value, BEGIN_MS + 1000 * len(sent), (("kind", kind.encode()),)))
        return sent[-1]

    # -- results ---------------------------------------------------------------------------------------------------

    def wait(self, device: str = "") -> list[Fields]:
        """All predictions of a device, once there is one for every reading."""
        key = self.name + device
        wanted = sum(not _is_label(message) for message in self.sent[key])
        self.output.wait_for(lambda: len(self.output.predictions.get(key, ())) >= wanted, f"{wanted} of {key}")
        said = sorted(self.output.predictions[key], key=lambda one: cast("int", one["source_timestamp"]))
        assert len(said) == wanted, "one prediction for each reading"
        return said

    def wait_for_scores(self, ids: Sequence[str], device: str = "") -> None:
        """Until the scores of these readings have come."""
        key, wanted = self.name + device, set(ids)
        self.output.wait_for(
            lambda: wanted <= {one["event_id"] for one in self.output.scores.get(key, ())}, f"scores of {key}"
        )

    def wait_for_event(self, kind: str, count: int = 1, device: str = "") -> list[Fields]:
        """The events of a kind, once there are so many."""

        def found() -> list[Fields]:
            return [event for event in self.events(device) if event["kind"] == kind]

        self.output.wait_for(lambda: len(found()) >= count, f"{count} {kind}")
        return found()

    def events(self, device: str = "") -> list[Fields]:
        """The events so far."""
        return self.output.events.get(self.name + device, [])

    def event_kinds(self, wanted: int, device: str = "") -> list[object]:
        """What kinds of events came, without figures, once there are so many: topics are committed one by one."""

        def found() -> list[object]:
            return [event["kind"] for event in self.events(device) if event["kind"] != "recovery"]

        self.output.wait_for(lambda: len(found()) >= wanted, f"{wanted} events")
        return found()

    def accuracy(self, said: Iterable[Fields]) -> float:
        """Share of right predictions."""
        right = [one["label"] == self.truth[str(one["event_id"])] for one in said]
        return sum(right) / len(right)

    def alone(self, device: str = "") -> tuple[list[Fields], list[Fields]]:
        """The predictions and scores of `KeyModel` of the same records, one by one."""
        key, schemas = self.name + device, {**self.schemas}
        if self._label_schema:
            label = schema_text("label")
            schemas[self._label_schema] = compile_schema(label, SchemaId(self._label_schema), "", 1, RecordSettings())
        heard = {
            cast("int", event["source_timestamp"]): cast("int", event["new_schema_id"])
            for event in self.events(device)
            if event["kind"] == "announced"
        }
        model, newest = KeyModel(KeyName(key), self.settings, WarmStartModels()), None
        said: list[Fields] = []
        scores: list[Fields] = []
        for message in self.sent[key]:
            topic = self.labels_topic if _is_label(message) else self.job.topics.readings
            raw = Raw(message.value, Position(topic, 0, 0, message.timestamp_ms), {})
            newest = schemas[heard[message.timestamp_ms]] if message.timestamp_ms in heard else newest
            results = model.step([raw], schemas.__getitem__, {self.subject: newest}.get)
            said += [
                {"label": one.label, "scores": dict(one.scores), "stage": one.stage, "late": one.late}
                for one in results.predictions
            ]
            scores += [read_score(ENCODER.score(KeyName(key), one)) for one in results.scores]
        return said, _without_place(scores)

    def agrees(self, device: str = "") -> list[Fields]:
        """The predictions, which are those of the logic alone to the last bit; so is how they turned out."""
        said = self.wait(device)
        compared = [{name: one[name] for name in ("label", "scores", "stage", "late")} for one in said]
        end = time.monotonic() + A_MOMENT_S  # the event of an announcement, or a score, may be committed a little later
        while (compared, self.scores(device)) != self.alone(device) and time.monotonic() < end:
            self.output.read(500)
        assert (compared, self.scores(device)) == self.alone(device)
        return said

    def scores(self, device: str = "") -> list[Fields]:
        """The scores so far, without their places."""
        return _without_place(self.output.scores.get(self.name + device, []))


def _without_place(scores: Iterable[Fields]) -> list[Fields]:
    return [{name: value for name, value in one.items() if name not in PLACE} for one in scores]


def _is_label(message: Message) -> bool:
    return dict(message.headers)["kind"] == b"label"

"""What the tests of the job share: topics of their own, records of the simulated fleet, and the job as a process."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Self, cast

import requests
from kafka import KafkaConsumer, KafkaProducer
from kafka.consumer.fetcher import ConsumerRecord

from eml.local import topics
from eml.local.fleet import VERSIONS, Machine
from eml.local.job_process import SETTINGS_VARIABLES
from eml.local.messages import ReadingWriter
from eml.local.process import free_port
from eml.local.stack import Stack
from eml.stream.output.encoder import read_prediction, read_score
from eml.stream.output.schemas import schema_text
from tests.integration import reference
from tests.integration.reference import Sample

BEGIN_MS = 1000 * int(time.time()) - 3_600_000  # an hour ago: what is older than its retention the broker drops


@dataclass(frozen=True)
class Message:
    """A record to send."""

    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: tuple[tuple[str, bytes], ...] = ()
    sample: Sample | None = None  # what a good record says


class Topics(topics.Topics):
    """The topics of one job, which no other test has."""

    @classmethod
    def new(cls, stack: Stack, partitions: int = 2, readings: str | None = None) -> "Topics":
        """Fresh ones; `readings` shares the input of another job."""
        fresh = cls(*astuple(cls.named(f"test-{uuid.uuid4().hex[:8]}-")))
        topics.create(stack.bootstrap_servers, astuple(fresh)[1 if readings else 0 :], partitions)
        return replace(fresh, readings=readings or fresh.readings)


def register_versions(stack: Stack, readings: str) -> list[ReadingWriter]:
    """Register the example fleet's three versions for a topic."""
    return [ReadingWriter(version, register(stack, readings, version)) for version in (1, 2, 3)]


def register(stack: Stack, readings: str, version: int) -> int:
    answer = requests.post(
        f"{stack.registry_url}/subjects/{readings}-value/versions",
        json={"schema": schema_text(f"readings/v{version}")},
        timeout=10,
    )
    answer.raise_for_status()
    return int(answer.json()["id"])


def readings_of(
    key: str, writers: Sequence[ReadingWriter], counts: Sequence[int], seed: int, labelled: float = 0.6
) -> list[Message]:
    """A machine's records through all versions, one per second."""
    machine = Machine(seed, labelled)
    messages: list[Message] = []
    for writer, space, count in zip(writers, VERSIONS, counts, strict=True):
        for reading in machine.readings(space, count):
            now = BEGIN_MS + 1000 * len(messages)
            value = writer.write(key, f"{key}-{len(messages)}", now, reading)
            sample = Sample(space, reading.values.tolist(), reading.state if reading.labelled else None, now)
            messages.append(Message(key.encode(), value, now, sample=sample))
    return messages


def send(stack: Stack, topic: str, messages: Iterable[Message]) -> None:
    """Send and wait until all are there."""
    producer = KafkaProducer(bootstrap_servers=stack.bootstrap_servers, linger_ms=20, acks="all")
    for message in messages:
        producer.send(
            topic,
            key=message.key,
            value=message.value,
            timestamp_ms=message.timestamp_ms,
            headers=list(message.headers),
        )
    producer.flush()
    producer.close()


def receive(job: "Job", topic: str, count: int, timeout_s: float = 240.0) -> list[ConsumerRecord]:
    """What readers of committed records see: `count` records, and a moment more to see whether there are too many."""
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=job.stack.bootstrap_servers,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        enable_auto_commit=False,
    )
    records: list[ConsumerRecord] = []
    end = time.monotonic() + timeout_s
    try:
        while time.monotonic() < end:
            for piece in consumer.poll(timeout_ms=500).values():
                records.extend(piece)
            if len(records) >= count:
                end = min(end, time.monotonic() + 1.0)
            assert job.alive(), job.log()[-5000:]
    finally:
        consumer.close()
    return records


Said = tuple[object, object, object]  # label, scores, margin


def expected(messages: Iterable[Message]) -> list[Said]:
    """What the learner alone says of a key's records."""
    samples = [message.sample for message in messages if message.sample]
    return [
        (said.label, dict(said.scores), None if said.label is None else said.margin)
        for said in reference.predictions(samples)
    ]


@dataclass
class Predicted:
    """What a job wrote: bytes by the place of the reading, and what they say by key, in the readings' order."""

    bytes: dict[tuple[int, int], bytes] = field(default_factory=dict)
    said: dict[str, list[Said]] = field(default_factory=dict)

    @classmethod
    def read(cls, job: "Job", count: int) -> "Predicted":
        """Read `count` predictions; fails where there are fewer or more, or one came twice."""
        predicted, records = cls(), receive(job, job.topics.predictions, count)
        fields = sorted((read_prediction(record.value) | {"bytes": record.value} for record in records), key=_place)
        for one in fields:
            assert _place(one) not in predicted.bytes, f"twice: {one}"
            predicted.bytes[_place(one)] = cast("bytes", one["bytes"])
            predicted.said.setdefault(str(one["key"]), []).append((one["label"], one["scores"], one["margin"]))
        assert len(records) == count
        return predicted


def read_scores(job: "Job", messages: Iterable[Message]) -> dict[tuple[int, int], bytes]:
    """The scores of labelled readings, by the place of the reading; fails where there are fewer or more, or one twice.

    Each says what the learner alone said of its reading.
    """
    by_key: dict[str, list[Message]] = {}
    for message in messages:
        by_key.setdefault((message.key or b"").decode(), []).append(message)
    wanted = Counter(
        (key, said[0], message.sample.label)
        for key, of_key in by_key.items()
        for said, message in zip(expected(of_key), of_key, strict=True)
        if message.sample is not None and message.sample.label is not None
    )
    records = receive(job, job.topics.scores, wanted.total())
    fields = [read_score(record.value) for record in records]
    assert Counter((one["key"], one["label"], one["truth"]) for one in fields) == wanted
    assert all(one["right"] == (one["label"] == one["truth"]) and one["wait_ms"] == 0 for one in fields)
    assert all(record.key.decode() == one["key"] for record, one in zip(records, fields, strict=True))
    found = {_place(one): record.value for one, record in zip(fields, records, strict=True)}
    assert len(found) == len(records), "one came twice"
    return found


def _place(prediction: dict[str, object]) -> tuple[int, int]:
    return cast("tuple[int, int]", (prediction["source_partition"], prediction["source_offset"]))


@dataclass
class Job:
    """`python -m eml.job` as its own process, with real Python workers."""

    stack: Stack
    topics: Topics
    folder: Path
    settings: dict[str, dict[str, object]] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None

    def start(self, *arguments: str) -> "Job":
        file = self.folder / "eml.toml"
        file.write_text(self.toml())
        with (self.folder / "job.log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603
                # A port of its own: two jobs that start together would both find Flink's usual one free.
                [sys.executable, "-m", "eml.job", "--settings", str(file), f"-Drest.port={free_port()}", *arguments],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=self._environment(),
            )
        return self

    def _environment(self) -> dict[str, str]:
        scraps = self.folder / "tmp"  # Flink unpacks 70 MB of jars, and leaves them where it is killed
        scraps.mkdir(exist_ok=True)
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith(SETTINGS_VARIABLES)},
            "_python_worker_execution_mode": "process",
            "OMP_NUM_THREADS": "1",
            "TMPDIR": str(scraps),
            "JVM_ARGS": f"-Djava.io.tmpdir={scraps}",
            "FLINK_LOG_DIR": str(self.folder),
        }

    def toml(self) -> str:
        """The settings of this job, with the test's own on top."""
        sections: dict[str, dict[str, object]] = {
            "kafka": {
                "bootstrap_servers": self.stack.bootstrap_servers,
                "readings_topic": self.topics.readings,
                "predictions_topic": self.topics.predictions,
                "scores_topic": self.topics.scores,
                "evolutions_topic": self.topics.evolutions,
                "dead_letters_topic": self.topics.dead_letters,
                "transactional_id_prefix": self.topics.predictions,
                "group_id": self.topics.predictions,
            },
            # Nothing is announced, unless a test wants it: what is heard, and when, is not in the records.
            "registry": {"url": self.stack.registry_url, "newest_every_ms": 0},
            "job": {"checkpoint_interval_ms": 1000, "checkpoint_dir": (self.folder / "checkpoints").as_uri()},
        }
        for section, values in self.settings.items():
            sections.setdefault(section, {}).update(values)
        return "\n".join(
            f"[{section}]\n" + "\n".join(f"{key} = {_toml(value)}" for key, value in values.items())
            for section, values in sections.items()
        )

    def kill(self) -> None:
        """-9 for the job and all it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)
            self.process = None
            shutil.rmtree(self.folder / "tmp", ignore_errors=True)

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def log(self) -> str:
        return (self.folder / "job.log").read_text(errors="replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(name)} = {_toml(inner)}" for name, inner in value.items()) + "}"
    return json.dumps(value) if isinstance(value, str) else str(value)

"""A run of the job with good keys among hostile records: what the tests of this folder share."""

import json
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from eml.local import topics as kafka_topics
from eml.local.messages import ReadingWriter
from eml.local.stack import Stack
from eml.stream.output.schemas import schema_text
from tests.hostile.expected import PREDICTION, SILENT
from tests.hostile.site import Hostile, Site
from tests.hostile.traffic import CONFIG, Place, Results, Sent
from tests.hostile.watching import Watch
from tests.integration.harness import Job, Message, Said, Topics, expected, readings_of
from tests.unit.stream.registry.registry_server import RegistryServer

START_S = 180.0
Sections = dict[str, dict[str, object]]


def make_topics(stack: Stack) -> tuple[Topics, str]:
    """The topics of a run, and one for labels."""
    made = Topics(*astuple(Topics.named(f"hostile-{time.time_ns() % 10**9}-")))
    labels = made.readings.replace("readings", "labels")
    kafka_topics.create(stack.bootstrap_servers, [made.readings, labels], config=CONFIG)
    kafka_topics.create(stack.bootstrap_servers, astuple(made)[1:])
    return made, labels


def writers(server: RegistryServer, readings: str, first_id: int) -> list[ReadingWriter]:
    """The example fleet's three versions under ids of their own."""
    made = []
    for version in (1, 2, 3):
        server.add(first_id + version, schema_text(f"readings/v{version}"), (f"{readings}-value", version))
        made.append(ReadingWriter(version, first_id + version))
    return made


@dataclass
class Run:
    """One job, its topics, what was sent and what came."""

    stack: Stack
    server: RegistryServer
    folder: Path
    keys: int
    counts: tuple[int, int, int]  # good readings of a key under each version
    first_id: int  # of the schemas of the good keys
    settings: Sections = field(default_factory=dict)
    with_labels: bool = True
    watch: Watch = field(default_factory=Watch)
    results: Results = field(default_factory=Results)
    restarts: int = 0
    stopped: str = ""  # why the run was given up
    failures: list[str] = field(default_factory=list)
    counted: dict[str, int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.topics, labels = make_topics(self.stack)
        self.sent = Sent(self.topics, labels)
        self.site = Site(self.server, self.topics.readings, labels if self.with_labels else "")
        made = writers(self.server, self.topics.readings, self.first_id)
        self.good = {
            key: readings_of(key, made, self.counts, seed)
            for seed, key in enumerate(f"good-{number}" for number in range(self.keys))
        }
        kafka: dict[str, object] = {"labels_topic": labels} if self.with_labels else {}
        self.job = Job(self.stack, self.topics, self.folder, {**self.settings, "kafka": kafka})

    def start(self) -> None:
        self.job.start(*self.watch.options)
        end = time.monotonic() + START_S
        while not self.watch.running():
            assert self.job.alive(), self.job.log()[-5000:]
            assert time.monotonic() < end, f"the job did not start in {START_S:.0f} s: {self.job.log()[-3000:]}"
            time.sleep(0.5)

    def send(self, *records: Hostile | Message, per_second: float = 0.0) -> None:
        self.sent.send(self.stack.bootstrap_servers, records, per_second)

    def wait(self, wait_s: float, done: Callable[[Results], bool] | None = None) -> None:
        """Read until every record has ended that must; a restart of the job ends it at once."""
        self.results.read(self.job, done or (lambda _: not self.missing()), self._look, wait_s)
        self.counted = {name: self.watch.counter(name) for name in ("predictions", "dead_letters", "tombstones")}

    def _look(self) -> None:
        assert self.job.alive(), self.job.log()[-5000:]
        assert self.job.process is not None
        self.watch.memory(self.job.process.pid)
        self.restarts, self.failures = self.watch.restarts(), self.watch.failures()
        assert not self.restarts, f"restarted {self.restarts} times: {self.failures}"

    def missing(self) -> dict[Place, str]:
        """Records without an end that must have one, and of which case they are."""
        return {
            place: record.case if isinstance(record, Hostile) else "good"
            for place, record in self.sent.places.items()
            if place not in self.results.ends and not (isinstance(record, Hostile) and SILENT in record.ends)
        }

    def said(self) -> dict[str, list[Said]]:
        """What the job said of the good keys, in the order of their readings."""
        found: dict[str, list[Said]] = {}
        for place, record in sorted(self.sent.places.items()):
            if isinstance(record, Message) and record.key is not None:
                for end in self.results.ends.get(place, ["nothing"]):
                    one = self.results.said[place] if end == PREDICTION else (end, None, None)
                    found.setdefault(record.key.decode(), []).append(one)
        return found

    def wanted(self) -> dict[str, list[Said]]:
        """What the learner alone says of them."""
        return {key: expected(messages) for key, messages in self.good.items()}

    def ends_of(self, case: str) -> list[tuple[Hostile, Place, list[str]]]:
        """The records of a case, and what became of each."""
        return [
            (record, place, self.results.ends.get(place, []))
            for place, record in self.sent.places.items()
            if isinstance(record, Hostile) and record.case == case
        ]

    def cases(self) -> set[str]:
        """The cases that were sent."""
        return {record.case for record in self.sent.places.values() if isinstance(record, Hostile)}

    def summary(self) -> str:
        """For the test's output."""
        memory = {kind: f"{megabytes:.0f} MB" for kind, megabytes in self.watch.highest.items()}
        ends: dict[str, int] = {}
        for each in self.results.ends.values():
            for end in each:
                ends[end] = ends.get(end, 0) + 1
        said: dict[str, Any] = {
            "records": len(self.sent.places),
            "ends": dict(sorted(ends.items())),
            "restarts": self.restarts,
            "highest memory": memory,
            "counters": self.counted,
        }
        return json.dumps(said, indent=1)

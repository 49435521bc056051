"""How a job does, from outside: Flink's page, the consumer group's lag, the newest predictions.

Called by `eml status`. Three questions that do not depend on each other: one that has no answer is told as such, and
the others are answered all the same.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from eml.core.errors import EmlError
from eml.local import local_runs
from eml.local.flink_rest import FlinkPage
from eml.local.topic_reader import TopicConsumer
from eml.operations.kafka_admin import KafkaAdmin
from eml.operations.newest import newest
from eml.settings import Settings
from eml.stream.output import schemas
from eml.stream.records import Raw

T = TypeVar("T")
NO_PAGE = "no run of this job on this machine is known: name Flink's page of a cluster with --flink URL"


@dataclass(slots=True)
class Status:
    """What is known; `problems` says what is not, and why."""

    job: dict[str, Any] | None = None
    checkpoint: dict[str, Any] | None = None
    lag: dict[str, int] | None = None
    devices_by_version: dict[str, int] | None = None  # of the newest predictions
    predictions: int = 0  # that were looked at
    dead_letters: dict[str, int] | None = None  # by reason, since the tasks started
    problems: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Whether the job runs and all questions had an answer."""
        return not self.problems and self.job is not None and self.job["runs"]


def look(settings: Settings, flink: str | None, last: int) -> Status:
    """Ask Flink, Kafka and the predictions."""
    status = Status()
    _ask(status, lambda: _flink(status, settings, flink))
    if _ask(status, lambda: _lag(status, settings)):
        _ask(status, lambda: _versions(status, settings, last))
    return status


def _ask(status: Status, question: Callable[[], None]) -> bool:
    try:
        question()
    except EmlError as error:
        status.problems.append(str(error))
        return False
    return True


def _flink(status: Status, settings: Settings, flink: str | None) -> None:
    run = local_runs.find(settings.job.name)
    url = flink or (run.page if run else None)
    if url is None:
        status.problems.append(NO_PAGE)
        return
    page = FlinkPage(url)
    job = next((job for job in page.jobs() if job.name == settings.job.name), None)
    if job is None:
        status.problems.append(f"Flink at {url} knows no job {settings.job.name!r} (job.name): is it the right page?")
        return
    status.job = {**asdict(job), "runs": job.runs, "page": url}
    checkpoint, counted = page.newest_checkpoint(job.id), page.counted(job.id)
    status.checkpoint = asdict(checkpoint) if checkpoint else None
    status.dead_letters = counted.dead_letters


def _lag(status: Status, settings: Settings) -> None:
    admin, topic = KafkaAdmin(settings.kafka), settings.kafka.readings_topic
    partitions = admin.topics().get(topic)
    if partitions is None:
        status.problems.append(f"there is no topic {topic!r} (kafka.readings_topic): `eml topics create` makes it")
        return
    status.lag = asdict(admin.lag(settings.kafka.group_id, topic, partitions))


def _versions(status: Status, settings: Settings, last: int) -> None:
    with TopicConsumer(settings.kafka) as consumer:
        found = newest(consumer, settings.kafka.predictions_topic, last, _key_and_version).found
    versions = dict(found)  # the last of each device counts
    counts = Counter(versions.values())
    status.devices_by_version = {str(version): counts[version] for version in sorted(counts)}
    status.predictions = len(found)


def _key_and_version(raw: Raw) -> tuple[str, int] | None:
    try:
        fields = schemas.read("prediction", raw.value or b"")
        return str(fields["key"]), int(str(fields["schema_version"]))
    except Exception:  # noqa: BLE001  fastavro raises of all kinds on bytes that are not ours
        return None


def ago(milliseconds: int) -> str:
    """How long ago something was."""
    seconds = max(0, time.time() - milliseconds / 1000)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"

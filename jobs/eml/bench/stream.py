"""One run of `eml bench stream`: the same readings through the job and its peers, in turns, and their rates.

Called by `command`; calls `load`, `pipelines` and `measure`, `paced` for a load at a pace, and `table` and `report` at
the end. Starts a stack where no addresses are given, and removes its topics from one that is.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from eml.bench import beforehand, table
from eml.bench.comparison import EMPTY, JOB, QUIX, SAME_ANSWERS, Options, Result, Rival
from eml.bench.load import Load
from eml.bench.measure import Output, rate
from eml.bench.pipelines import REGISTRY_TIMEOUT_MS, Pipeline, flink_options, settings_of
from eml.bench.sending import send
from eml.bench.topics import changelogs_removed, made, written
from eml.local.stack import Stack
from eml.settings import RecordSettings, RegistrySettings, describe
from eml.stream.output.encoder import read_prediction
from eml.stream.registry.client import SchemaRegistry

BUNDLES = 2  # at least: with fewer the append times tell nothing of the work before them


class Bench:
    """The comparison on a running stack."""

    def __init__(self, options: Options, stack: Stack, console: Console, folder: Path) -> None:
        self.options = options
        self.stack = stack
        self.console = console
        self._folder = folder
        self._prefix = f"bench-{uuid.uuid4().hex[:6]}"
        self.made = partial(made, stack.bootstrap_servers, options.parallelism)  # a partition for each task

    def load(self, keys: int, records: int, nulls: float = 0.0) -> Load:
        """Readings, and the model that every key begins with."""
        load = Load(keys, records, self.options.labelled, nulls, taught=not self.options.copies)
        self.first_model.write_bytes(beforehand.snapshot(load, self.options.exemplars))
        return load

    @property
    def first_model(self) -> Path:
        """The file that holds it."""
        return self._folder / "first-model.emls"

    def compare(self, keys: int, nulls: float = 0.0) -> Result:
        """All rivals in turns over the same readings."""
        rivals = self.options.rivals()
        result = Result(keys, {rival: [] for rival in rivals}, nulls=nulls)
        with self.readings(keys, nulls) as readings:
            for rival in rivals * self.options.rounds:
                self._measure(rival, readings, result)
        return result

    @contextmanager
    def readings(self, keys: int, nulls: float = 0.0) -> Iterator[str]:
        """A topic with the readings of that many keys."""
        load = self.load(keys, self.options.records, nulls)
        topic = f"{self._prefix}-readings-{keys}-{nulls:g}"
        with self.made(topic, append_times=False):
            readings = load.readings(self.register(topic, load))
            send(self.stack.bootstrap_servers, topic, readings, load.timestamp_ms)
            self.console.print(f"{load.records} readings of {keys} keys are in Kafka")
            yield topic

    def register(self, topic: str, load: Load) -> int:
        """The id of the readings' schema."""
        settings = RegistrySettings(url=self.stack.registry_url, timeout_ms=REGISTRY_TIMEOUT_MS)
        registry = SchemaRegistry(settings, RecordSettings())
        try:
            return registry.register(f"{topic}-value", load.schema)
        finally:
            registry.close()

    def _measure(self, rival: Rival, readings: str, result: Result) -> None:
        """One rival once through the readings."""
        count = self.options.records
        with self.at_work(rival, readings) as output:
            result.rates[rival].append(rate(output.times_ms(count), least_ms=least_ms(rival, self.options)))
            if rival.kind in SAME_ANSWERS:
                said = (read_prediction(message.value() or b"") for message in output.read(count, "read_uncommitted"))
                result.answered[rival] = sum(fields["label"] is not None for fields in said)
        self.console.print(f"{table.name(rival)}: {result.rates[rival][-1]:.0f} records/s")

    @contextmanager
    def at_work(self, rival: Rival, readings: str) -> Iterator[Output]:
        """A rival that has written all its records, and still runs."""
        with self.started(rival, readings) as (pipeline, output):
            output.wait(self.options.records, pipeline.check)
            yield output

    @contextmanager
    def started(self, rival: Rival, readings: str) -> Iterator[tuple[Pipeline, Output]]:
        """A rival on its way, with new topics."""
        name = f"{self._prefix}-{uuid.uuid4().hex[:6]}"
        with TemporaryDirectory(prefix="eml-bench-", ignore_cleanup_errors=True) as folder:
            settings = settings_of(rival, self.options, self.stack, readings, name, Path(folder), self.first_model)
            kafka = settings.kafka
            output = Output(kafka.bootstrap_servers, kafka.predictions_topic, self.options.parallelism)
            with (
                self.made(*written(kafka)),
                changelogs_removed(kafka.bootstrap_servers, kafka.group_id) if rival.kind == QUIX else nullcontext(),
                Pipeline(rival.kind, describe(settings), Path(folder), flink_options(rival, self.options)) as pipeline,
            ):
                pipeline.start()
                yield pipeline, output


def least_ms(rival: Rival, options: Options) -> int:
    """How long a rival must be measured: several of the bundles that its Python operator hands on."""
    if rival.kind not in {JOB, EMPTY}:
        return 0
    bundle_ms = options.checkpoint_ms if options.delivery == "exactly-once" else rival.micro_batch_ms or 0
    return BUNDLES * bundle_ms

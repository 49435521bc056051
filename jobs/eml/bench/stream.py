"""One run of `eml bench stream`: the same readings through the job and its peers, in turns, and their rates.

Called by `command`; calls `load`, `pipelines` and `measure`, and `table` at the end. Starts a stack where no addresses
are given, and removes its topics from one that is.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from eml.bench import table
from eml.bench.comparison import JOB, Options, Result, Rival
from eml.bench.load import SCHEMA, Load, send
from eml.bench.measure import Output, rate
from eml.bench.pipelines import REGISTRY_TIMEOUT_MS, Pipeline, settings_of
from eml.bench.topics import made
from eml.local.stack import Stack, running
from eml.settings import RecordSettings, RegistrySettings, describe
from eml.stream.outputs import read_prediction
from eml.stream.registry import SchemaRegistry


def run(options: Options, console: Console | None = None) -> None:
    """Measure and print everything."""
    console = console or Console(highlight=False)
    with running(bootstrap_servers=options.broker, registry_url=options.registry) as stack:
        bench = Bench(options, stack, console)
        results = [bench.compare(keys) for keys in options.keys]
    table.show(options, results, console)


class Bench:
    """The comparison on a running stack."""

    def __init__(self, options: Options, stack: Stack, console: Console) -> None:
        self._options = options
        self._stack = stack
        self._console = console
        self._prefix = f"bench-{uuid.uuid4().hex[:6]}"
        self._made = partial(made, stack.bootstrap_servers, options.parallelism)  # a partition for each task

    def compare(self, keys: int) -> Result:
        """All rivals in turns over the same readings."""
        rivals = self._options.rivals()
        result = Result(keys, {rival: [] for rival in rivals})
        with self.readings(keys) as readings:
            for rival in rivals * self._options.rounds:
                self._measure(rival, readings, result)
        return result

    @contextmanager
    def readings(self, keys: int) -> Iterator[str]:
        """A topic with the readings of that many keys."""
        topic = f"{self._prefix}-readings-{keys}"
        with self._made(topic):
            load = Load(keys, self._options.records, self._options.labelled)
            send(self._stack.bootstrap_servers, topic, load.readings(self._register(topic)))
            self._console.print(f"{load.records} readings of {keys} keys are in Kafka")
            yield topic

    def _register(self, topic: str) -> int:
        settings = RegistrySettings(url=self._stack.registry_url, timeout_ms=REGISTRY_TIMEOUT_MS)
        registry = SchemaRegistry(settings, RecordSettings())
        try:
            return registry.register(f"{topic}-value", SCHEMA)
        finally:
            registry.close()

    def _measure(self, rival: Rival, readings: str, result: Result) -> None:
        """One rival once through the readings."""
        count = self._options.records
        with self.at_work(rival, readings) as output:
            result.rates[rival].append(rate(output.times_ms(count)))
            if rival.kind == JOB:
                said = (read_prediction(message.value() or b"") for message in output.read(count, "read_uncommitted"))
                result.answered[rival] = sum(fields["label"] is not None for fields in said)
        self._console.print(f"{table.name(rival)}: {result.rates[rival][-1]:.0f} records/s")

    @contextmanager
    def at_work(self, rival: Rival, readings: str) -> Iterator[Output]:
        """A rival that has written all its records, and still runs."""
        name = f"{self._prefix}-{uuid.uuid4().hex[:6]}"
        with TemporaryDirectory(prefix="eml-bench-", ignore_cleanup_errors=True) as folder:
            settings = settings_of(rival, self._options, self._stack, readings, name, Path(folder))
            kafka = settings.kafka
            output = Output(kafka.bootstrap_servers, kafka.predictions_topic, self._options.parallelism)
            with (
                self._made(kafka.predictions_topic, kafka.evolutions_topic, kafka.dead_letters_topic),
                Pipeline(rival.kind, describe(settings), Path(folder), dict(self._options.flink)) as pipeline,
            ):
                pipeline.start()
                output.wait(self._options.records, pipeline.check)
                yield output

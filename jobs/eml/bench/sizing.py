"""`eml bench sizing`: what a fleet needs in tasks, memory, state and checkpoints, from what this machine does.

Called by `command`; has `stream`'s bench measure the job at a few points. A record's cost is taken for

    fixed + slope x exemplars x features + label x share of records with a label

fitted to three points and checked at two others; what a model takes is counted on a learner. The tables then are
arithmetic: they say what a fleet needs on machines like this one, with tasks that are busy for `BUSY` of the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from eml.bench import beforehand, report
from eml.bench.comparison import Options
from eml.bench.load import FEATURES, NAMES, Load
from eml.bench.stream import Bench
from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.local.stack import running
from eml.settings import LearningSettings

BUSY = 0.6  # share of the time that a task should work: bursts, restarts and evolutions take the rest
FULL = 1024  # exemplars of a full memory
KEYS = 4_000  # so many that a call has about one record of each, as in a fleet of slow devices
POINTS = ((FULL, 0.0), (FULL // 4, 0.0), (FULL, 0.1))  # exemplars, share with a label
CHECKS = ((FULL // 2, 0.05), (FULL, 0.05))
FLEETS = (1_000, 100_000, 1_000_000)
DEVICES_PER_MODEL = 1_000  # of a model that a part of the fleet shares
DAY_S = 86_400
NEEDS = ("tasks", "GB of models a task", "GB of state", "MB/s written")
WINDOWS = 40  # learnt to see what a window writes


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one task."""

    fixed: float  # of a record
    slope: float  # of a record, for each value in the memory
    label: float  # of a labelled record, beside

    def record(self, exemplars: int, labelled: float) -> float:
        """Of one record."""
        return self.fixed + self.slope * exemplars * FEATURES + self.label * labelled


@dataclass(frozen=True, slots=True)
class Model:
    """Bytes of one model with a full memory."""

    live: int  # in the Python worker's memory
    state: int
    window: int  # written for a learnt window


def fit(seconds: Sequence[float]) -> Cost:
    """The cost that goes through three points."""
    table = [(1.0, exemplars * FEATURES, labelled) for exemplars, labelled in POINTS]
    return Cost(*np.linalg.solve(np.array(table), np.array(seconds)).tolist())


def of_model() -> Model:
    """What a model takes, counted on a learner."""
    load = Load(1, 1, 1.0)
    learner = EvolvingMetricLearner(FeatureSpace(NAMES), LearnerConfig(memory_size=FULL))
    learner.learn(*beforehand.samples(load, beforehand.FILL * FULL))
    state, size = len(learner.start_log()), LearningSettings().window_records
    written = []
    samples, labels = beforehand.samples(replace(load, seed=1), WINDOWS * size)
    for start in range(0, len(labels), size):
        learner.learn(samples[start : start + size], labels[start : start + size])
        changes = learner.changes()
        written.append(len(changes) if changes is not None else len(learner.start_log()))
    learner.predict_one(samples[0])
    return Model(learner.nbytes, state, round(np.mean(written)))


def run(options: Options, labels_per_day: float, json_file: Path | None = None, console: Console | None = None) -> None:
    """Measure, fit, check and print."""
    console = console or Console(highlight=False)
    with (
        running(bootstrap_servers=options.broker, registry_url=options.registry) as stack,
        TemporaryDirectory(prefix="eml-bench-") as folder,
    ):
        seconds = []
        for exemplars, labelled in (*POINTS, *CHECKS):
            point = replace(options, exemplars=exemplars, labelled=labelled, keys=(KEYS,))
            (rival,) = point.rivals()
            rate = Bench(point, stack, console, Path(folder)).compare(KEYS).rate(rival)
            console.print(f"{exemplars} exemplars, {labelled:.0%} labelled: {1e6 / rate:.1f} µs a record")
            seconds.append(1.0 / rate)
    cost, model = fit(seconds[: len(POINTS)]), of_model()
    figures = show(cost, model, seconds[len(POINTS) :], labels_per_day, console)
    if json_file is not None:
        report.write(json_file, "sizing", options, figures)


def options_of(records: int, broker: str | None, registry: str | None) -> Options:
    """The job alone, on RocksDB, at least once: a rate needs no many checkpoints."""
    return Options(
        records=records,
        keys=(KEYS,),
        labelled=0.0,
        rounds=1,
        parallelism=1,
        delivery="at-least-once",
        checkpoint_ms=5_000,
        micro_batch_ms=(50,),
        broker=broker,
        registry=registry,
        settings=(("limits.cached_bytes", str(4 * 2**30)),),
        backend=("rocksdb",),
        peers=(),
    )


def show(cost: Cost, model: Model, checks: Sequence[float], labels_per_day: float, console: Console) -> report.Figures:
    """Print what was measured, how well it fits, and the table."""
    figures = report.Figures()
    figures.measured |= {
        "record, fixed µs": 1e6 * cost.fixed,
        f"record, µs for {FULL} exemplars": 1e6 * cost.slope * FULL * FEATURES,
        "labelled record, further µs": 1e6 * cost.label,
        "model, bytes in memory": model.live,
        "model, bytes of state": model.state,
        "learnt window, bytes written": model.window,
    }
    for name, value in figures.measured.items():
        console.print(f"{name}: {value:,.1f}")
    for (exemplars, labelled), measured in zip(CHECKS, checks, strict=True):
        fitted = cost.record(exemplars, labelled)
        name = f"check, {exemplars} exemplars, {labelled:.0%} labelled: fitted / measured"
        figures.measured[name] = fitted / measured
        console.print(f"{name}: {1e6 * fitted:.1f} / {1e6 * measured:.1f} µs = {fitted / measured:.2f}")
    table = Table(title="What a fleet needs", box=box.SIMPLE_HEAD, title_justify="left")
    for heading in ("devices", "models", *NEEDS):
        table.add_column(heading, justify="right", no_wrap=True)
    for devices in FLEETS:
        for models in (devices, ceil(devices / DEVICES_PER_MODEL)):
            found = needs(cost, model, devices, models, labels_per_day)
            table.add_row(f"{devices:,}", f"{models:,}", *(f"{value:,.3g}" for value in found))
            where = f"{devices:,} devices, {models:,} models"
            figures.measured |= {f"{where}: {name}": value for name, value in zip(NEEDS, found, strict=True)}
    console.print(table)
    console.print(
        f"Each device sends once a second, {FEATURES} features, and gets {labels_per_day:g} labels a day; all memories"
        f" are full ({FULL} exemplars); tasks of one core like this machine's, busy for {BUSY:.0%} of the time."
        " Written: by learnt windows, in all; RocksDB compacts and checkpoints it again.",
        soft_wrap=True,
    )
    return figures


def needs(cost: Cost, model: Model, devices: int, models: int, labels_per_day: float) -> tuple[float, ...]:
    """Of a fleet whose devices send once a second: what `NEEDS` names."""
    labelled = labels_per_day / DAY_S
    tasks = ceil(devices * cost.record(FULL, labelled) / BUSY)
    windows = devices * labelled / LearningSettings().window_records
    return tasks, models * model.live / tasks / 1e9, models * model.state / 1e9, windows * model.window / 1e6

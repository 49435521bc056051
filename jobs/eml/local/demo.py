"""The demonstration: a simulated fleet goes through two firmware upgrades, and three models try to keep up.

Called by `eml demo`. Three models see the same records: EML, one that drops vanished features and never learns the
new ones, and one that starts cold at every upgrade. Every record is predicted first; some are labelled and
learnt afterwards, in batches.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from rich.console import Console
from rich.progress import track
from rich.table import Table

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.local.fleet import VERSIONS, Machine, Reading

WINDOW = 32  # labelled records per batch
EARLY = 0.2  # the share of a version's records that counts as right after the switch


@dataclass
class Contestant:
    """A model with one learner per machine."""

    name: str
    switch: Callable[[EvolvingMetricLearner, FeatureSpace], EvolvingMetricLearner]
    config: LearnerConfig = field(default_factory=LearnerConfig)
    right: dict[tuple[int, bool], list[bool]] = field(default_factory=dict)  # (version, early) -> hits

    def run(self, machine: Machine, count: int) -> EvolvingMetricLearner:
        """Send one machine through all versions."""
        learner = EvolvingMetricLearner(VERSIONS[0], self.config)
        for version, space in enumerate(VERSIONS):
            if version:
                learner = self.switch(learner, space)
            self._serve(learner, list(machine.readings(space, count)), version)
        return learner

    def _serve(self, learner: EvolvingMetricLearner, readings: list[Reading], version: int) -> None:
        """Predict every record before any of its batch is learnt."""
        labelled = [i for i, reading in enumerate(readings) if reading.labelled]
        full = labelled[WINDOW - 1 :: WINDOW]
        for start, end in pairwise([0, *(i + 1 for i in full)]):
            batch = readings[start:end]
            self._score(learner, batch, start, version, EARLY * len(readings))
            known = [reading for reading in batch if reading.labelled]
            learner.learn([reading.values for reading in known], [reading.state for reading in known])
        self._score(learner, readings[full[-1] + 1 if full else 0 :], len(readings), version, 0)

    def _score(
        self, learner: EvolvingMetricLearner, batch: list[Reading], start: int, version: int, early: float
    ) -> None:
        if not batch:
            return
        labels = learner.predict_many([reading.values for reading in batch]).labels
        for number, (reading, label) in enumerate(zip(batch, labels, strict=True), start):
            self.right.setdefault((version, number < early), []).append(label == reading.state)

    def accuracy(self, version: int, *, early: bool) -> float:
        """Share of right predictions of all machines under a version, right after the switch or all of it."""
        hits = self.right[version, True] + ([] if early else self.right[version, False])
        return sum(hits) / len(hits)


def contestants() -> list[Contestant]:
    """The three models."""

    def evolve(learner: EvolvingMetricLearner, space: FeatureSpace) -> EvolvingMetricLearner:
        learner.evolve(space)
        return learner

    def restart(learner: EvolvingMetricLearner, space: FeatureSpace) -> EvolvingMetricLearner:
        return EvolvingMetricLearner(space, learner.config)

    return [
        Contestant("EML", evolve),
        Contestant("never learns new features", evolve, LearnerConfig(inherit=False)),
        Contestant("restarts cold", restart),
    ]


def run(machines: int, records: int, seed: int) -> int:
    """Run all models over the same fleet and print what they got right."""
    console, models = Console(), contestants()
    learners = [
        model.run(Machine(seed + number), records)
        for model in track(models, description="running the fleet", console=console)
        for number in range(machines)
    ]
    console.print(_table(models))
    _print_evolution(console, learners[0])
    return 0


def _table(models: list[Contestant]) -> Table:
    table = Table(title="share of right predictions: first 20 % after the switch | whole version")
    table.add_column("model")
    for version in range(len(VERSIONS)):
        table.add_column(f"version {version + 1}", justify="right")
    for model in models:
        cells = (
            f"{model.accuracy(v, early=True):.1%} | {model.accuracy(v, early=False):.1%}" for v in range(len(VERSIONS))
        )
        table.add_row(model.name, *cells)
    return table


def _print_evolution(console: Console, learner: EvolvingMetricLearner) -> None:
    """What the first machine's learner says of its last evolution."""
    explanation = learner.explain()
    evolution = explanation.evolution
    if evolution is None:
        return
    console.print(f"last evolution: new {evolution.change.augmented}, renamed {evolution.change.renamed}")
    for name, takeover in evolution.takeovers.items():
        console.print(f"  {name} is gone; survivors keep {takeover.share:.0%} of it, {takeover.by} most")
    heaviest = sorted(explanation.weights.items(), key=lambda item: -item[1])[:3]
    console.print("features that count most now: " + ", ".join(f"{name} {share:.0%}" for name, share in heaviest))

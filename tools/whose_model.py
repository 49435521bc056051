"""The table of docs/howto/models.md: a model per device or one for all? `EML_DATA=folder python -m tools.whose_model`.

Devices get the same few labels each. Either each device's labels teach a model of its own, or all labels teach one
model. Both are asked about later readings of the same devices. Two fleets: the demo's simulated machines, which are
nearly alike, and the eight people of DSADS, who are not.
"""

import os
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eml.core import EvolvingMetricLearner, FeatureSpace
from eml.local.fleet import VERSIONS, Machine

Device = tuple[NDArray[np.float64], list[str]]  # samples and their labels, in order
LABELS = (4, 16, 64, 256)  # per device
TESTED = 300  # later readings of each device
SEEDS = 3
DEVICES = 8
BATCH = 32  # as learning.window_records
PAGE = Path(__file__).parents[1] / "docs/howto/models.md"
BEGIN, END = "<!-- made by `python -m tools.whose_model` -->", "<!-- end -->"


def main() -> int:
    """Measure, and write the table into the page."""
    lines = ["| fleet | labels per device | a model per device | one model for all |", "|---|---:|---:|---:|"]
    for name, fleet in (("machines of `eml demo`, 4 states", machines), ("people of DSADS, 19 activities", people)):
        for labels in LABELS:
            own, shared = zip(*(compared(fleet(seed), labels) for seed in range(SEEDS)), strict=True)
            lines.append(
                _row(name if labels == LABELS[0] else "", labels, statistics.fmean(own), statistics.fmean(shared))
            )
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


def _row(name: str, labels: int, own: float, shared: float) -> str:
    cells = [f"{own:.1f} %", f"{shared:.1f} %"]
    best = own < shared
    cells[best] = f"**{cells[best]}**"
    return f"| {name} | {labels} | {' | '.join(cells)} |"


def machines(seed: int) -> list[Device]:
    """Simulated machines of one version."""
    found = []
    for number in range(DEVICES):
        readings = list(Machine(1000 * seed + number).readings(VERSIONS[0], max(LABELS) + TESTED))
        found.append((np.array([one.values for one in readings]), [one.state for one in readings]))
    return found


def people(seed: int) -> list[Device]:
    """DSADS, person by person, in an order drawn by chance: its own order is one activity after another."""
    data = np.load(Path(os.environ["EML_DATA"]) / "dsads_feat405.npz")
    rng = np.random.default_rng(seed)
    found = []
    for person in np.unique(data["subject"]):
        rows = rng.permutation(np.flatnonzero(data["subject"] == person))[: max(LABELS) + TESTED]
        found.append((data["X"][rows].astype(np.float64), [str(y) for y in data["y"][rows]]))
    return found


def compared(fleet: Sequence[Device], labels: int) -> tuple[float, float]:
    """Percent of right answers of own models and of the shared one."""
    space = FeatureSpace(tuple(f"x{number}" for number in range(fleet[0][0].shape[1])))
    own = [_taught(space, [(samples[:labels], truth[:labels])]) for samples, truth in fleet]
    shared = _taught(space, [(samples[:labels], truth[:labels]) for samples, truth in fleet])
    return _right(fleet, own.__getitem__), _right(fleet, lambda _: shared)


def _taught(space: FeatureSpace, parts: Sequence[Device]) -> EvolvingMetricLearner:
    """A learner that got the labels of some devices in turns, in batches."""
    learner = EvolvingMetricLearner(space, seed=0)
    samples = np.stack([samples for samples, _ in parts], axis=1).reshape(-1, len(space.names))
    truth = [label for turn in zip(*(truth for _, truth in parts), strict=True) for label in turn]
    for start in range(0, len(truth), BATCH):
        learner.learn(samples[start : start + BATCH], truth[start : start + BATCH])
    return learner


def _right(fleet: Sequence[Device], model: Callable[[int], EvolvingMetricLearner]) -> float:
    right = 0
    for number, (samples, truth) in enumerate(fleet):
        said = model(number).predict_many(samples[-TESTED:]).labels
        right += sum(one == other for one, other in zip(said, truth[-TESTED:], strict=True))
    return 100 * right / (len(fleet) * TESTED)


if __name__ == "__main__":
    sys.exit(main())

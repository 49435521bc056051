"""A simulated fleet of machines whose sensors change with firmware versions.

Feeds the demonstration and tests. Every machine has a hidden health state that moves its signals; a sensor sees
the signals through its own gain, noise and slow drift. Nothing here knows the learner.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eml.core import FeatureSpace

STATES = ("healthy", "imbalance", "bearing", "overheating")
# The signal of each state, in noise units; columns are SIGNALS.
SIGNALS = ("temperature", "vibration", "hiss", "current", "pressure", "flow")
EFFECT = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.3, 2.2, 0.2, 0.9, 0.0, 0.0],
        [0.8, 1.2, 2.4, 0.3, -0.6, 0.0],
        [2.4, 0.1, 0.3, 0.8, -0.9, -2.0],
    ]
)
# sensor -> (signal it sees, gain, offset, noise)
SENSORS = {
    "temperature": ("temperature", 8.0, 60.0, 1.0),
    "vibration_x": ("vibration", 0.6, 2.0, 0.9),
    "vibration_y": ("vibration", 0.5, 1.8, 1.2),
    "vibration_radial": ("vibration", 0.6, 2.0, 0.9),
    "current": ("current", 1.5, 12.0, 1.0),
    "oil_pressure": ("pressure", -0.4, 4.0, 0.8),
    "acoustic": ("hiss", 6.0, 50.0, 0.8),
    "coolant_flow": ("flow", 3.0, 20.0, 0.7),
    "rpm": ("current", -20.0, 1480.0, 2.0),
}
VERSIONS = (
    FeatureSpace(("temperature", "vibration_x", "vibration_y", "current", "oil_pressure", "rpm")),
    FeatureSpace(("temperature", "vibration_x", "vibration_y", "current", "acoustic", "rpm")),
    FeatureSpace(
        ("temperature", "vibration_radial", "acoustic", "coolant_flow", "rpm"),
        aliases={"vibration_radial": ("vibration_x",)},
    ),
)
STAY = 0.95  # chance of a machine to keep its state from one record to the next


@dataclass(frozen=True, slots=True)
class Reading:
    """One record of one machine."""

    values: NDArray[np.float64]
    state: str
    labelled: bool


class Machine:
    """One device of the fleet."""

    def __init__(self, seed: int, labelled: float = 0.4) -> None:
        self._rng = np.random.default_rng(seed)
        self._labelled = labelled
        self._state = 0
        self._own = self._rng.normal(scale=0.2, size=len(SIGNALS))  # no two machines are alike
        self._drift = np.zeros(len(SIGNALS))

    def readings(self, space: FeatureSpace, count: int) -> Iterator[Reading]:
        """The next `count` records under a schema version."""
        for _ in range(count):
            if self._rng.random() > STAY:
                self._state = int(self._rng.integers(len(STATES)))
            self._drift = 0.999 * self._drift + self._rng.normal(scale=0.01, size=len(SIGNALS))
            signal = EFFECT[self._state] + self._own + self._drift
            values = np.array([self._sense(name, signal) for name in space.names])
            yield Reading(values, STATES[self._state], bool(self._rng.random() < self._labelled))

    def _sense(self, sensor: str, signal: NDArray[np.float64]) -> float:
        seen, gain, offset, noise = SENSORS[sensor]
        return float(offset + gain * (signal[SIGNALS.index(seen)] + noise * self._rng.normal()))

"""The golden state of a key: its model, its window and its waiting records, as the first release wrote them.

What one release wrote, every later one reads: written once per version, never again after its release. To write them
anew while the version is not released yet, from the root of the project:

    .venv/bin/python -m tests.unit.stream.golden
"""

from pathlib import Path

import numpy as np

from eml.settings import Settings
from eml.stream import waiting
from eml.stream.fleet import KeyModel
from eml.stream.records import Position, Raw
from eml.stream.window import Window
from tests.unit.stream.test_fleet import SETTINGS, look_up, records

FIXTURES = Path(__file__).parents[2] / "fixtures"
MODEL, WINDOW, WAITING = (FIXTURES / f"key-v1.{kind}" for kind in ("emlk", "emlw", "emlq"))
STREAM = [1] * 40 + [2] * 30
NEXT = [2] * 10
RAWS = [
    Raw(b"\x00\x00\x00\x00\x07abc", Position("readings", 3, 41, 1_763_270_000_123), {"trace": b"\xff\x00"}),
    Raw(None, Position("readings", 3, 42, 1_763_270_000_124), {}),
]


def model(settings: Settings = SETTINGS) -> KeyModel:
    """A key in the middle of its second version, with labels pending."""
    made = KeyModel("pump", settings)
    made.step(records(STREAM), look_up)
    return made


def window() -> Window:
    """Two readings of three features, one value missing."""
    made = Window(late=3)
    made.add(np.array([[1.5, np.nan, -2.0], [0.0, 1e300, 5.0]]), ["läuft", "steht"], 1_763_270_000_123)
    return made


def main() -> None:
    """Write all files."""
    MODEL.write_bytes(model().dump())
    WINDOW.write_bytes(window().dump())
    WAITING.write_bytes(waiting.dump(RAWS))


if __name__ == "__main__":
    main()

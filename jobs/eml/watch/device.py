"""What is kept of one device: a few hundred bytes, its curve, and its newest predictions as they came.

Kept by `devices`, filled by `fleet_records`, shown by `device_detail`. Pure.
"""

from collections import deque

from eml.watch.curve import Curve
from eml.watch.lately import Lately
from eml.watch.views import DeviceRow

LATELY = 200  # scored readings that a device's accuracy looks back on
BINS = 64  # of its curve
MARKS = 20  # events kept

Place = tuple[int, int]  # partition and offset of a reading


class Device:
    """One device."""

    __slots__ = (
        "curve",
        "dead_letters",
        "key",
        "last_ms",
        "lately",
        "marks",
        "novelty",
        "predictions",
        "rows",
        "scored",
        "stage",
        "truths",
        "under",
        "version",
    )

    def __init__(self, key: str) -> None:
        self.key = key
        self.version: int | None = None  # the registry's id of its schema; None: no prediction yet
        self.stage = ""
        self.predictions = 0
        self.novelty: float | None = None
        self.dead_letters = 0
        self.last_ms = 0
        self.rows: deque[tuple[int, bytes]] = deque()  # newest predictions: when they were written, and their bytes
        self.marks: list[tuple[int, int]] = []  # events: their rows' numbers and times
        self.under: int | None = None  # the row of its last evolution
        self.truths: dict[Place, str] = {}  # labels of its newest scored readings
        self.forget_scores()

    def forget_scores(self) -> None:
        """Begin to count right answers anew."""
        self.scored = 0
        self.curve: Curve | None = None  # many devices have no labels
        self.lately: Lately | None = None

    def score(self, time_ms: int, window_ms: int | None, *, right: bool, cold_right: bool | None) -> None:
        """A prediction turned out to be right or wrong; its curve looks back on the window."""
        self.curve = self.curve or Curve(BINS, window_ms)
        self.lately = self.lately or Lately(LATELY)
        self.curve.add(time_ms, right=right, cold_right=cold_right)
        self.lately.add(right=right)
        self.scored += 1

    def mark(self, number: int, time_ms: int) -> None:
        """Something happened to it."""
        self.marks = [*self.marks[1 - MARKS :], (number, time_ms)]

    @property
    def accuracy(self) -> float | None:
        """Of its newest scored readings."""
        return self.lately.share if self.lately else None

    def row(self, version: str) -> DeviceRow:
        """Its line in a list."""
        return DeviceRow(
            self.key,
            version,
            self.stage,
            self.predictions,
            self.scored,
            self.accuracy,
            self.novelty,
            self.dead_letters,
            self.last_ms,
        )

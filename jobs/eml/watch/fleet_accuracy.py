"""Right answers of the whole fleet.

Kept by `fleet_records`. Pure.
"""

from collections.abc import Sequence

from eml.watch.curve import Bin, Curve
from eml.watch.lately import Lately
from eml.watch.views import Accuracy, Mark

BINS = 400  # of the curve
LATELY = 2_000  # scored readings that the share of right ones looks back on


class FleetAccuracy:
    """Counts of right answers, and of a cold restart's where one is compared."""

    def __init__(self, window_ms: int | None = None) -> None:
        self.curve = Curve(BINS, window_ms)
        self.lately = Lately(LATELY)
        self.cold_lately = Lately(LATELY)
        self.scored = 0
        self.regret: int | None = None  # right answers of the cold restart minus own

    def score(self, time_ms: int, *, right: bool, cold_right: bool | None) -> None:
        """A prediction turned out to be right or wrong."""
        self.curve.add(time_ms, right=right, cold_right=cold_right)
        self.lately.add(right=right)
        self.scored += 1
        if cold_right is not None:
            self.cold_lately.add(right=cold_right)
            self.regret = (self.regret or 0) + cold_right - right


def view(bins: Sequence[Bin], marks: Sequence[Mark]) -> Accuracy:
    """A curve as the page shows it, with the marks that fall on it."""
    if not bins:
        return Accuracy((), (), (), (), tuple(marks))
    first_ms = bins[0].first_ms
    return Accuracy(
        [bin_.first_ms for bin_ in bins],
        [bin_.accuracy for bin_ in bins],
        [bin_.cold_accuracy for bin_ in bins],
        [bin_.scored for bin_ in bins],
        [mark for mark in marks if mark.time_ms >= first_ms],
    )

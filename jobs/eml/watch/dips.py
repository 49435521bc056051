"""Falls of a device's accuracy.

Called by `device_detail` with the bins of a curve. Bins are put together until enough was scored in each to tell a fall
from chance; a fall is below what the device did before by more than that. Pure.
"""

import math
from collections.abc import Iterable, Iterator

from eml.watch.curve import Bin

LEAST_SCORED = 20  # in a stretch
BEFORE = 2  # stretches that must have been well before a fall: a model that begins has not fallen
LEAST_FALL = 0.1
ERRORS = 2.0  # standard errors that a fall must be larger than
MOST = 5  # the newest falls

Dip = tuple[int, int, float]  # first and last time, and how far it fell


def find(bins: Iterable[Bin]) -> list[Dip]:
    """The newest falls, the newest first."""
    dips: list[Dip] = []
    well: list[Bin] = []  # before the fall
    fallen: list[Bin] = []  # since then
    for stretch in _stretches(bins):
        if len(well) >= BEFORE and _is_below(stretch, well):
            fallen.append(stretch)
            continue
        if fallen:
            dips.append(_dip(fallen, well))
            fallen = []
        well = [*well[-9:], stretch]
    if fallen:
        dips.append(_dip(fallen, well))
    return dips[-MOST:][::-1]


def _stretches(bins: Iterable[Bin]) -> Iterator[Bin]:
    """Neighbours put together; too few at the end are left for later."""
    open_: list[Bin] = []
    for each in bins:
        if open_ or each.scored:
            open_.append(each)
        if sum(bin_.scored for bin_ in open_) >= LEAST_SCORED:
            yield _together(open_)
            open_ = []


def _together(bins: list[Bin]) -> Bin:
    sums = (sum(getattr(bin_, name) for bin_ in bins) for name in ("scored", "right", "cold_scored", "cold_right"))
    return Bin(bins[0].first_ms, bins[-1].last_ms, *sums)


def _share(bins: list[Bin]) -> float:
    return sum(bin_.right for bin_ in bins) / sum(bin_.scored for bin_ in bins)


def _is_below(stretch: Bin, well: list[Bin]) -> bool:
    level = _share(well)
    error = math.sqrt(level * (1 - level) / stretch.scored)
    return level - stretch.right / stretch.scored > max(LEAST_FALL, ERRORS * error)


def _dip(fallen: list[Bin], well: list[Bin]) -> Dip:
    return fallen[0].first_ms, fallen[-1].last_ms, _share(well) - _share(fallen)

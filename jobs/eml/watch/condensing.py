"""As much of a curve and its marks as a chart can show, and as its labels can bear.

Called by `charts` and `figures`. Pure.
"""

from collections.abc import Sequence
from dataclasses import replace

from eml.watch.views import Accuracy, Mark

MOST_MARKS = 16  # of one kind, side by side
MOST_POINTS = 90  # of a curve of accuracy
ENOUGH = 20  # labels that a point stands for


def smoothed(curve: Accuracy) -> Accuracy:
    """The same in points that stand for enough labels each: of few labels a share says little."""
    parts = _parts(curve.scored)
    return Accuracy(
        times_ms=[curve.times_ms[part.stop - 1] for part in parts],
        accuracy=[_mean(curve.accuracy[part], curve.scored[part]) for part in parts],
        cold=[_mean(curve.cold[part], curve.scored[part]) for part in parts],
        scored=[sum(curve.scored[part]) for part in parts],
        marks=curve.marks,
    )


def _parts(scored: Sequence[int]) -> list[slice]:
    """Neighbours that have enough labels together; a rest that has few belongs to the part before it."""
    enough = max(ENOUGH, sum(scored) / MOST_POINTS)
    parts: list[slice] = []
    begin = labels = 0
    for at, count in enumerate(scored, 1):
        labels += count
        if labels >= enough:
            parts.append(slice(begin, at))
            begin, labels = at, 0
    if begin < len(scored):
        first = parts.pop().start if parts and labels < enough / 2 else begin
        parts.append(slice(first, len(scored)))
    return parts


def _mean(shares: Sequence[float | None], weights: Sequence[int]) -> float | None:
    known = [(share, weight) for share, weight in zip(shares, weights, strict=True) if share is not None and weight]
    total = sum(weight for _, weight in known)
    return sum(share * weight for share, weight in known) / total if total else None


def gathered(marks: Sequence[Mark]) -> list[Mark]:
    """Marks that are alike and would stand on each other, as one of all their devices."""
    if not marks:
        return []
    first = min(mark.time_ms for mark in marks)
    width = max(1, max(mark.time_ms for mark in marks) - first) / MOST_MARKS
    together: dict[tuple[str, int], Mark] = {}
    for mark in marks:
        place = mark.kind, int((mark.time_ms - first) / width)
        before = together.get(place)
        together[place] = replace(before, devices=before.devices + mark.devices) if before else mark
    return list(together.values())

"""What a schema is expected to do to accuracy, from rehearsals: figures with an interval, or why there are none.

Called by `eml check`. All readings count alike, so devices with many labels count more. Each is predicted under all
conditions, so differences are paired: their interval is Agresti and Min's for matched pairs, at 95 %.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from eml.operations.rehearsal import Rehearsal

FEWEST = 50  # held-out labels: with fewer, an interval is wider than any drop that a person would ask about
QUANTILE = 1.96  # of the normal distribution, for 95 %


@dataclass(frozen=True, slots=True)
class Difference:
    """Of two accuracies, in percentage points; below 0 it is a drop."""

    points: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Kept:
    """How far survivors account for a vanished feature, over the models."""

    share: float
    by: str | None


@dataclass(frozen=True, slots=True)
class Effect:
    """Right answers in percent on held-out readings; the figures are None where there are too few of them."""

    models: int
    labels: int
    learnt: int
    now: float | None = None
    without: float | None = None  # the vanished features missing, nothing else
    evolved: float | None = None
    drop: Difference | None = None  # evolved against now
    gain: Difference | None = None  # evolved against without
    cold: int = 0  # models for which nothing survives
    takeovers: dict[str, Kept] = field(default_factory=dict)

    @property
    def enough(self) -> bool:
        """Whether there are figures."""
        return self.now is not None


def effect_of(rehearsals: Sequence[Rehearsal]) -> Effect:
    """All models together."""
    now, without, evolved = (
        [right for one in rehearsals for right in getattr(one, name)] for name in ("now", "without", "evolved")
    )
    models, learnt, kept = len(rehearsals), sum(one.learnt for one in rehearsals), _takeovers(rehearsals)
    cold = sum(not one.warm for one in rehearsals)
    if len(now) < FEWEST:
        return Effect(models, len(now), learnt, cold=cold, takeovers=kept)
    return Effect(
        models,
        len(now),
        learnt,
        _percent(now),
        _percent(without),
        _percent(evolved),
        difference(now, evolved),
        difference(without, evolved),
        cold,
        kept,
    )


def difference(before: Sequence[bool], after: Sequence[bool]) -> Difference:
    """After minus before on the same readings, with its interval: half a reading is added to each of the four cells."""
    lost = sum(b and not a for b, a in zip(before, after, strict=True))
    won = sum(a and not b for b, a in zip(before, after, strict=True))
    count = len(before) + 2
    centre = (won - lost) / count
    spread = math.sqrt((won + lost + 1) - (won - lost) ** 2 / count) / count
    low, high = (max(-1.0, min(1.0, centre + sign * QUANTILE * spread)) for sign in (-1, 1))
    return Difference(100 * (won - lost) / len(before), 100 * low, 100 * high)


def _percent(right: Sequence[bool]) -> float:
    return 100 * sum(right) / len(right)


def _takeovers(rehearsals: Sequence[Rehearsal]) -> dict[str, Kept]:
    """Means over the models; the survivor that is named most often."""
    names = dict.fromkeys(name for one in rehearsals for name in one.takeovers)
    kept = {}
    for name in names:
        found = [one.takeovers[name] for one in rehearsals if name in one.takeovers]
        by = Counter(each.by for each in found).most_common(1)[0][0]
        kept[name] = Kept(sum(each.share for each in found) / len(found), by)
    return kept

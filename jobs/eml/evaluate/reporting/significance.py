"""Whether one method is better than another over the same seeds, and what is left of that after many such questions.

Called by `compare`; knows numbers only.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy import stats


def paired_p(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Two-sided p of Wilcoxon's signed ranks; None where there are no pairs, 1 where none differs."""
    differences = np.round(np.subtract(ours, theirs), 9)  # sums of accuracies: equal but for the last bits is equal
    if len(differences) == 0:
        return None
    if not differences.any():
        return 1.0
    return _wilcoxon(tuple(differences.tolist()))


@cache  # one report asks for the same rows many times, and ties are counted by thousands of permutations
def _wilcoxon(differences: tuple[float, ...]) -> float:
    return float(stats.wilcoxon(differences).pvalue)


def holm(values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: each p as it is to be compared with the level for the whole family.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = highest
    return corrected

"""Which columns a stream has in each of its stages.

Called by `course`; knows numbers of columns, no record. Names after the literature on haphazard inputs (Agarwal et al.,
"Aux-Drop", TMLR 2023, and "Online Learning under Haphazard Input Conditions", 2024): sudden features were never heard
of before they come, obsolete ones go for good; here they do so in chunks, one at each switch.

    rotating     groups on a ring, of which one is always absent: the last one at first, then group 0, group 1, ... With
                 one switch that is [vanished, survived], then [survived, new]; with more, a group that vanished is back
                 after one stage, as in a fleet whose units go to repair in turn
    sudden       one chunk of the columns at first, one more at each switch, all in the last stage
    obsolete     all columns at first, one chunk less at each switch, one chunk in the last stage
    reappearing  all columns at first; one switch takes a chunk away, the next one brings it back, and so on with the
                 next chunk; the last chunk is always there
"""

import numpy as np
from numpy.typing import NDArray

from eml.evaluate.errors import EvaluationError

Columns = NDArray[np.intp]
Split = tuple[int, int, int]  # vanished, survived, new columns

ROTATING = "rotating"


def stages(scheme: str, split: Split, switches: int) -> list[Columns]:
    """Return the columns of each stage, or say what would make a stream."""
    if scheme == ROTATING:
        return _rotating(split, switches)
    if scheme == "reappearing" and switches < 2:
        raise EvaluationError("--scheme reappearing needs --switches 2 at least: one that takes away, one that returns")
    chunks = _chunks(sum(split), (switches + 3) // 2 if scheme == "reappearing" else switches + 1)
    numbers = range(switches + 1)
    if scheme == "sudden":
        return [np.concatenate(chunks[: number + 1]) for number in numbers]
    if scheme == "obsolete":
        return [np.concatenate(chunks[number:]) for number in numbers]
    return [np.concatenate([c for place, c in enumerate(chunks) if 2 * place + 1 != number]) for number in numbers]


def groups(split: Split) -> list[Columns]:
    """The columns in groups: the vanished, the survivors in groups of about that size, the new ones."""
    vanished, survived, new = split
    columns = np.arange(vanished + survived + new)
    size = max(vanished, new)
    middle = np.array_split(columns[vanished : vanished + survived], max(1, round(survived / size)))
    return [columns[:vanished], *middle, columns[vanished + survived :]]


def _rotating(split: Split, switches: int) -> list[Columns]:
    if not max(split[0], split[2]):
        raise EvaluationError("no column vanishes and none is new, so there is nothing to switch")
    ring = groups(split)
    return [
        np.concatenate([group for group in ring if group is not ring[(number - 1) % len(ring)]])
        for number in range(switches + 1)
    ]


def _chunks(columns: int, count: int) -> list[Columns]:
    if columns < count:
        raise EvaluationError(f"{columns} columns are too few for {count} chunks; fewer --switches would do")
    return np.array_split(np.arange(columns), count)

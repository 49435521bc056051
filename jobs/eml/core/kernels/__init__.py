"""The arithmetic of a prediction, compiled: from raw values to scores, margin and novelty in one call.

Called by `predictor`, which lays the arrays out as `places` says.

    cleaning    raw values to columns
    distances   to exemplars, missing values corrected
    classes     to the classes, under one metric
    opinions    scores from distances and linear views, and their mixture
    answer      all of it, row by row

No sum is reordered (no fastmath) and every row is computed alone. The compiled code is kept on disk; a change of any
file here makes it anew.
"""

import hashlib
from pathlib import Path

from numba import njit

from eml.core.kernels.answer import answer


def _with_its_source(source):
    """`answer` as one compiled function that is kept for this source: numba looks at one file only, and at closures."""

    def answer_rows(values, numbers, counts, singles, exemplars, by_column, lost, out):
        return source != 0 and answer(values, numbers, counts, singles, exemplars, by_column, lost, out)

    return answer_rows


def _source():
    """A number that changes with every file here."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return int.from_bytes(digest.digest()[:6], "big") + 1


def _compiled():
    """The function, from the disk where it is kept there; only in memory where nothing can be written."""
    table, numbers, whole, single = "f8[:,::1]", "f8[::1]", "i8[::1]", "f4[::1]"
    views = "UniTuple(f4[:,::1],3),UniTuple(f4[:,:,::1],3)"
    signature = f"b1({table},{numbers},{whole},{single},{views},{single},{table})"
    function = _with_its_source(_source())
    try:
        return njit(signature, nogil=True, cache=True)(function)
    except (RuntimeError, OSError):  # no folder for it: NUMBA_CACHE_DIR names another
        return njit(signature, nogil=True)(function)


answer_rows = _compiled()

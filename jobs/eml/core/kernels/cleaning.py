"""Raw values of a sample to columns of the learner, cleaned: `one_hot` and `statistics` in one pass."""

import math

from numba import njit

from eml.core.kernels.places import FURTHEST, IS_AMOUNT, LEVEL, LIMIT, MEAN, ORIGIN, OTHERS, SOURCE, UNIT


@njit(nogil=True)
def clean(row, features, limits, x, there):
    """Columns of the learner from the features of a sample, cleaned; how many of them are there."""
    d = features.shape[1]
    for i in range(d):
        value = row[int(features[SOURCE, i])]
        there[i] = math.isfinite(value)
        x[i] = value
        if there[i] and features[IS_AMOUNT, i] == 0.0:
            x[i] = 1.0 if value == features[LEVEL, i] or features[OTHERS, i] == i else 0.0
    for i in range(d):
        others = int(features[OTHERS, i])
        if others >= 0 and others != i and there[i] and x[i] == 1.0:
            x[others] = 0.0
    present = 0
    for i in range(d):
        value = features[MEAN, i]
        if there[i]:
            present += 1
            value = min(max(x[i], -limits[FURTHEST]), limits[FURTHEST]) - features[ORIGIN, i]
            unit = features[UNIT, i]
            if unit > 0.0:
                value = math.asinh(min(max(value / unit, -limits[FURTHEST]), limits[FURTHEST]))
        x[i] = min(max(value, -features[LIMIT, i]), features[LIMIT, i])
    return present

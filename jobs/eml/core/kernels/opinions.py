"""Scores of the classes from distances and from linear views, and what the mixture makes of them."""

import math

import numpy as np
from numba import njit

from eml.core.kernels.places import (
    CALIBRATION,
    CENTRE,
    EMPTY,
    METRIC,
    OPINIONS,
    POOLED,
    SCALE,
    SHARE,
    SMOOTHING,
    TINY,
    TOGETHER,
)


@njit(nogil=True)
def log_scores(distances, constants, out):
    """Scores from distances: minus their logarithm, centred; far below for an empty class."""
    lowest = np.inf
    for c in range(len(out)):
        if math.isfinite(distances[c]):
            out[c] = -math.log(max(distances[c], constants[TINY]))
            lowest = min(lowest, out[c])
    if lowest == np.inf:
        lowest = 0.0
    mean = 0.0
    for c in range(len(out)):
        if not math.isfinite(distances[c]):
            out[c] = lowest - constants[EMPTY]
        mean += out[c]
    mean /= len(out)
    for c in range(len(out)):
        out[c] -= mean


@njit(nogil=True)
def linear_logits(x, there, centre, scale, W, b, farthest, out):
    """Log odds of a cleaned sample, centred."""
    classes = len(b)
    total = np.zeros(classes, dtype=np.float32)
    for i in range(len(x)):
        if there[i]:
            z = np.float32(min(max((x[i] - centre[i]) * scale[i], -farthest), farthest))
            for c in range(classes):
                total[c] += z * W[i, c]
    mean = 0.0
    for c in range(classes):
        out[c] = total[c] + b[c]
        mean += out[c]
    mean /= classes
    for c in range(classes):
        out[c] -= mean


@njit(nogil=True)
def ask_linear(x, there, features, which, at, singles, biases, farthest, out):
    """What one of the linear views says of a cleaned sample."""
    d, classes = len(x), len(out)
    W = singles[at : at + d * classes].reshape(d, classes)
    centre, scale = features[CENTRE + 2 * which], features[SCALE + 2 * which]
    linear_logits(x, there, centre, scale, W, biases[which], farthest, out)


@njit(nogil=True)
def add_softmax(logits, share, floor, work, out):
    """Add a share of the probabilities of the classes, kept `floor` away from 0."""
    highest, total = -np.inf, 0.0
    for c in range(len(out)):
        highest = max(highest, logits[c])
    for c in range(len(out)):
        work[c] = math.exp(logits[c] - highest)
        total += work[c]
    for c in range(len(out)):
        out[c] += share * ((1.0 - floor) * (work[c] / total) + floor / len(out))


@njit(nogil=True)
def mix(opinions, mixing, constants, alone, work, out):
    """Probabilities of the classes from what the experts say."""
    out[:] = 0.0
    if alone:
        add_softmax(opinions[METRIC], 1.0, 0.0, work[0], out)
        return
    together, pooled = work[1], 0
    together[:] = 0.0
    for expert in range(OPINIONS):
        weight = mixing[expert, POOLED]
        if weight > 0.0:
            pooled += 1
            for c in range(len(out)):
                together[c] += weight * opinions[expert, c]
        weight = mixing[expert, CALIBRATION]
        if weight > 0.0:
            for c in range(len(out)):
                work[2, c] = weight * opinions[expert, c]
            add_softmax(work[2], mixing[expert, SHARE], constants[SMOOTHING], work[0], out)
    if pooled > 1:
        add_softmax(together, constants[TOGETHER], constants[SMOOTHING], work[0], out)


@njit(nogil=True)
def best_of(scores):
    """The place of the highest score, and how far the second is below it."""
    best, second = 0, -np.inf
    for c in range(1, len(scores)):
        if scores[c] > scores[best]:
            second, best = scores[best], c
        else:
            second = max(second, scores[c])
    return best, scores[best] - second if len(scores) > 1 else 1.0

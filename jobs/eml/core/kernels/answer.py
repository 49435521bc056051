"""Predictions of samples from the flat arrays: each row is computed alone, so its bits depend on nothing but itself."""

import numpy as np
from numba import njit

from eml.core.kernels.classes import view_distances
from eml.core.kernels.cleaning import clean
from eml.core.kernels.opinions import ask_linear, best_of, log_scores, mix
from eml.core.kernels.places import (
    ALONE,
    AT_FRESH_LINEAR,
    AT_LINEAR,
    AT_SURVIVED_LINEAR,
    BEST,
    CLASSES,
    COLUMNS,
    CONSTANTS,
    COUNTS,
    FARTHEST_LINEAR,
    FEATURES,
    FIRST_WEIGHT,
    FRESH,
    FRESH_BEST,
    FRESH_LINEAR,
    FRESH_LINEAR_WEIGHT,
    FRESH_START,
    FRESH_WEIGHT,
    LINEAR,
    LINEAR_VIEW,
    LINEARS,
    MARGIN,
    METRIC,
    METRICS,
    NEIGHBOURS,
    NOVELTY,
    OPINIONS,
    PLACES,
    SURVIVED,
    SURVIVED_LINEAR,
    SURVIVED_LINEAR_WEIGHT,
    SURVIVED_WEIGHT,
    USUAL,
    WEIGHTS,
)


@njit(nogil=True)
def ask_linears(x, there, features, counts, singles, biases, constants, work, opinions):
    """Add what the linear views say to the opinions of those they belong to."""
    farthest = constants[FARTHEST_LINEAR]
    if counts[LINEAR]:
        ask_linear(x, there, features, 0, counts[AT_LINEAR], singles, biases, farthest, opinions[LINEAR_VIEW])
    if counts[FRESH]:
        opinions[FRESH_START] *= constants[FRESH_WEIGHT]
    if counts[FRESH_LINEAR]:
        ask_linear(x, there, features, 1, counts[AT_FRESH_LINEAR], singles, biases, farthest, work)
        opinions[FRESH_START] += constants[FRESH_LINEAR_WEIGHT] * work
    if counts[SURVIVED_LINEAR]:
        ask_linear(x, there, features, 2, counts[AT_SURVIVED_LINEAR], singles, biases, farthest, work)
        opinions[SURVIVED] *= constants[SURVIVED_WEIGHT]
        opinions[SURVIVED] += constants[SURVIVED_LINEAR_WEIGHT] * work


@njit(nogil=True)
def hold(opinions, distances, scores, v, metrics, present, constants, novelty):
    """Keep what metric view `v` says in its place; the novelty, which is the newest metric's."""
    score = opinions[FRESH_START] if v == metrics else scores
    log_scores(distances, constants, score)
    if v == metrics - 1 and present > 0 and constants[USUAL] > 0.0:
        novelty = distances.min() / constants[USUAL]
    if v < metrics:
        opinions[METRIC] += constants[FIRST_WEIGHT + v] * score
        opinions[SURVIVED + v] = score
    return novelty


@njit(nogil=True)
def write(opinions, p, novelty, out):
    """The answer behind the scores p of the classes."""
    classes = len(p)
    best, margin = best_of(p)
    fresh_best, _ = best_of(opinions[FRESH_START])
    out[classes + MARGIN], out[classes + NOVELTY] = margin, novelty
    out[classes + BEST], out[classes + FRESH_BEST] = best, fresh_best


@njit(nogil=True)
def answer(values, numbers, counts, singles, exemplars, by_column, lost, out):
    """Scores of the classes, margin, novelty, best class and the fresh start's best of every row of `values`.

    False where a value is missing and `lost`, what that needs beside `by_column`, is empty: lay it out and call again.
    """
    d, classes, metrics = counts[COLUMNS], counts[CLASSES], counts[METRICS]
    asked = metrics + counts[FRESH]
    at = FEATURES * d
    features, constants = numbers[:at].reshape(FEATURES, d), numbers[at : at + CONSTANTS]
    at += CONSTANTS
    mixing = numbers[at : at + OPINIONS * WEIGHTS].reshape(OPINIONS, WEIGHTS)
    at += OPINIONS * WEIGHTS
    biases = numbers[at : at + LINEARS * classes].reshape(LINEARS, classes)
    centres = numbers[at + LINEARS * classes :]
    at = COUNTS + PLACES * asked
    views = counts[COUNTS:at].reshape(asked, PLACES)
    starts = counts[at : at + asked * (classes + 1)].reshape(asked, classes + 1)
    columns = counts[at + asked * (classes + 1) :]
    x, there = np.empty(d), np.empty(d, dtype=np.bool_)
    distances, work = np.empty(classes), np.empty((3, classes))
    scores, opinions = np.empty((2, classes)), np.zeros((OPINIONS, classes))
    for n in range(len(values)):
        present = clean(values[n], features, constants, x, there)
        opinions[METRIC] = 0.0
        novelty = np.inf
        for v in range(asked):
            if not view_distances(
                x,
                there,
                views[v],
                starts[v],
                centres,
                columns,
                singles,
                exemplars[v],
                by_column[v],
                lost,
                constants,
                counts[NEIGHBOURS],
                distances,
            ):
                return False
            novelty = hold(opinions, distances, scores[0], v, metrics, present, constants, novelty)
        ask_linears(x, there, features, counts, singles, biases, constants, work[0], opinions)
        mix(opinions, mixing, constants, counts[ALONE], work, out[n, :classes])
        write(opinions, out[n, :classes], novelty, out[n])
    return True

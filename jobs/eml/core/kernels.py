"""The arithmetic of a prediction, compiled: from raw values to scores, margin and novelty in one call.

Called by `predictor`, which lays the arrays out. All functions are in this one file, and all constants come with the
arrays: the compiled code is kept on disk, and only a change of this file makes it anew.

No sum is reordered (no fastmath) and every row is computed alone, so its bits depend on nothing but itself. Inner
loops run over exemplars or over rows of the metric, which the compiler turns into vector instructions as they are.
"""

import math

import numpy as np
from numba import njit

# Rows of `features`, one value per column of the learner.
SOURCE, IS_AMOUNT, LEVEL, OTHERS, ORIGIN, UNIT, MEAN, LIMIT, CENTRE, SCALE = range(10)
LINEARS = 3  # linear views: of all columns, the fresh start's, the survivors'; CENTRE and SCALE of each
FEATURES = CENTRE + 2 * LINEARS  # rows of them
# Columns of `views`: sizes, and where its parts begin in the flat arrays.
WIDTH, RANK, EXEMPLARS, AT_COLUMNS, AT_SINGLES, AT_LOST, PLACES = range(7)
# `counts`
NEIGHBOURS, METRICS, LINEAR, FRESH, FRESH_LINEAR, SURVIVED_LINEAR, AT_LINEAR, AT_FRESH_LINEAR = range(8)
AT_SURVIVED_LINEAR, ALONE, COLUMNS, CLASSES, COUNTS = range(8, 13)
# `constants`
FURTHEST, FARTHEST, FARTHEST_LINEAR, TINY, EMPTY, TOO_MUCH, SMOOTHING, USUAL, TOGETHER = range(9)
FIRST_WEIGHT, SECOND_WEIGHT, FRESH_WEIGHT, FRESH_LINEAR_WEIGHT = range(9, 13)
SURVIVED_WEIGHT, SURVIVED_LINEAR_WEIGHT, CONSTANTS = range(13, 16)
# Rows of `mixing` are opinions, its columns what is done with them; 0 where an opinion is not asked.
METRIC, SURVIVED, JOINT, LINEAR_VIEW, FRESH_START, OPINIONS = range(6)
CALIBRATION, SHARE, POOLED, WEIGHTS = range(4)
# The last columns of the answer, after the scores of the classes.
MARGIN, NOVELTY, BEST, FRESH_BEST, ANSWERS = range(5)

TILE = 128  # exemplars that are corrected for missing values together: what they need stays in the nearest cache


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
def squared_differences(q, T, D):
    """Squared distances of an embedding q (k,) to exemplars T (k, M)."""
    k, M = T.shape
    D[:] = np.float32(0.0)
    whole = k - k % 4
    for row in range(0, whole, 4):
        a, b, c, d = T[row], T[row + 1], T[row + 2], T[row + 3]
        qa, qb, qc, qd = q[row], q[row + 1], q[row + 2], q[row + 3]
        for m in range(M):
            ga, gb, gc, gd = a[m] - qa, b[m] - qb, c[m] - qc, d[m] - qd
            D[m] += (ga * ga + gb * gb) + (gc * gc + gd * gd)
    for row in range(whole, k):
        a = T[row]
        for m in range(M):
            gap = a[m] - q[row]
            D[m] += gap * gap


@njit(nogil=True)
def add_scaled(factors, rows, E, start, total):
    """Add to total (m,) the sum of some rows of E (d, 2, M), each times its factor, for the exemplars from `start`."""
    n, m = len(factors), len(total)
    whole = n - n % 4
    for i in range(0, whole, 4):
        a, b = E[rows[i], 0, start : start + m], E[rows[i + 1], 0, start : start + m]
        c, d = E[rows[i + 2], 0, start : start + m], E[rows[i + 3], 0, start : start + m]
        fa, fb, fc, fd = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        for j in range(m):
            total[j] += (fa * a[j] + fb * b[j]) + (fc * c[j] + fd * d[j])
    for i in range(whole, n):
        a, fa = E[rows[i], 0, start : start + m], factors[i]
        for j in range(m):
            total[j] += fa * a[j]


@njit(nogil=True)
def correct_by_products(q, A, rows, E, lost, D):
    """Add the sums over some columns (`missing` has the equations): cheaper where they are few."""
    k, s = A.shape
    sign = np.float32(1.0) if lost else np.float32(-1.0)
    slopes, gram = np.zeros(s, dtype=np.float32), np.zeros((s, s), dtype=np.float32)
    for r in range(k):
        a, at = A[r], np.float32(2.0) * sign * q[r]
        for i in range(s):
            slopes[i] += at * a[i]
        for i in range(s):
            mine, g = np.float32(2.0) * a[i], gram[i]
            for j in range(i):
                g[j] += mine * a[j]
            g[i] += a[i] * a[i]
    M = len(D)
    total = np.empty(TILE, dtype=np.float32)
    for start in range(0, M, TILE):
        size = min(TILE, M - start)
        tile, part = D[start : start + size], total[:size]
        for i in range(s):
            part[:] = slopes[i]
            add_scaled(gram[i, : i + 1], rows, E, start, part)
            e, products = E[rows[i], 0, start : start + size], E[rows[i], 1, start : start + size]
            if lost:
                for m in range(size):
                    tile[m] += e[m] * part[m] - products[m]
            else:
                for m in range(size):
                    tile[m] += e[m] * part[m]


@njit(nogil=True)
def corrected_embeddings(q, T, A, rows, E, lost, D):
    """Squared distances to exemplars that are embedded by some columns only: cheaper where those are many."""
    k, M = T.shape
    total = np.empty(TILE, dtype=np.float32)
    for start in range(0, M, TILE):
        size = min(TILE, M - start)
        tile, part = D[start : start + size], total[:size]
        tile[:] = np.float32(0.0)
        for r in range(k):
            part[:] = np.float32(0.0)
            add_scaled(A[r], rows, E, start, part)
            here, mine = T[r, start : start + size], q[r]
            if lost:
                for m in range(size):
                    gap = (mine - here[m]) + part[m]
                    tile[m] += gap * gap
            else:
                for m in range(size):
                    gap = mine - part[m]
                    tile[m] += gap * gap


@njit(nogil=True)
def nearest(D, start, end, found, near):
    """The places of the smallest of D[start:end], smallest first, ties to the first: as many as there is room for."""
    count = len(found)
    for m in range(start, end):
        distance = D[m]
        if not math.isfinite(distance):
            distance = np.float32(np.inf)
        held = m - start
        if held >= count:
            if not distance < near[count - 1]:
                continue
            held = count - 1
        while held > 0 and near[held - 1] > distance:
            near[held], found[held] = near[held - 1], found[held - 1]
            held -= 1
        near[held], found[held] = distance, m


@njit(nogil=True)
def add_gap(q, place, T, U, rows, E, lost, total):
    """Add an exemplar's embedding, by the columns that count, less the sample's."""
    k = len(q)
    gap = np.empty(k, dtype=np.float32)
    by_columns = len(rows) > 0 or not lost
    gap[:] = np.float32(0.0)
    if by_columns:
        for i in range(len(rows)):
            e, direction = E[rows[i], 0, place], U[rows[i]]
            for r in range(k):
                gap[r] += e * direction[r]
    if lost:
        for r in range(k):
            total[r] += (T[r, place] - gap[r]) - q[r]
    else:
        for r in range(k):
            total[r] += gap[r] - q[r]


@njit(nogil=True)
def to_means(q, found, T, U, rows, E, lost):
    """Distance to the means of the nearest one, two, ... exemplars of a class, the nearest counting most."""
    k = len(q)
    total, squares = np.zeros(k, dtype=np.float32), np.zeros(k, dtype=np.float32)
    weight = np.float32(0.0)
    for j in range(len(found)):
        add_gap(q, found[j], T, U, rows, E, lost, total)
        share = np.float32(1.0 / (j + 1))
        weight += share
        for r in range(k):
            mean = share * total[r]
            squares[r] += share * (mean * mean)
    distance = np.float32(0.0)
    for r in range(k):
        distance += squares[r]
    return distance / weight


@njit(nogil=True)
def view_distances(x, there, view, starts, centres, columns, singles, T, E, lost_singles, constants, neighbours, out):
    """Distances (C,) of a cleaned sample to every class; False where what missing values need is not laid out yet."""
    d, k, M = view[WIDTH], view[RANK], view[EXEMPLARS]
    mine = columns[view[AT_COLUMNS] : view[AT_COLUMNS] + d]
    at = view[AT_SINGLES]
    L = singles[at : at + d * k].reshape(d, k)
    q = np.zeros(k, dtype=np.float32)
    missing = 0
    for i in range(d):
        if there[mine[i]]:
            value, direction = np.float32(x[mine[i]] - centres[view[AT_COLUMNS] + i]), L[i]
            for r in range(k):
                q[r] += value * direction[r]
        else:
            missing += 1
    farthest = np.float32(constants[FARTHEST])
    for r in range(k):
        q[r] = min(max(q[r], -farthest), farthest)
    D = np.empty(M, dtype=np.float32)
    lost, by = True, mine[:0]
    U = L
    if missing == 0:
        squared_differences(q, T, D)
    else:
        if len(lost_singles) == 0:
            return False
        at = view[AT_LOST]
        share = lost_singles[at : at + d]
        U = lost_singles[at + d : at + d + d * k].reshape(d, k)
        heavy = 0.0
        for i in range(d):
            if not there[mine[i]]:
                heavy += share[i]
        lost = 2 * missing <= d and heavy <= constants[TOO_MUCH]
        by = np.empty(missing if lost else d - missing, dtype=np.int64)
        n = 0
        for i in range(d):
            if there[mine[i]] != lost:
                by[n] = i
                n += 1
        distances_by_columns(q, T, U, by, E, lost, D)
    found, near = np.empty(neighbours, dtype=np.int64), np.empty(neighbours, dtype=np.float32)
    for c in range(len(out)):
        count = min(neighbours, starts[c + 1] - starts[c])
        out[c] = np.inf
        if count > 0:
            nearest(D, starts[c], starts[c + 1], found[:count], near[:count])
            out[c] = to_means(q, found[:count], T, U, by, E, lost)
    return True


@njit(nogil=True)
def distances_by_columns(q, T, U, by, E, lost, D):
    """Squared distances where both sides lose the columns that the sample does not have."""
    k, s = len(q), len(by)
    A = np.empty((k, s), dtype=np.float32)
    for i in range(s):
        for r in range(k):
            A[r, i] = U[by[i], r]
    if s > 2 * k:
        corrected_embeddings(q, T, A, by, E, lost, D)
        return
    if lost:
        squared_differences(q, T, D)
    else:
        length = np.float32(0.0)
        for r in range(k):
            length += q[r] * q[r]
        D[:] = length
    correct_by_products(q, A, by, E, lost, D)
    for m in range(len(D)):
        D[m] = max(D[m], np.float32(0.0))


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


@njit(nogil=True)
def ask_linear(x, there, features, which, at, singles, biases, farthest, out):
    """What one of the linear views says of a cleaned sample."""
    d, classes = len(x), len(out)
    W = singles[at : at + d * classes].reshape(d, classes)
    centre, scale = features[CENTRE + 2 * which], features[SCALE + 2 * which]
    linear_logits(x, there, centre, scale, W, biases[which], farthest, out)


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
    starts, columns = (
        counts[at : at + asked * (classes + 1)].reshape(asked, classes + 1),
        counts[at + asked * (classes + 1) :],
    )
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
            score = opinions[FRESH_START] if v == metrics else scores[v]
            log_scores(distances, constants, score)
            if v == metrics - 1 and present > 0 and constants[USUAL] > 0.0:
                novelty = distances.min() / constants[USUAL]
            if v < metrics:
                opinions[METRIC] += constants[FIRST_WEIGHT + v] * score
                opinions[SURVIVED + v] = score
        farthest = constants[FARTHEST_LINEAR]
        if counts[LINEAR]:
            ask_linear(x, there, features, 0, counts[AT_LINEAR], singles, biases, farthest, opinions[LINEAR_VIEW])
        if counts[FRESH]:
            opinions[FRESH_START] *= constants[FRESH_WEIGHT]
        if counts[FRESH_LINEAR]:
            ask_linear(x, there, features, 1, counts[AT_FRESH_LINEAR], singles, biases, farthest, work[0])
            opinions[FRESH_START] += constants[FRESH_LINEAR_WEIGHT] * work[0]
        if counts[SURVIVED_LINEAR]:
            ask_linear(x, there, features, 2, counts[AT_SURVIVED_LINEAR], singles, biases, farthest, work[0])
            opinions[SURVIVED] *= constants[SURVIVED_WEIGHT]
            opinions[SURVIVED] += constants[SURVIVED_LINEAR_WEIGHT] * work[0]
        p = out[n, :classes]
        mix(opinions, mixing, constants, counts[ALONE], work, p)
        best, margin = best_of(p)
        fresh_best, _ = best_of(opinions[FRESH_START])
        out[n, classes + MARGIN], out[n, classes + NOVELTY] = margin, novelty
        out[n, classes + BEST], out[n, classes + FRESH_BEST] = best, fresh_best
    return True


def _compiled():
    """The function `answer`, from the disk where it is kept there; only in memory where nothing can be written."""
    table, numbers, whole, single = "f8[:,::1]", "f8[::1]", "i8[::1]", "f4[::1]"
    views = "UniTuple(f4[:,::1],3),UniTuple(f4[:,:,::1],3)"
    signature = f"b1({table},{numbers},{whole},{single},{views},{single},{table})"
    try:
        return njit(signature, nogil=True, cache=True)(answer)
    except (RuntimeError, OSError):  # no folder for it: NUMBA_CACHE_DIR names another
        return njit(signature, nogil=True)(answer)


answer_rows = _compiled()

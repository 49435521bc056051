"""Distances of a sample to the classes under one metric: to the means of its nearest exemplars in each."""

import math

import numpy as np
from numba import njit

from eml.core.kernels.distances import distances_by_columns, squared_differences
from eml.core.kernels.places import AT_COLUMNS, AT_LOST, AT_SINGLES, EXEMPLARS, FARTHEST, RANK, TOO_MUCH, WIDTH


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
def embeddings(found, T, U, rows, E, lost):
    """Embeddings (n, k) of exemplars, by the columns that count."""
    n, k = len(found), len(T)
    out = np.empty((n, k), dtype=np.float32)
    if lost:
        for r in range(k):  # one row of T after the other: each is a page of memory
            row = T[r]
            for j in range(n):
                out[j, r] = row[found[j]]
        if len(rows) == 0:
            return out
    sums = np.empty(k, dtype=np.float32)
    for j in range(n):
        sums[:] = np.float32(0.0)
        for i in range(len(rows)):
            e, direction = E[rows[i], 0, found[j]], U[rows[i]]
            for r in range(k):
                sums[r] += e * direction[r]
        if lost:
            for r in range(k):
                out[j, r] -= sums[r]
        else:
            out[j] = sums
    return out


@njit(nogil=True)
def to_means(q, found, T, U, rows, E, lost):
    """Distance to the means of the nearest one, two, ... exemplars of a class, the nearest counting most."""
    k = len(q)
    near = embeddings(found, T, U, rows, E, lost)
    total, squares = np.zeros(k, dtype=np.float32), np.zeros(k, dtype=np.float32)
    weight = np.float32(0.0)
    for j in range(len(found)):
        for r in range(k):
            total[r] += near[j, r] - q[r]
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
def embed(x, there, columns, centres, L, farthest, q):
    """The embedding of a sample by what it has; how many columns it lacks."""
    d, k = L.shape
    q[:] = np.float32(0.0)
    missing = 0
    for i in range(d):
        if there[columns[i]]:
            value, direction = np.float32(x[columns[i]] - centres[i]), L[i]
            for r in range(k):
                q[r] += value * direction[r]
        else:
            missing += 1
    for r in range(k):
        q[r] = min(max(q[r], -farthest), farthest)
    return missing


@njit(nogil=True)
def counts_lost(there, columns, missing, share, too_much):
    """Whether exemplars are corrected by the columns that a sample lacks, or embedded by those that it has."""
    d = len(columns)
    heavy = 0.0
    for i in range(d):
        if not there[columns[i]]:
            heavy += share[i]
    return 2 * missing <= d and heavy <= too_much


@njit(nogil=True)
def view_distances(x, there, view, starts, centres, columns, singles, T, E, lost_singles, constants, neighbours, out):
    """Distances (C,) of a cleaned sample to every class; False where what missing values need is not laid out yet."""
    d, k, M = view[WIDTH], view[RANK], view[EXEMPLARS]
    at = view[AT_COLUMNS]
    mine, centre = columns[at : at + d], centres[at : at + d]
    at = view[AT_SINGLES]
    L = singles[at : at + d * k].reshape(d, k)
    q, D = np.empty(k, dtype=np.float32), np.empty(M, dtype=np.float32)
    missing = embed(x, there, mine, centre, L, np.float32(constants[FARTHEST]), q)
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
        lost = counts_lost(there, mine, missing, share, constants[TOO_MUCH])
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

"""Squared distances of an embedded sample to exemplars, also of one that lacks values (`missing` has the equations).

Inner loops run over exemplars, which the compiler turns into vector instructions as they are.
"""

import numpy as np
from numba import njit

TILE = 128  # exemplars that are corrected for missing values together: what they need stays in the nearest cache


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

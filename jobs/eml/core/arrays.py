"""The array types of the core, and the operations on rows that everything else stands on."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Array32 = NDArray[np.float32]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

TINY = float(np.finfo(np.float64).tiny)  # keeps a division defined, changes nothing else


def nearest(D: Array | Array32, count: int) -> tuple[Index, Array32]:
    """Columns of the `count` smallest entries of every row of D >= 0, smallest first, and the entries."""
    return unpacked(smallest(packed(D), count))


def packed(D: Array | Array32) -> NDArray[np.int64]:
    """Entries >= 0 (n, m) as integers that sort like them, each with its column in the lower half.

    The bits of a float that is not negative sort like an integer; with the column packed below them
    one partition gives both, several times faster than `argpartition`, and ties go to the first column.
    """
    keys = (D.astype(np.float32) + np.float32(0)).view(np.int32).astype(np.int64)  # + 0: no negative zero
    keys <<= 32
    keys |= np.arange(D.shape[1])
    return keys


def smallest(keys: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The `count` smallest of every row (n, m), in any order."""
    return np.partition(keys, count - 1, axis=1)[:, :count] if count < keys.shape[1] else keys


def unpacked(keys: NDArray[np.int64]) -> tuple[Index, Array32]:
    """Columns and entries (..., count), smallest first."""
    keys = np.sort(keys, axis=-1)
    return (keys & 0xFFFFFFFF).astype(np.intp), (keys >> 32).astype(np.int32).view(np.float32)


def stable_product(A: Array32, B: Array32) -> Array32:
    """A @ B.T with every row of A multiplied alone: its bits depend neither on its batch nor on its place.

    BLAS picks its kernel, and with it the order of a sum, by the shape; but predictions must not depend on
    where a micro-batch was cut. One product per row costs about twice one product for all.
    """
    return np.asarray(np.matmul(A[:, None, :], B.T)[:, 0])


def squared_distances(A: Array, B: Array) -> Array:
    """Squared Euclidean distances between the rows of A (n, k) and B (m, k)."""
    D = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1)[None, :] - 2.0 * (A @ B.T)
    return np.asarray(np.maximum(D, 0.0))


def to_single(A: Array) -> Array:
    """An array with every number rounded to single precision, rows one after another in memory.

    One that has no place in single precision stays as it is; a snapshot keeps either exactly.
    """
    with np.errstate(over="ignore"):
        rounded = A.astype(np.float32).astype(np.float64)
    return np.ascontiguousarray(rounded if np.isfinite(rounded).all() else A)

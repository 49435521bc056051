r"""Lossless bit packing of a table of single-precision numbers: a column takes as many bits as its values need.

Called by `serialization`, for the memory's exemplars. All values of a column are whole multiples of some power of two
(every float is). Where that power is coarse, as for quantized values, codes and flags, the multiples, counted from the
lowest, are small numbers. A column:

    width      u1   bits of each number; 32: the bits of the floats themselves, where nothing smaller holds them
    exponent   i2   numbers are multiples of two to this power
    lowest     f4   what the number 0 stands for

First all widths, then all exponents, then all lowest values; then the numbers, columns of the narrowest width first,
each row after row, highest bit first, each width filled up to whole bytes. Widths of 0 take no bits: one value only.
"""

import math

import numpy as np
from numpy.typing import NDArray

from eml.core.arrays import Array, Array32, Index

WIDEST = 24  # bits of a number; what needs more is kept as floats, of 32 bits
FLOATS = 32
MANTISSA = 24  # bits of a float

Numbers = NDArray[np.uint32]


def pack(X: Array32) -> bytes:
    """A table (n, d) as bytes."""
    X = np.asarray(X, dtype="<f4")
    exponent = _common_exponents(X)
    lowest = X.min(axis=0, initial=np.inf) if len(X) else np.zeros(X.shape[1], dtype=np.float32)
    with np.errstate(all="ignore"):  # what overflows is no small number
        span = (X.max(axis=0, initial=-np.inf).astype(np.float64) - lowest) * _power(-exponent)
    packable = np.isfinite(X).all(axis=0) & ~(np.signbit(X) & (X == 0.0)).any(axis=0) & (span < 1 << WIDEST)
    width = np.where(packable, np.frexp(np.where(packable, span, 0.0))[1], FLOATS).astype(np.uint8)
    exponent, lowest = np.where(packable, exponent, 0), np.where(packable, lowest, np.float32(0.0))
    parts = [width.tobytes(), exponent.astype("<i2").tobytes(), lowest.astype("<f4").tobytes()]
    for bits, columns in _by_width(width):
        if bits == FLOATS:
            numbers = np.ascontiguousarray(X[:, columns]).view(np.uint32)
        else:
            numbers = ((X[:, columns].astype(np.float64) - lowest[columns]) * _power(-exponent[columns])).astype("u4")
        parts.append(_pack_bits(numbers, bits))
    return b"".join(parts)


def unpack(data: memoryview, n: int, d: int) -> tuple[Array32, int]:
    """The table (n, d) at the beginning of bytes, and how many of them it took."""
    width = np.frombuffer(data, np.uint8, d)
    exponent = np.frombuffer(data, "<i2", d, d).astype(np.int64)
    lowest = np.frombuffer(data, "<f4", d, 3 * d).astype(np.float64)
    X, offset = np.empty((n, d), dtype=np.float32), 7 * d
    X[:, width == 0] = lowest[width == 0]
    for bits, columns in _by_width(width):
        size = math.ceil(n * len(columns) * bits / 8)
        numbers = _unpack_bits(np.frombuffer(data, np.uint8, size, offset), (n, len(columns)), bits)
        offset += size
        if bits == FLOATS:
            X[:, columns] = numbers.view(np.float32)
        else:
            X[:, columns] = numbers * _power(exponent[columns]) + lowest[columns]
    return X, offset


def _common_exponents(X: Array32) -> NDArray[np.int64]:
    """Of every column (d,) the highest power of two that all values are multiples of; 0 for a column of zeros."""
    fraction, exponent = np.frexp(np.where(np.isfinite(X), X, 0.0).astype(np.float64))
    whole = (fraction * (1 << MANTISSA)).astype(np.int64)
    last = np.frexp((whole & -whole).astype(np.float64))[1]  # the place of the last bit that is set
    found = np.where(whole != 0, exponent.astype(np.int64) + last - 1 - MANTISSA, np.iinfo(np.int16).max)
    common = found.min(axis=0, initial=np.iinfo(np.int16).max)
    return np.where(common == np.iinfo(np.int16).max, 0, common)


def _power(exponent: NDArray[np.int64]) -> Array:
    return np.asarray(np.ldexp(1.0, exponent.astype(np.int32)))


def _by_width(width: NDArray[np.uint8]) -> list[tuple[int, Index]]:
    """Every width of at least one bit, and the columns that have it."""
    return [(int(bits), np.flatnonzero(width == bits)) for bits in np.unique(width[width > 0])]


def _pack_bits(numbers: Numbers, bits: int) -> bytes:
    room = 16 if bits <= 16 else 32
    shown = np.unpackbits(np.ascontiguousarray(numbers.astype(f">u{room // 8}")).view(np.uint8))
    return np.packbits(shown.reshape(-1, room)[:, room - bits :]).tobytes()


def _unpack_bits(packed: NDArray[np.uint8], shape: tuple[int, int], bits: int) -> Numbers:
    count, room = shape[0] * shape[1], 16 if bits <= 16 else 32
    shown = np.zeros((count, room), dtype=np.uint8)
    shown[:, room - bits :] = np.unpackbits(packed, count=count * bits).reshape(count, bits)
    return np.packbits(shown).view(f">u{room // 8}").astype(np.uint32).reshape(shape)

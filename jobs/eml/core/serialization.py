r"""The byte layout of snapshots and deltas: a JSON header and named arrays, under a checksum.

Called by `snapshot` and `deltas`; knows nothing of learners.

    offset  size  what
    0       4     magic
    4       2     version, little endian
    6       4     CRC-32 of all that follows
    10      4     length of the header
    14      ...   header: JSON; under "arrays" name, kind, shape and bytes of every array
    ...     ...   the arrays, one after another in the header's order

An array takes no more bytes than its numbers need; every number is restored exactly. Kinds:

    <f8 <f4             numbers, little endian; the shorter one where it holds them all
    |u1 <u2 <u4 <i8     whole numbers; the shortest that holds them all
    all none bits       booleans: all true, all false, or one bit each, highest bit first
    columns             a bit-packed table of single precision (`bitpacking`)
"""

import json
import math
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core import bitpacking
from eml.core.errors import SnapshotDamagedError, SnapshotVersionError

HEAD = struct.Struct("<4sHI")  # magic, version, CRC-32
LENGTH = struct.Struct("<I")
FLOATS = ("<f4", "<f8")
WHOLE = ("|u1", "<u2", "<u4", "<i8")

Json = dict[str, Any]
Arrays = dict[str, NDArray[Any]]  # of float64, int64, bool; tables of float32


def encode(magic: bytes, version: int, header: Json, arrays: Arrays) -> bytes:
    """Header and arrays as bytes."""
    table, contents = [], []
    for name, array in arrays.items():
        kind, content = _written(array)
        table.append([name, kind, list(array.shape), len(content)])
        contents.append(content)
    head = to_json({**header, "arrays": table})
    body = b"".join([LENGTH.pack(len(head)), head, *contents])
    return HEAD.pack(magic, version, zlib.crc32(body)) + body


def to_json(value: object) -> bytes:
    """A value as compact JSON."""
    return json.dumps(value, separators=(",", ":")).encode()


def checksum(data: bytes) -> int:
    """The checksum that sealed bytes carry."""
    return int(HEAD.unpack_from(data)[2])


def decode(magic: bytes, version: int, data: bytes) -> tuple[Json, Arrays]:
    """The header, without its table of arrays, and the arrays."""
    body = _checked(magic, version, data)
    with ReportsDamage():
        (length,) = LENGTH.unpack_from(body)
        header: Json = json.loads(bytes(body[LENGTH.size : LENGTH.size + length]))
        arrays, offset = {}, LENGTH.size + length
        for name, kind, shape, size in header.pop("arrays"):
            arrays[name] = _read(name, kind, shape, body[offset : offset + size])
            offset += size
        return header, arrays


class ReportsDamage:
    """Any error while reading bytes with a correct checksum means that they are no snapshot of a learner."""

    def __enter__(self) -> None:
        """Start reading."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Turn any error into SnapshotDamagedError."""
        if isinstance(error, Exception) and not isinstance(error, SnapshotDamagedError):
            raise SnapshotDamagedError(
                f"the snapshot's parts do not fit together ({error!r}): restore an older one"
            ) from error


def _checked(magic: bytes, version: int, data: bytes) -> memoryview:
    """What the checksum covers, if it fits."""
    if len(data) < HEAD.size or data[:4] != magic:
        raise SnapshotDamagedError(
            f"these {len(data)} bytes are no snapshot of a learner (they must start with {magic!r})"
        )
    _, written, expected = HEAD.unpack_from(data)
    if written != version:
        raise SnapshotVersionError(
            f"the snapshot has version {written}, this release reads version {version}: use the release that wrote it"
        )
    body = memoryview(data)[HEAD.size :]
    if zlib.crc32(body) != expected:
        raise SnapshotDamagedError("the snapshot was cut or changed (its checksum does not fit): restore an older one")
    return body


def _written(array: NDArray[Any]) -> tuple[str, bytes]:
    """Kind and bytes of an array."""
    if array.dtype == np.bool_:
        if array.all():
            return "all", b""
        return ("bits", np.packbits(array).tobytes()) if array.any() else ("none", b"")
    if array.dtype == np.float32:
        return "columns", bitpacking.pack(array)
    kinds = FLOATS if array.dtype.kind == "f" else WHOLE
    for kind in kinds:
        with np.errstate(over="ignore", invalid="ignore"):
            short = array.astype(kind)
        if np.array_equal(short, array):
            return kind, short.tobytes()
    return kinds[-1], array.astype(kinds[-1]).tobytes()  # NaN, which equals nothing


def _read(name: str, kind: str, shape: list[int], data: memoryview) -> NDArray[Any]:
    count = math.prod(shape)
    if kind in {"all", "none"}:
        return np.full(shape, kind == "all", dtype=np.bool_)
    if kind == "bits":
        return np.unpackbits(np.frombuffer(data, np.uint8), count=count).reshape(shape).astype(np.bool_)
    if kind == "columns":
        return bitpacking.unpack(data, *shape)[0]
    if kind not in FLOATS + WHOLE:
        raise SnapshotDamagedError(f"the snapshot's array {name} is of type {kind}, which no learner has")
    read = np.frombuffer(data, dtype=kind, count=count).reshape(shape)
    return read.astype(np.float64 if kind in FLOATS else np.int64)

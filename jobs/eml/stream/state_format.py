"""The form of everything a key keeps in state: magic, version, checksum, a description (JSON) and plain bytes.

Called by `models.state_codec`, `labels.label_join`, `waiting_records`, `flink.model_store` and `eml capture`, each
with a magic and a version of its own.
"""

import json
import struct
import zlib
from base64 import b64decode, b64encode
from typing import Any

from eml.core import SnapshotDamagedError, SnapshotVersionError

HEAD = struct.Struct("<4sHII")  # magic, version, CRC-32 of all that follows, bytes of the description


def text_of(data: bytes | None) -> str | None:
    """Bytes as base64 text for JSON; None stays None."""
    return None if data is None else b64encode(data).decode()


def bytes_of(text: str | None) -> bytes | None:
    """The bytes of a base64 text."""
    return None if text is None else b64decode(text)


def pack(magic: bytes, version: int, description: object, content: bytes) -> bytes:
    """Versioned plain bytes."""
    described = json.dumps(description, separators=(",", ":")).encode()
    checksum = zlib.crc32(content, zlib.crc32(described))
    return HEAD.pack(magic, version, checksum, len(described)) + described + content


def unpack(magic: bytes, version: int, data: bytes, what: str) -> tuple[Any, bytes]:
    """The description and the bytes that were packed, by this version or one before; `what` names them in errors."""
    if len(data) < HEAD.size or data[: len(magic)] != magic:
        raise SnapshotDamagedError(f"the bytes of {what} are damaged: restore an older checkpoint")
    _, written, checksum, size = HEAD.unpack_from(data)
    if written > version:
        raise SnapshotVersionError(f"{what} has format {written}, this release reads {version}: upgrade")
    if zlib.crc32(memoryview(data)[HEAD.size :]) != checksum:
        raise SnapshotDamagedError(f"the bytes of {what} are damaged: restore an older checkpoint")
    start = HEAD.size + size
    return json.loads(data[HEAD.size : start]), data[start:]

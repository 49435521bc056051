"""The name of a Kafka key: what predictions call the device, from the bytes that the producer wrote.

Called by the operator with every micro-batch. A key comes as text with one character per byte, so that no two keys
become one on the way; models are kept by these bytes, the name is for people. Knows no registry but the look-up it is
given.
"""

import struct
from collections.abc import Callable

from eml.settings import LimitsSettings
from eml.stream.errors import BadRecordError
from eml.stream.wire import HEADER_SIZE, MAGIC

BAD_KEY = "bad-key"
NO_KEY = "no-key"
WHOLE = {"int": struct.Struct(">i"), "long": struct.Struct(">q")}  # as Java's serializers write them
CONTROLS = frozenset(range(0x20)) | {0x7F}  # no name has these; a number or a frame most often does
SET_FORMAT = 'set record.key_format = "{}"'

Name = Callable[[bytes], str]


def names_of(key_format: str, limits: LimitsSettings) -> Callable[[str], str]:
    """The function from a key to its name; it raises BadRecordError where there is none."""
    read = _text if key_format == "text" else _whole(key_format)

    def name(key: str) -> str:
        if not key:
            raise BadRecordError(NO_KEY, "the record has no key: send each with its device's name")
        if len(key) > limits.key_bytes:
            what = f"the key has {len(key)} bytes, {limits.key_bytes} are allowed (limits.key_bytes)"
            raise BadRecordError("too-large", what)
        return read(key.encode("latin-1"))

    return name


def _text(key: bytes) -> str:
    try:
        name = key.decode()
    except UnicodeDecodeError:
        name = ""
    if not name or not CONTROLS.isdisjoint(key):
        raise BadRecordError(BAD_KEY, f"the key is no text: {_advice(key)}")
    return name


def _advice(key: bytes) -> str:
    """What to set for a key that is no text, from how it looks."""
    likely = [(f"a number of {kind.size} bytes", name) for name, kind in WHOLE.items() if len(key) == kind.size]
    if len(key) > HEADER_SIZE and key[0] == MAGIC:
        likely.append(("Avro in Confluent's framing", "avro"))
    if not likely:
        return "send the device's name in UTF-8, or say with record.key_format what keys are"
    return " or ".join(f"if it is {what}, {SET_FORMAT.format(name)}" for what, name in likely)


def _whole(key_format: str) -> Name:
    layout = WHOLE[key_format]

    def read(key: bytes) -> str:
        if len(key) != layout.size:
            what = f'the key has {len(key)} bytes, not the {layout.size} of record.key_format = "{key_format}"'
            raise BadRecordError(BAD_KEY, what)
        return str(layout.unpack(key)[0])

    return read

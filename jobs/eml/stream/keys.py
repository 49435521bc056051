"""The name of a Kafka key: what predictions call the device, from the bytes that the producer wrote.

Called by the operator with every micro-batch. A key comes as text with one character per byte, so that no two keys
become one on the way; models are kept by these bytes (`KafkaKey`), the name (`KeyName`) is for people. Knows no
registry but the look-up it is given, which for an Avro key returns what `avro.key_schema` made of its schema.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, NewType, Protocol

from eml.settings import LimitsSettings
from eml.stream.errors import BadRecordError, BadSchemaError
from eml.stream.wire import HEADER_SIZE, KEY_SCHEMA, MAGIC, frame_of, named_by

KafkaKey = NewType("KafkaKey", str)  # the bytes of a record's key, one character per byte (latin-1); empty: none
KeyName = NewType("KeyName", str)  # what people read: the device, or the model that many devices share

BAD_KEY = "bad-key"
NO_KEY = "no-key"
WHOLE = {"int": struct.Struct(">i"), "long": struct.Struct(">q")}  # as Java's serializers write them
CONTROLS = frozenset(range(0x20)) | {0x7F}  # no name has these; a number or a frame most often does
SET_FORMAT = 'set record.key_format = "{}"'

Headers = Mapping[str, bytes | None]
ReadKey = Callable[[bytes], KeyName]  # the name, from a key's bytes behind its frame
LookUpKey = Callable[[Any], ReadKey]  # by the SchemaRef of the key's schema


class NameOf(Protocol):
    """The function from a key to its name; the headers of its record may name an Avro key's schema."""

    def __call__(self, key: KafkaKey, headers: Headers | None = None) -> KeyName:
        """The name."""


def names_of(key_format: str, limits: LimitsSettings, look_up: LookUpKey, prefix: int = HEADER_SIZE) -> NameOf:
    """The function from a key to its name.

    It raises BadRecordError where there is none, and what `look_up` raises where an Avro key's schema cannot be had
    now.
    """
    read = _reader(key_format, look_up, prefix)

    def name(key: KafkaKey, headers: Headers | None = None) -> KeyName:
        if not key:
            raise BadRecordError(NO_KEY, "the record has no key: send each with its device's name")
        if len(key) > limits.key_bytes:
            what = f"the key has {len(key)} bytes, {limits.key_bytes} are allowed (limits.key_bytes)"
            raise BadRecordError("too-large", what)
        found = read(key.encode("latin-1"), headers)
        if len(found.encode()) > limits.key_bytes:  # the symbols of an enum are longer than their bytes in the key
            what = f"the key's name has more than the {limits.key_bytes} bytes that are allowed (limits.key_bytes)"
            raise BadRecordError("too-large", what)
        return found

    return name


_Read = Callable[[bytes, Headers | None], KeyName]


def _reader(key_format: str, look_up: LookUpKey, prefix: int) -> _Read:
    if key_format == "avro":
        return _avro(look_up, prefix)
    return _text if key_format == "text" else _whole(key_format)


def _text(key: bytes, _: Headers | None) -> KeyName:
    if not _is_text(key):
        raise BadRecordError(BAD_KEY, f"the key is no text: {_advice(key)}")
    return KeyName(key.decode())


def _is_text(key: bytes) -> bool:
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return CONTROLS.isdisjoint(key)


def _advice(key: bytes) -> str:
    """What to set for a key that is not what it should be, from how it looks."""
    likely = [(f"a number of {kind.size} bytes", name) for name, kind in WHOLE.items() if len(key) == kind.size]
    if _is_text(key):
        likely.insert(0, ("text", "text"))
    if len(key) > HEADER_SIZE and key[0] == MAGIC:
        likely.append(("Avro in Confluent's framing", "avro"))
    if not likely:
        return "send the device's name in UTF-8, or say with record.key_format what keys are"
    return " or ".join(f"if it is {what}, {SET_FORMAT.format(name)}" for what, name in likely)


def _whole(key_format: str) -> _Read:
    layout = WHOLE[key_format]

    def read(key: bytes, _: Headers | None) -> KeyName:
        if len(key) != layout.size:
            what = f'the key has {len(key)} bytes, not the {layout.size} of record.key_format = "{key_format}"'
            raise BadRecordError(BAD_KEY, what)
        return KeyName(str(layout.unpack(key)[0]))

    return read


def _avro(look_up: LookUpKey, prefix: int) -> _Read:
    def read(key: bytes, headers: Headers | None) -> KeyName:
        frame = frame_of(key, headers, prefix, KEY_SCHEMA)
        try:
            schema = named_by(frame)
        except BadRecordError:
            what = "the key does not begin with a zero byte and a schema id, as Confluent's Avro serializers write it"
            raise BadRecordError(BAD_KEY, f"{what}: {_advice(key)}") from None
        try:
            name = look_up(schema)(key[frame.start :])
        except BadSchemaError as error:
            what = f"the key cannot be read: {error} (if keys are not Avro, say with record.key_format what they are)"
            raise BadSchemaError(error.reason, what) from None
        if not CONTROLS.isdisjoint(name.encode()):
            raise BadRecordError(BAD_KEY, "the key's name has control characters: send the device's name without them")
        return name

    return read

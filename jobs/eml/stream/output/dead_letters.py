"""Dead letters: records that cannot be used, and the Kafka records that they become.

Made by `models.record_reader` and by the operator, encoded by `flink.rows`. A dead letter has the original bytes and
headers that say why; it is shortened where it would not fit into a request to the broker, because a request that the
broker refuses would fail the task, and with it every other key. Knows no topic of ours.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from eml.settings import LimitsSettings
from eml.stream.limits import headers_size
from eml.stream.records import REPLAYS, Raw
from eml.stream.wire import SchemaId

CONNECT = "__connect.errors."  # Kafka Connect's names: tools for dead letters know them
OWN = "eml.errors."
EXECUTED_BY = b"eml.stream"
LONGEST_MESSAGE = 1_000  # characters: a header should not outgrow its record
LONGEST_COUNT = 8  # digits of a count of replays
ROOM_FOR_MARKS = 512  # bytes: the headers that say what was shortened


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that cannot be used, and why."""

    raw: Raw
    reason: str  # a short stable word
    error: str  # class name of the error
    message: str
    schema_id: SchemaId | None  # None where the record does not even name one
    of_key: bool = False  # its key is wrong, not its value


@dataclass(frozen=True, slots=True)
class DeadLetterRecord:
    """A dead letter as it is written to Kafka."""

    key: bytes | None
    value: bytes | None
    headers: Mapping[str, bytes | None]


def encode(key: bytes | None, letter: DeadLetter, limits: LimitsSettings) -> DeadLetterRecord:
    """The record's own key, value and headers as far as they fit, and headers with the reason."""
    why = _why(letter)
    marks: dict[str, str] = {}
    shortened = []
    if key is not None and len(key) > limits.key_bytes:
        marks |= _original("key", key)
        key, shortened = key[: limits.key_bytes], ["key"]
    kept = {name: value for name, value in letter.raw.headers.items() if not name.startswith((CONNECT, OWN))}
    if headers_size(kept) > limits.header_bytes:
        kept, shortened = _replays(kept), [*shortened, "headers"]
    room = limits.dead_letter_bytes - len(key or b"") - headers_size(why) - headers_size(kept) - ROOM_FOR_MARKS
    value = letter.raw.value
    if value is not None and len(value) > max(0, room):
        marks |= _original("value", value)
        value, shortened = value[: max(0, room)], [*shortened, "value"]
    if shortened:
        marks[f"{OWN}shortened"] = ",".join(shortened)
    return DeadLetterRecord(key, value, {**kept, **why, **_encoded(marks)})


def _why(letter: DeadLetter) -> dict[str, bytes]:
    """The headers with the reason; those of an earlier dead letter are left out."""
    position = letter.raw.position
    said = {
        f"{CONNECT}topic": position.topic,
        f"{CONNECT}partition": str(position.partition),
        f"{CONNECT}offset": str(position.offset),
        f"{CONNECT}stage": "KEY_CONVERTER" if letter.of_key else "VALUE_CONVERTER",  # Connect's words for it
        f"{CONNECT}exception.class.name": letter.error,
        f"{CONNECT}exception.message": letter.message[:LONGEST_MESSAGE],
        f"{OWN}reason": letter.reason,
        f"{OWN}timestamp": str(position.timestamp_ms),  # the record's: the same record gives the same headers
    }
    if letter.schema_id is not None:
        said[f"{OWN}schema.id"] = str(letter.schema_id)
    return {**_encoded(said), f"{CONNECT}class.name": EXECUTED_BY}


def _replays(headers: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """The count of replays alone: it must outlive headers that are too long."""
    return {REPLAYS: count} if (count := headers.get(REPLAYS)) and len(count) <= LONGEST_COUNT else {}


def _original(part: str, data: bytes) -> dict[str, str]:
    """What is known of a part that was shortened; the record itself stands where the Connect headers say."""
    return {
        f"{OWN}original.{part}.length": str(len(data)),
        f"{OWN}original.{part}.sha256": hashlib.sha256(data).hexdigest(),
    }


def _encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode(errors="replace") for name, text in texts.items()}  # a message may quote broken text

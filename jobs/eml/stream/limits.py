"""Bounds of what a device may send, checked record by record: one that is beyond them is a bad record.

Called by `models.record_reader` before a record is decoded and after, and by the operator. The bounds themselves, with
a reason each, are `settings.LimitsSettings`. Knows no Kafka and no model.
"""

from collections.abc import Iterator, Mapping

from eml.settings import LimitsSettings
from eml.stream.errors import BadRecordError
from eml.stream.records import Raw

TOO_LARGE = "too-large"
TOO_MANY_CLASSES = "too-many-classes"


def check_size(raw: Raw, limits: LimitsSettings) -> None:
    """Raise where a record's value or headers are longer than the limits allow."""
    if raw.value is not None and len(raw.value) > limits.value_bytes:
        raise _too_large("value", len(raw.value), "value_bytes", limits.value_bytes)
    if raw.headers and headers_size(raw.headers) > limits.header_bytes:
        raise _too_large("headers", headers_size(raw.headers), "header_bytes", limits.header_bytes)


def text_problem(event_id: str | None, label: str | None, limits: LimitsSettings) -> BadRecordError | None:
    """What is wrong with the length of a record's event id or label."""
    if event_id is not None and _longer(event_id, limits.event_id_bytes):
        return _too_large("event id", len(event_id.encode()), "event_id_bytes", limits.event_id_bytes)
    if label is not None and _longer(label, limits.label_bytes):
        return _too_large("label", len(label.encode()), "label_bytes", limits.label_bytes)
    return None


def too_many_classes(limits: LimitsSettings) -> BadRecordError:
    """The error of a label that would be one class too many."""
    return BadRecordError(
        TOO_MANY_CLASSES,
        f"the label would be a new class, and the key has {limits.classes} already (limits.classes): is the label field"
        " a class, or does it hold an id or a measurement?",
    )


def record_size(raw: Raw) -> int:
    """Bytes of a record, without its key."""
    return len(raw.value or b"") + (headers_size(raw.headers) if raw.headers else 0)


def in_pieces(records: list[Raw], limits: LimitsSettings) -> Iterator[list[Raw]]:
    """A micro-batch in pieces of at most `batch_records` and, but for single records, `batch_bytes`."""
    start, size = 0, 0
    for number, raw in enumerate(records):
        more = record_size(raw)
        if number > start and (number - start >= limits.batch_records or size + more > limits.batch_bytes):
            yield records[start:number]
            start, size = number, 0
        size += more
    if start < len(records):
        yield records[start:]


def headers_size(headers: Mapping[str, bytes | None]) -> int:
    """Bytes of headers, names and values."""
    return sum(len(name.encode(errors="replace")) + len(value or b"") for name, value in headers.items())


def _longer(text: str, limit: int) -> bool:
    return len(text) > limit or (4 * len(text) > limit and len(text.encode()) > limit)


def _too_large(what: str, size: int, setting: str, limit: int) -> BadRecordError:
    return BadRecordError(TOO_LARGE, f"the {what} has {size} bytes, {limit} are allowed (limits.{setting})")

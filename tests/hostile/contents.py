"""Hostile cases inside a reading or a label: bytes that no honest writer makes, odd numbers, times and classes."""

import json
import math
from collections.abc import Iterator

from eml.stream.avro.varints import write_long
from eml.stream.output.schemas import schema_text
from eml.stream.wire import frame
from tests.hostile.envelopes import JUNK
from tests.hostile.site import LABELS, Hostile, Site, hostile, key_of, reading_fields, record_schema, written
from tests.integration.harness import BEGIN_MS

NUMBERS = bytes(24)
NULLS = b"\0\0\0"
YEAR_0, YEAR_9999 = -62_167_219_200_000, 253_402_300_799_999
LONGS = (-(2**63), 2**63 - 1)
A_YEAR_MS = 31_536_000_000


def records(site: Site) -> Iterator[Hostile]:
    """All of them."""
    yield from _bytes(site)
    yield from _values(site)
    yield from _times(site)
    yield from _labels(site)


def _bytes(site: Site) -> Iterator[Hostile]:
    def payload(content: bytes) -> bytes:
        return frame(site.ordinary, content)

    yield from hostile("empty-value", b"", b"\0", b"\0\0\0\0")
    yield from hostile("frame-only", payload(b""))
    yield from hostile("wrong-magic", b"\x01" + site.value()[1:], b"\0\xff\xff\xff\xff" + NUMBERS)
    yield from hostile("trailing-bytes", site.value() + b"\0", site.value() * 2)
    yield from hostile("truncated", site.value()[:-1], site.value()[:-20])
    yield from hostile("union-index-negative", payload(b"\x01\0\0" + NUMBERS))
    yield from hostile("union-index-too-large", payload(b"\x04\0\0" + NUMBERS), payload(write_long(2**62) + NUMBERS))
    yield from hostile("string-size-negative", payload(b"\x02\x01\0\0" + NUMBERS))
    yield from hostile("string-size-huge", payload(b"\x02" + write_long(2**62) + NUMBERS))
    yield from hostile("varint-endless", payload(b"\x02" + b"\xff" * 5_000))
    yield from hostile("text-not-utf-8", payload(b"\x02\x04\xff\xff\0\0" + NUMBERS))
    array = {"name": "list", "type": {"type": "array", "items": "double"}}
    listed = site.schema(record_schema(reading_fields(array)))
    counts = (2**62, -(2**62), 2**31)
    yield from hostile("array-count-huge", *(frame(listed, NULLS + write_long(count) + NUMBERS) for count in counts))


def _values(site: Site) -> Iterator[Hostile]:
    yield from hostile("nan", site.value(a=math.nan))
    yield from hostile("infinities", site.value(a=math.inf), site.value(b=-math.inf))
    large = [site.value(a=1.7e308 * (-1) ** n, b=5e-324 * n, label=f"class-{n % 2}") for n in range(40)]
    yield from hostile("largest-doubles", *large)


def _times(site: Site) -> Iterator[Hostile]:
    yield from hostile("event-times", *(site.value(event_time=each) for each in (YEAR_0, YEAR_9999, 0, -1, *LONGS)))
    for timestamp_ms in (BEGIN_MS, BEGIN_MS + A_YEAR_MS, YEAR_9999, 1, BEGIN_MS):
        values = [site.value(label=f"class-{number % 2}", a=float(number)) for number in range(10)]
        yield from hostile("kafka-timestamps", *values, timestamp_ms=timestamp_ms)


def _labels(site: Site) -> Iterator[Hostile]:
    yield from hostile("label-empty", *[site.value(label="")] * 9)
    yield from hostile("label-control-characters", *[site.value(label="a\x00b\x1b[2J\u202e")] * 9)
    yield from hostile("reading-twice", *[site.value(event_id="same", label="one")] * 3, site.value(event_id="same"))
    if site.labels:
        yield from _labels_topic(site)


def _labels_topic(site: Site) -> Iterator[Hostile]:
    """Labels before, after, twice, contradicting, of nothing, of another key, too long, and no labels at all."""
    text = schema_text("label")
    nullable = text.replace('"label", "type": "string"', '"label", "type": ["null", "string"]')
    label, unsure = site.schema(text, f"{site.labels}-value"), site.schema(nullable, f"{site.labels}-value")
    readings, joined = "readings-for-labels", "labels-early-late-twice"
    own = key_of(readings)

    def said(event_id: str, name: str | None, key: bytes = own) -> bytes:
        fields = {"key": key.decode(), "event_id": event_id, "label": name, "event_time": None}
        schema_id, wanted = (label, text) if name is not None else (unsure, nullable)
        return written(schema_id, json.dumps(json.loads(wanted)), fields)

    def labels(case: str, *values: bytes | None, key: bytes = own) -> list[Hostile]:
        return hostile(case, *values, key=key, topic=LABELS)

    yield from labels(joined, *(said(f"e{n}", f"class-{n % 2}") for n in range(0, 40, 2)))
    yield from hostile(readings, *(site.value(event_id=f"e{n}", a=float(n % 2)) for n in range(40)))
    yield from labels(joined, *(said(f"e{n}", f"class-{n % 2}") for n in range(40)))
    yield from labels(joined, *(said(f"e{n}", "otherwise") for n in range(10)))
    yield from labels("labels-of-unknown-readings", *(said(f"never-{n}", "class-0") for n in range(1_200)))
    yield from labels("label-without-a-class", said("e1", None))
    yield from labels("label-of-another-key", said("e1", "class-0", b"someone-else"))
    yield from labels("label-record-of-600-kilobytes", said("e1", "l" * 600_000))
    yield from labels("junk-on-the-labels-topic", JUNK, b"")
    yield from labels("reading-on-the-labels-topic", site.value(event_id="stray", label="class-0"))

"""Hostile cases around a reading: how large it is, its headers, its key, ids that nobody knows, tombstones."""

import random
import struct
from collections.abc import Iterator

from eml.stream.avro.varints import write_long
from eml.stream.wire import LARGEST_ID, frame
from tests.hostile.site import Headers, Hostile, Site, hostile

JUNK = b"\x7fjunk"
MANY_LABELS = 4_400  # of LABEL_LENGTH: without a bound on classes one prediction of the key takes 1.06 MB
LABEL_LENGTH = 240  # below limits.label_bytes
FLOOD = 300


def records(site: Site) -> Iterator[Hostile]:
    """All of them."""
    yield from _sizes(site)
    yield from _headers(site)
    yield from _keys(site)
    yield from hostile("tombstones", None, None, None)
    yield from hostile("tombstones", None, key=None)
    dice = random.Random(14)  # noqa: S311  repeatable
    yield from hostile("flood-of-unknown-ids", *(frame(dice.randrange(10**6, LARGEST_ID), b"x") for _ in range(FLOOD)))
    yield from hostile("largest-id", frame(LARGEST_ID, b"x"))


def _sizes(site: Site) -> Iterator[Hostile]:
    good = site.value()
    yield from hostile("junk-of-1048450-bytes", JUNK + bytes(1_048_445), key=b"j")
    yield from hostile("junk-of-8-megabytes-compressed", JUNK + bytes(8_000_000))
    yield from hostile("reading-of-400-kilobytes", site.value(event_id="e" * 400_000))
    yield from hostile("label-of-600-kilobytes", *[site.value(label="l" * 600_000)] * 10)  # a window, and more
    yield from hostile("label-of-2-kilobytes", site.value(label="l" * 2_000))
    yield from hostile("event-id-of-100-kilobytes", site.value(event_id="e" * 100_000))
    yield from hostile("key-of-530-kilobytes", good, good, key=b"k" * 530_000)
    yield from hostile("key-of-2-kilobytes", good, key=b"k" * 2_000)
    labels = (f"{number:05d}".ljust(LABEL_LENGTH, "x") for number in range(MANY_LABELS))
    yield from hostile("many-labels", *(site.value(label=label) for label in labels))


def _headers(site: Site) -> Iterator[Hostile]:
    good = site.value()
    many: Headers = [(f"header-{number}", b"v" * 10) for number in range(1_000)]
    long: Headers = [("long", b"v" * 900_000)]
    yield from hostile("header-null", good, headers=[("nothing", None)])
    yield from hostile("header-null-on-junk", JUNK, headers=[("nothing", None), ("some", b"thing")])
    yield from hostile("header-twice-on-junk", JUNK, headers=[("same", b"first"), ("same", b"second")])
    yield from hostile("headers-1000", good, headers=many)
    yield from hostile("headers-1000-on-junk", JUNK, headers=many)
    yield from hostile("header-of-900-kilobytes", good, headers=long)
    yield from hostile("header-of-900-kilobytes-on-junk", JUNK, headers=long)
    longer: Headers = [("longer", b"v" * 2_000_000)]
    yield from hostile("header-of-2-megabytes-compressed-on-junk", JUNK, headers=longer)
    yield from hostile("header-without-a-name", good, headers=[("", b"value")])
    yield from hostile("header-without-a-name-on-junk", JUNK, headers=[("", b"value")])
    yield from hostile("header-not-utf-8-on-junk", JUNK, headers=[("bytes", b"\xff\xfe\x00"), ("grün\x00", b"")])
    ours: Headers = [("eml.errors.reason", b"forged"), ("__connect.errors.offset", b"0")]
    yield from hostile("header-like-ours-on-junk", JUNK, headers=ours)


def _keys(site: Site) -> Iterator[Hostile]:
    good = site.value()
    yield from hostile("key-empty", good, good, key=b"")
    yield from hostile("key-null", good, good, key=None)
    yield from hostile("key-control-characters", good, key=b"pump\x00\x07\x1b[2J")
    framed = frame(site.ordinary, write_long(6) + b"pump-1")
    yield from hostile("key-avro-framed", good, good, key=framed)
    for number in (1, 65, 2**40, -1):
        yield from hostile("key-long", good, key=struct.pack(">q", number))
    yield from hostile("key-not-utf-8", good, key=b"pump-\xff\xc3")

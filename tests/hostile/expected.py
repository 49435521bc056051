"""How each hostile case must end: the one table to change when a reason is renamed.

Read by `cases`, which takes the names, and by the tests, which compare. A record ends as a prediction, as a dead letter
with a reason, or silently (a tombstone is only counted; a label on its own topic is joined with its reading). Where the
job may decide between two ends, both are listed.
"""

PREDICTION = "prediction"
SILENT = "counted only"

UNSUPPORTED = ("unsupported-schema",)
TOO_LARGE = ("too-large",)
NO_TEXT = ("bad-key",)
TAKEN = (PREDICTION,)
OR_REFUSED = (PREDICTION, *UNSUPPORTED)

ENDS: dict[str, tuple[str, ...]] = {
    # -- sizes (fault 1) --
    "junk-of-1048450-bytes": ("too-large", "not-framed"),
    "junk-of-8-megabytes-compressed": ("too-large", "not-framed"),
    "reading-of-400-kilobytes": TOO_LARGE,
    "label-of-600-kilobytes": TOO_LARGE,
    "label-of-2-kilobytes": TOO_LARGE,
    "key-of-530-kilobytes": TOO_LARGE,
    "key-of-2-kilobytes": TOO_LARGE,
    "event-id-of-100-kilobytes": TOO_LARGE,
    "many-labels": (PREDICTION, "too-many-classes"),
    # -- the registry (faults 2 and 5) --
    "flood-of-unknown-ids": ("unknown-schema", "waiting-full"),
    "largest-id": ("unknown-schema",),
    # -- headers (fault 3) --
    "header-null": TAKEN,
    "header-null-on-junk": ("not-framed",),
    "header-twice-on-junk": ("not-framed",),
    "headers-1000": (PREDICTION, *TOO_LARGE),
    "headers-1000-on-junk": ("not-framed", *TOO_LARGE),
    "header-of-900-kilobytes": TOO_LARGE,
    "header-of-900-kilobytes-on-junk": ("not-framed", *TOO_LARGE),
    "header-of-2-megabytes-compressed-on-junk": ("not-framed", *TOO_LARGE),
    "header-without-a-name": TAKEN,
    "header-without-a-name-on-junk": ("not-framed",),
    "header-not-utf-8-on-junk": ("not-framed",),
    "header-like-ours-on-junk": ("not-framed",),
    # -- evolutions (faults 10 and 11) --
    "renames-crossed": TAKEN,
    "alias-twice": OR_REFUSED,
    "foreign-subjects": ("foreign-subject",),
    # -- keys (fault 14) --
    "key-empty": ("no-key",),
    "key-null": ("no-key",),
    "key-control-characters": NO_TEXT,
    "key-avro-framed": NO_TEXT,
    "key-long": NO_TEXT,
    "key-not-utf-8": NO_TEXT,
    # -- tombstones (fault 15) --
    "tombstones": (SILENT,),
    # -- hostile schemas (design/stream.md, section 4) --
    "schema-recursive": UNSUPPORTED,
    "schema-recursive-through-an-array": UNSUPPORTED,
    "schema-6000-deep": UNSUPPORTED,
    "schema-expands": UNSUPPORTED,
    "schema-defaults-expand": OR_REFUSED,
    "schema-zero-byte-items": UNSUPPORTED,
    "schema-huge-decimal": OR_REFUSED,
    "schema-20000-fields": UNSUPPORTED,
    "schema-5000-features": UNSUPPORTED,
    "schema-2000-features": TAKEN,
    "schema-duplicate-fields": UNSUPPORTED,
    "schema-path-as-name": UNSUPPORTED,
    "schema-path-as-field": UNSUPPORTED,
    "schema-of-3-megabytes": UNSUPPORTED,
    "schema-not-json": UNSUPPORTED,
    "schema-lone-surrogate": OR_REFUSED,
    "schema-without-features": UNSUPPORTED,
    "label-of-type-double": UNSUPPORTED,
    "label-of-type-record": UNSUPPORTED,
    "event-time-of-type-string": UNSUPPORTED,
    "event-id-of-type-bytes": UNSUPPORTED,
    "key-field-of-type-long": UNSUPPORTED,
    "enum-changes": TAKEN,
    # -- hostile bytes --
    "empty-value": ("not-framed",),
    "frame-only": ("truncated",),
    "wrong-magic": ("not-framed",),
    "trailing-bytes": ("trailing-bytes",),
    "truncated": ("truncated",),
    "union-index-negative": ("bad-value",),
    "union-index-too-large": ("bad-value",),
    "enum-index-negative": ("bad-value",),
    "string-size-negative": ("bad-value",),
    "string-size-huge": ("truncated",),
    "varint-endless": ("bad-value",),
    "text-not-utf-8": ("bad-value",),
    "array-count-huge": ("truncated", "bad-value"),
    "nan": ("not-finite",),
    "infinities": ("not-finite",),
    "largest-doubles": TAKEN,
    # -- times (fault 13) --
    "event-times": TAKEN,
    "kafka-timestamps": TAKEN,
    # -- labels --
    "label-empty": TAKEN,
    "label-control-characters": TAKEN,
    "reading-twice": TAKEN,
    "readings-for-labels": TAKEN,
    "labels-early-late-twice": (SILENT,),
    "labels-of-unknown-readings": (SILENT,),
    "label-without-a-class": ("no-label",),
    "label-of-another-key": ("wrong-key",),
    "label-record-of-600-kilobytes": TOO_LARGE,
    "junk-on-the-labels-topic": ("not-framed",),
    "reading-on-the-labels-topic": (SILENT, "no-label"),
    # -- while the registry is away (a run of its own) --
    "waiting-list-full": (PREDICTION, "waiting-full"),
    "headers-while-waiting": TAKEN,
}

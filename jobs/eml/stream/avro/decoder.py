"""The decoder of one writer schema: from the values of a micro-batch to arrays for the learner.

Made by `reading_schema`, with the readers of `decode_plan`. Own code, because payloads may be hostile: every record
ends in exactly one of `rows` and `bad`, and no other error comes out. Knows no name of a feature.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from eml.core.arrays import Array, Mask
from eml.stream.avro.decode_plan import ColumnBlock, Leaf, Role, make_plan
from eml.stream.avro.field_readers import NAN, not_finite
from eml.stream.avro.varints import bad_value, read_longs, truncated
from eml.stream.errors import BadRecordError


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a micro-batch holds; one entry per good record everywhere but in `bad`."""

    rows: list[int]  # positions in the batch, ascending
    values: Array  # (rows, features), NaN for null
    labels: list[str | None]
    event_ids: list[str | None]
    event_times: list[int | None]  # milliseconds since 1970 UTC
    keys: list[str | None]
    kafka_keys: list[str | None]  # that a label says its reading has
    bad: list[tuple[int, BadRecordError]]  # position in the batch, ascending, and what is wrong

    def only(self, kept: list[int]) -> "Decoded":
        """The same with only some of the good records."""
        return self.at(kept, [self.rows[row] for row in kept], self.bad)

    def at(self, kept: list[int], rows: list[int], bad: list[tuple[int, BadRecordError]]) -> "Decoded":
        """Some of the good records, as a batch with other positions and other bad records."""
        return Decoded(
            rows,
            self.values[kept],
            labels=[self.labels[row] for row in kept],
            event_ids=[self.event_ids[row] for row in kept],
            event_times=[self.event_times[row] for row in kept],
            keys=[self.keys[row] for row in kept],
            kafka_keys=[self.kafka_keys[row] for row in kept],
            bad=bad,
        )


class Decoder:
    """Decodes the values of one schema."""

    def __init__(self, leaves: Sequence[Leaf], *, reject: bool) -> None:
        self._plan = make_plan(leaves, reject=reject)
        self._reject = reject

    def decode(self, values: Sequence[bytes], start: int = 0) -> Decoded:
        """Decode records whose payloads begin at byte `start` of `values`."""
        rows, items, bad = self._read(values, start)
        features = np.empty((len(rows), self._plan.width))
        refused = self._fill(features, items)
        if refused is not None:
            bad = sorted([*bad, *((rows[row], not_finite()) for row in np.flatnonzero(refused))], key=lambda b: b[0])
            kept = np.flatnonzero(~refused).tolist()
            rows, features = [rows[row] for row in kept], features[kept]
            items = [item for row in kept for item in items[row * self._plan.items : (row + 1) * self._plan.items]]
        return Decoded(
            rows,
            features,
            labels=self._column("label", items, len(rows)),
            event_ids=self._column("event_id", items, len(rows)),
            event_times=self._column("event_time", items, len(rows)),
            keys=self._column("key", items, len(rows)),
            kafka_keys=self._column("kafka_key", items, len(rows)),
            bad=bad,
        )

    def _read(
        self, values: Sequence[bytes], start: int
    ) -> tuple[list[int], list[Any], list[tuple[int, BadRecordError]]]:
        """Run the readers over every record: the good ones, their items one after the other, and the bad ones."""
        rows: list[int] = []
        items: list[Any] = []
        bad: list[tuple[int, BadRecordError]] = []
        readers, complete = self._plan.readers, 0
        for row, data in enumerate(values):
            pos = start
            try:
                for read in readers:
                    pos = read(data, pos, items)
            except (BadRecordError, IndexError, UnicodeDecodeError) as error:
                bad.append((row, _as_bad_record(error)))
            else:
                if pos == len(data):
                    rows.append(row)
                    complete = len(items)
                    continue
                bad.append((row, _wrong_length(len(data) - pos)))
            del items[complete:]
        return rows, items, bad

    def _fill(self, features: Array, items: list[Any]) -> Mask | None:
        """Fill in the features; the records that are refused for them."""
        refused: Mask | None = None
        if not items:
            return None
        with np.errstate(invalid="ignore"):  # a signalling NaN among floats is no reason to warn: it is looked for
            for block in self._plan.blocks:
                finite = _fill_block(features[:, block.columns], block, items[block.item :: self._plan.items])
                if finite is not None and self._reject:
                    unfit = ~finite.all(axis=1)
                    refused = unfit if refused is None else refused | unfit
        return refused

    def _column(self, role: Role, items: list[Any], count: int) -> list[Any]:
        place = self._plan.item_of.get(role)
        return [None] * count if place is None else items[place :: self._plan.items]


def _fill_block(part: Array, block: ColumnBlock, items: list[Any]) -> Mask | None:
    """Fill in a block's columns; which values are finite, unless all are. The others become NaN."""
    if block.encoding == "list":  # its readers have looked at every value
        part[...] = np.fromiter(chain.from_iterable(items), np.float64, part.size).reshape(part.shape)
        return None
    if block.encoding == "longs":
        part[...] = read_longs(b"".join(items)).reshape(part.shape)
        return None
    if block.numbers is not None:
        doubled = np.frombuffer(b"".join(items), np.uint8).reshape(part.shape)
        part[...] = block.numbers[np.arange(part.shape[1]), doubled >> 1]
        return None
    pieces = np.frombuffer(b"".join(items), block.encoding).reshape(part.shape)
    part[...] = pieces["value"]
    finite = np.isfinite(part)
    if block.null is not None:
        part[pieces["branch"] == block.null] = NAN
    if finite.all():
        return None
    part[~finite] = NAN
    return finite


def _as_bad_record(error: BadRecordError | IndexError | UnicodeDecodeError) -> BadRecordError:
    """What a reader's error says of its record."""
    if isinstance(error, BadRecordError):
        return error.with_traceback(None)  # which would keep the whole micro-batch alive
    return truncated() if isinstance(error, IndexError) else bad_value("a string that is not UTF-8")


def _wrong_length(left: int) -> BadRecordError:
    if left < 0:
        return truncated()
    return BadRecordError("trailing-bytes", f"{left} bytes follow the record")

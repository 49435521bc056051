"""A device opened: its newest predictions, its curve, where its accuracy fell, and the lines that have these records.

Called by `fleet_view`; decodes predictions only now, with the function it is given. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eml.watch import dips, fleet_accuracy, lines
from eml.watch.device import Device
from eml.watch.times import read_at
from eml.watch.views import DeviceDetail, Mark, PredictionRow

ReadPrediction = Callable[[bytes], Mapping[str, Any]]
Named = Callable[[int], str]  # a schema version, by the registry's id of the schema


def view(device: Device, marks: Sequence[Mark], read: ReadPrediction, named: Named, options: str) -> DeviceDetail:
    """All that there is to see; `options` are those of the command line."""
    rows = [_row(read(value), written_ms, device, named) for written_ms, value in reversed(device.rows)]
    bins = list(device.curve.bins()) if device.curve else []
    falls = dips.find(bins)
    return DeviceDetail(
        row=device.row("" if device.version is None else named(device.version)),
        predictions=rows,
        accuracy=fleet_accuracy.view(bins, marks),
        dips=falls,
        commands=_commands(device, rows, falls, options),
    )


def _row(fields: Mapping[str, Any], written_ms: int, device: Device, named: Named) -> PredictionRow:
    partition, offset = fields["source_partition"], fields["source_offset"]
    return PredictionRow(
        event_id=fields["event_id"] or "",
        time_ms=read_at(fields["source_timestamp"], written_ms),
        label=fields["label"],
        truth=fields["truth"] if fields["truth"] is not None else device.truths.get((partition, offset)),
        scores=dict(fields["scores"]),
        margin=fields["margin"],
        novelty=fields["novelty"],
        version=named(fields["schema_id"]),
        stage=fields["stage"],
        late=fields["late"],
        source=f"{fields['source_topic']}/{partition}/{offset}",
    )


def _commands(device: Device, rows: Sequence[PredictionRow], falls: Sequence[dips.Dip], options: str) -> list[str]:
    """For the newest fall, or where there is none for the predictions that are shown."""
    if falls:
        first_ms, last_ms, _ = falls[0]
    elif rows:
        first_ms, last_ms = min(row.time_ms for row in rows), max(row.time_ms for row in rows)
    else:
        return []
    return lines.capture(device.key, first_ms, last_ms, options)

"""An evolution tried beforehand: the models of captured records meet a schema that no device sends yet.

Called by `eml check`. The records go through the job's own logic (`local.replay`) up to the last labelled readings of
each model. From there on a model goes three ways: as it is; with the vanished features taken away, as if they were
missing; and evolved, with the T-stage over its memory. On each way it predicts every one of those readings before its
label is learnt. New features are missing on all of them: what they bring nobody knows yet.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eml.core import EvolvingMetricLearner, FeatureSpace, Takeover
from eml.core.arrays import Array
from eml.local.record_lines import Arrived, Entry, Registered
from eml.local.replay import Replay, model_name
from eml.local.schema_book import SchemaBook
from eml.settings import Settings
from eml.stream.avro.micro_batch import decode
from eml.stream.models.align_columns import align_columns
from eml.stream.models.reading_batch import Results
from eml.stream.models.record_reader import LabelGroup, RecordReader
from eml.stream.models.version_model import VersionModel

HELD_OUT = 3  # one in so many labelled readings of a model: the last ones
MOST_HELD_OUT = 200  # of a model
MOST_MODELS = 100  # those with the most labels


@dataclass(slots=True)
class LabelledReading:
    """A reading of the file whose label is known."""

    entry: int  # its place in the file
    space: FeatureSpace
    values: Array  # (d,)
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How one model predicted its last labelled readings on each way: right or wrong, by reading."""

    model: str
    learnt: int  # labels it had learnt
    now: tuple[bool, ...]
    without: tuple[bool, ...]
    evolved: tuple[bool, ...]
    takeovers: Mapping[str, Takeover] = field(default_factory=dict)
    warm: bool = True


def rehearse(settings: Settings, entries: Sequence[Entry], new: FeatureSpace) -> list[Rehearsal]:
    """Try the evolution with the models of captured records, those with the most labels first."""
    labelled = _labelled(settings, entries)
    chosen = sorted(labelled, key=lambda model: -len(labelled[model]))[:MOST_MODELS]
    held = {model: _held_out(labelled[model]) for model in chosen}
    held = {model: readings for model, readings in held.items() if readings}
    models = _models(settings, entries, {model: readings[0].entry for model, readings in held.items()})
    return [
        _rehearse(model, models[model], settings, readings, len(labelled[model]) - len(readings), new)
        for model, readings in held.items()
        if model in models
    ]


def take_stock(name: str, snapshot: bytes, new: FeatureSpace) -> Rehearsal:
    """What the survivors of a model's snapshot know of its vanished features; it holds no readings to try it with."""
    learner = EvolvingMetricLearner.restore(snapshot)
    report = learner.evolve(new)
    return Rehearsal(name, 0, (), (), (), report.takeovers, report.warm)


def _held_out(readings: list[LabelledReading]) -> list[LabelledReading]:
    """The last labelled readings, of the version that the model was on at the end."""
    count = min(len(readings) // HELD_OUT, MOST_HELD_OUT)
    last = readings[len(readings) - count :]
    return [one for one in last if one.space == last[-1].space]


def _rehearse(
    name: str,
    model: VersionModel,
    settings: Settings,
    readings: list[LabelledReading],
    learnt: int,
    new: FeatureSpace,
) -> Rehearsal:
    model.wake()
    model.learn(settings.learning)  # as before an evolution: what waits in the window is learnt
    space, snapshot = model.space, model.snapshot()
    values = align_columns(np.stack([one.values for one in readings]), readings[0].space, space)
    taken_away = values.copy()
    taken_away[:, space.columns(space.diff(new).vanished)] = np.nan
    evolved = EvolvingMetricLearner.restore(snapshot)
    report = evolved.evolve(new)

    size = settings.learning.window_records

    def way(learner: EvolvingMetricLearner, of_way: Array) -> tuple[bool, ...]:
        return tuple(_play(learner, of_way, [one.label or "" for one in readings], size))

    return Rehearsal(
        name,
        learnt,
        way(EvolvingMetricLearner.restore(snapshot), values),
        way(EvolvingMetricLearner.restore(snapshot), taken_away),
        way(evolved, align_columns(values, space, new)),
        report.takeovers,
        report.warm,
    )


def _play(learner: EvolvingMetricLearner, values: Array, labels: Sequence[str], size: int) -> Iterator[bool]:
    """Predict a window of readings, then learn it, and the next; whether each was right.

    Windows are of the same size on all ways: a new space begins with short ones, and whoever learns sooner is right
    more often where neighbours in time are alike. That has nothing to do with features.
    """
    for start in range(0, len(labels), size):
        window = slice(start, start + size)
        said = learner.predict_many(values[window]).labels
        yield from (one == label for one, label in zip(said, labels[window], strict=True))
        learner.learn(values[window], labels[window])


# -- from the file -----------------------------------------------------------------------------------------------------


def _models(settings: Settings, entries: Sequence[Entry], cuts: Mapping[str, int]) -> dict[str, VersionModel]:
    """The models, each as it was before the first reading that is held out of it."""
    replay = Replay(settings, cut=settings.learning.window_records)
    kept = (
        entry
        for number, entry in enumerate(entries)
        if isinstance(entry, Registered) or number < cuts.get(model_name(settings.model, entry), 0)
    )
    for _ in replay.run(kept):
        pass
    states = {name: model.state.models for name, model in replay.models.items()}
    return {name: state.current for name, state in states.items() if state is not None}


def _labelled(settings: Settings, entries: Sequence[Entry]) -> dict[str, list[LabelledReading]]:
    """The labelled readings of each model, whether the label came inside or on its own topic."""
    book, reader = SchemaBook(settings), RecordReader(settings)
    readings: dict[str, list[LabelledReading]] = {}
    waiting: dict[tuple[str, str, str], LabelledReading] = {}  # by model, device and event
    early: dict[tuple[str, str, str], str] = {}
    for number, entry in enumerate(entries):
        if isinstance(entry, Registered):
            book.add(entry)
            continue
        model = model_name(settings.model, entry)
        for group in reader.read([entry.raw], book.look_up, decode, Results()):
            if isinstance(group, LabelGroup):
                _add_label(entry, model, group, waiting, early)
                continue
            event, label = group.names.event_ids[0], group.names.labels[0]
            name = (model, entry.key, event or "")
            one = LabelledReading(number, group.schema.space, group.values[0], label or early.get(name))
            readings.setdefault(model, []).append(one)
            if event is not None and one.label is None:
                waiting[name] = one
    return {model: [one for one in found if one.label is not None] for model, found in readings.items()}


def _add_label(
    entry: Arrived,
    model: str,
    group: LabelGroup,
    waiting: dict[tuple[str, str, str], LabelledReading],
    early: dict[tuple[str, str, str], str],
) -> None:
    event, label = group.decoded.event_ids[0], group.decoded.labels[0]
    if event is None or label is None:
        return
    name = (model, entry.key, event)
    reading = waiting.pop(name, None)
    if reading is None:
        early.setdefault(name, label)
    else:
        reading.label = label

"""A key's models as bytes and back, in parts by how often they change; each with a magic, a version and a checksum.

    model     EMLK  the current version's learner: a base   when it learnt, evolved or an evolution was announced
    changes   EMLC  a log of what changed in it since       while that is less than the base
    others    EMLL  the learners of versions that were left
    window    EMLW  all windows, counts and scores          with most micro-batches, so it must stay small
    labels    EMLJ  readings and labels that wait: a log of pieces (`labels.label_join`)

The parts are called the same in Flink's state. Called by `flink.model_store`, which writes them, by `isolation` and by
tests; what one release wrote, every later one reads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from eml.core import EvolvingMetricLearner
from eml.settings import Settings
from eml.stream.key_clock import KeyClock
from eml.stream.keys import KeyName
from eml.stream.labels.label_join import LabelJoin
from eml.stream.models.drift import DriftDetector
from eml.stream.models.first_model import FirstModel, first_model
from eml.stream.models.key_model import KeyModel, drift_sensitivity
from eml.stream.models.key_state import KeyState
from eml.stream.models.recovery import Scores
from eml.stream.models.version_model import Version, VersionModel
from eml.stream.models.version_models import ModelLog, VersionModels
from eml.stream.models.warm_start import WarmStartModels
from eml.stream.models.window import Window
from eml.stream.state_format import pack, unpack
from eml.stream.wire import SchemaId

MODEL, MODEL_VERSION = b"EMLK", 3
CHANGES, CHANGES_VERSION = b"EMLC", 1
WINDOW, WINDOW_VERSION = b"EMLW", 2
OTHERS, OTHERS_VERSION = b"EMLL", 3


@dataclass(slots=True)
class StateParts:
    """What state holds of a key."""

    model: bytes | None = None
    window: bytes | None = None
    others: bytes | None = None
    labels: list[bytes] = field(default_factory=list)  # pieces
    changes: list[bytes] = field(default_factory=list)  # pieces; those of a former `model` are to be removed


@dataclass(slots=True)
class StateUpdate(StateParts):
    """What is to be written: None where nothing changed; pieces are added to those before."""

    all_labels: bytes | None = None  # in place of all pieces of labels


# -- write -------------------------------------------------------------------------------------------------------------


def has_changes(key: KeyModel) -> bool:
    """Whether something may have changed since `take_changes`; a join is asked there."""
    return key.join is not None or key.state.has_unwritten


def take_changes(key: KeyModel, *, everything: bool = False, log: bool = False) -> StateUpdate:
    """What changed since the last call, or all there is; from now on it counts as written.

    With a `log`, only what changed in the current model; without one it is written whole with every change.
    """
    state, update = key.state, StateUpdate()
    if state.models is not None:
        unwritten = {part: everything or changed for part, changed in state.unwritten().items()}
        if unwritten["model"]:
            piece = dump_changes(state) if log and not everything else None
            update.changes = [piece] if piece is not None else []
            update.model = dump_model(state) if piece is None else None
        update.others = dump_others(state) if unwritten["others"] else None
        update.window = dump_window(state) if unwritten["window"] else None
        state.mark_written(**unwritten)
    if key.join is not None:
        _take_label_changes(key.join, update, everything=everything)
    return update


def _take_label_changes(join: LabelJoin, update: StateUpdate, *, everything: bool) -> None:
    if everything or join.is_outgrown:
        update.all_labels = join.take_all()
    else:
        piece = join.take_changes()
        update.labels = [piece] if piece is not None else []


def take_all(key: KeyModel) -> StateParts:
    """Everything that is kept of a key; from now on it counts as written."""
    update = take_changes(key, everything=True)
    labels = [update.all_labels] if update.all_labels is not None else []
    return StateParts(update.model, update.window, update.others, labels)


def dump_model(state: KeyState) -> bytes:
    """The current model as a base, and a new log of changes after it."""
    learner = state.current.learner
    base = pack(MODEL, MODEL_VERSION, _position(state), learner.start_log())
    state.version_models.log = ModelLog(learner, len(base))
    return base


def dump_changes(state: KeyState) -> bytes | None:
    """The next piece of the log; None where a new base is needed, or costs less."""
    log = state.version_models.log
    if log is None or log.is_outgrown or log.learner is not state.current.learner:
        return None
    changes = log.learner.changes()
    if changes is None:
        return None
    piece = pack(CHANGES, CHANGES_VERSION, _position(state), changes)
    log.later += len(piece)
    return piece


def _position(state: KeyState) -> dict[str, Any]:
    """Which versions the key is on, was on and prepares for."""
    announced = _plain(state.announced) if state.announced is not None else None
    return {"current": _plain(state.current.version), "known": state.version_models.known, "announced": announced}


def dump_others(state: KeyState) -> bytes:
    """The learners of versions that were left."""
    description, snapshots = [], []
    for model in state.version_models.others:
        snapshots.append(model.snapshot())
        description.append([_plain(model.version), model.is_serialized, len(snapshots[-1])])
    return pack(OTHERS, OTHERS_VERSION, description, b"".join(snapshots))


def dump_window(state: KeyState) -> bytes:
    """All windows, and what is small and changes often."""
    models = state.version_models
    windows, contents = [], []
    for name, model in _named(models):
        description, content = model.window.dump()
        windows.append([name, model.last_ms, model.drifted, description, len(content)])
        contents.append(content)
    counts = {
        "windows": windows,
        "other": [models.late_schema, models.late_count],
        "scores": state.scores.dump(),
        "drift": state.drift.dump(),
        "clock": state.clock.dump(),
    }
    return pack(WINDOW, WINDOW_VERSION, counts, b"".join(contents))


# -- read --------------------------------------------------------------------------------------------------------------


def load(key: KeyName, settings: Settings, parts: StateParts, warm_start: WarmStartModels | None = None) -> KeyModel:
    """The key whose parts were written; a new one where nothing was."""
    loaded = KeyModel(key, settings, warm_start)
    if loaded.join is not None:
        learning = settings.learning
        loaded.join = LabelJoin.load(learning.labels_kept, learning.label_wait_ms, parts.labels)
    if parts.model is not None:
        first = first_model(settings.learning.first_model) if settings.learning.first_model else None
        what = f"the model of key {key!r}"
        loaded.state.models = _load_model(loaded.state, parts.model, parts.changes, first, what)
        if parts.others is not None:
            _load_others(loaded.state.models, parts.others, f"the former models of key {key!r}")
        if parts.window is not None:
            _load_window(loaded.state, settings, parts.window, f"the window of key {key!r}")
    return loaded


def _load_model(
    state: KeyState, base: bytes, pieces: Sequence[bytes], first: FirstModel | None, what: str
) -> VersionModels:
    position, snapshot = unpack(MODEL, MODEL_VERSION, base, what)
    changes = []
    for piece in pieces:
        position, change = unpack(CHANGES, CHANGES_VERSION, piece, what)
        changes.append(change)
    announced = position["announced"]
    state.announced = _version(announced) if announced else None
    learner = first.unchanged(snapshot) if first is not None and not changes else None
    learner = learner or EvolvingMetricLearner.restore(snapshot, changes)
    current = VersionModel.with_learner(_version(position["current"]), learner)
    current.learner_changed = False
    log = ModelLog(learner, len(base), sum(map(len, pieces)))
    return VersionModels(current, known=list(map(SchemaId, position["known"])), log=log)


def _load_others(models: VersionModels, data: bytes, what: str) -> None:
    description, content = unpack(OTHERS, OTHERS_VERSION, data, what)
    start = 0
    for version, is_serialized, size in description:
        snapshot = content[start : start + size]
        start += size
        if is_serialized:
            model = VersionModel(_version(version), serialized=snapshot)
        else:
            model = VersionModel.with_learner(_version(version), EvolvingMetricLearner.restore(snapshot))
        model.learner_changed = False
        models.others.append(model)


def _load_window(state: KeyState, settings: Settings, data: bytes, what: str) -> None:
    description, content = unpack(WINDOW, WINDOW_VERSION, data, what)
    models = state.version_models
    named = dict(_named(models))
    start = 0
    for name, last_ms, drifted, window, size in description["windows"]:
        model = named.get(name)
        if model is not None:
            model.last_ms, model.drifted = last_ms, drifted
            model.window = Window.load(window, content[start : start + size])
        start += size
    late_schema, models.late_count = description["other"]
    models.late_schema = SchemaId(late_schema)
    state.scores = Scores.load(settings.learning.recovery_records, description["scores"])
    state.drift = DriftDetector.load(drift_sensitivity(settings), description["drift"])
    state.clock = KeyClock.load(description["clock"])


def _named(models: VersionModels) -> Iterator[tuple[str, VersionModel]]:
    """All models under names that last; `head` is what the first release called the current one."""
    yield "head", models.current
    yield from ((str(model.version.id), model) for model in models.others)


def _plain(version: Version) -> list[Any]:
    return [version.id, version.subject, version.version]


def _version(plain: Sequence[Any]) -> Version:
    schema_id, subject, version = plain
    return Version(SchemaId(schema_id), subject, version)

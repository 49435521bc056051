"""A key's models as bytes and back, in parts by how often they change; each with a magic, a version and a checksum.

    model     EMLK  the head's learner: a base              when it learnt, evolved or was told of an evolution
              EMLC  and a log of what changed in it         while that is less than the base
    others    EMLL  the learners of versions left
    small     EMLW  all windows, counts and scores          with most micro-batches, so it must stay small
    labels    EMLJ  readings and labels that wait: a log of pieces (`labels`)

Called by the operator; what one release wrote, every later one reads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from eml.core import EvolvingMetricLearner
from eml.settings import Settings
from eml.stream.key_clock import Clock
from eml.stream.labels.label_join import LabelJoin
from eml.stream.models.drift import DriftDetector
from eml.stream.models.key_model import KeyModel
from eml.stream.models.recovery import Scores
from eml.stream.models.version_model import Line, Version
from eml.stream.models.version_models import Lines, ModelLog
from eml.stream.models.version_routing import Moves
from eml.stream.models.warm_start import Donors
from eml.stream.models.window import Window
from eml.stream.state_format import pack, unpack

MODEL, MODEL_VERSION = b"EMLK", 3
MODEL_CHANGES, MODEL_CHANGES_VERSION = b"EMLC", 1
SMALL, SMALL_VERSION = b"EMLW", 2
OTHERS, OTHERS_VERSION = b"EMLL", 3


def model_changed(moves: Moves) -> bool:
    """Whether `dump_model` would write something new."""
    return moves.lines is not None and (moves.changed or moves.lines.head.changed)


def others_changed(moves: Moves) -> bool:
    """Whether `dump_others` would."""
    return moves.lines is not None and (moves.others_changed or any(line.changed for line in moves.lines.former))


def small_changed(moves: Moves) -> bool:
    """Whether `dump_small` would."""
    return moves.lines is not None and (
        moves.small_changed or any(line.window_changed for _, line in _named(moves.lines))
    )


def dump_model(moves: Moves) -> bytes:
    """The head's learner, and where the key stands: a base that pieces go on from."""
    lines = _lines(moves)
    base = pack(MODEL, MODEL_VERSION, _standing(moves), lines.head.learner.start_log())
    lines.log = ModelLog(lines.head.learner, len(base))
    moves.changed = lines.head.changed = False
    return base


def dump_model_changes(moves: Moves) -> bytes | None:
    """What changed in them since the last base or piece; None where a new base is needed, or is worth it."""
    lines = _lines(moves)
    log = lines.log
    if log is None or log.outgrown or log.learner is not lines.head.learner:
        return None
    changes = log.learner.changes()
    if changes is None:
        return None
    piece = pack(MODEL_CHANGES, MODEL_CHANGES_VERSION, _standing(moves), changes)
    log.later += len(piece)
    moves.changed = lines.head.changed = False
    return piece


def _standing(moves: Moves) -> dict[str, Any]:
    """Where the key stands."""
    lines = _lines(moves)
    announced = _plain(moves.announced) if moves.announced is not None else None
    return {"current": _plain(lines.head.version), "known": lines.known, "announced": announced}


def dump_others(moves: Moves) -> bytes:
    """The other learners."""
    lines = _lines(moves)
    moves.others_changed = False
    description, snapshots = [], []
    for line in lines.former:
        line.changed = False
        snapshots.append(line.snapshot())
        description.append([_plain(line.version), line.sleeps, len(snapshots[-1])])
    return pack(OTHERS, OTHERS_VERSION, description, b"".join(snapshots))


def dump_small(moves: Moves) -> bytes:
    """What is small and changes often."""
    lines = _lines(moves)
    moves.small_changed = False
    windows, contents = [], []
    for name, line in _named(lines):
        line.window_changed = False
        description, content = line.window.dump()
        windows.append([name, line.last_ms, line.drifted, description, len(content)])
        contents.append(content)
    counts = {
        "windows": windows,
        "other": [lines.other, lines.other_count],
        "scores": moves.scores.dump(),
        "drift": moves.drift.dump(),
        "clock": moves.clock.dump(),
    }
    return pack(SMALL, SMALL_VERSION, counts, b"".join(contents))


@dataclass(slots=True)
class Parts:
    """What is kept of a key."""

    model: bytes | None = None
    small: bytes | None = None
    others: bytes | None = None
    labels: list[bytes] = field(default_factory=list)
    model_changes: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class Changes(Parts):
    """What is to be written: None and nothing where nothing changed; pieces are added to those before.

    With a new `model` the pieces of the one before are to be removed.
    """

    all_labels: bytes | None = None  # in place of all pieces


def has_changes(key: KeyModel) -> bool:
    """Whether something may have changed since `take_changes`; a join is asked there."""
    moves = key.moves
    return key.join is not None or model_changed(moves) or small_changed(moves) or others_changed(moves)


def take_changes(key: KeyModel, *, everything: bool = False, log: bool = False) -> Changes:
    """What changed since the last call, or all there is; of the head only the changes where there is a `log` for them.

    Where there is none the whole head is written with every change of it.
    """
    moves, join, changes = key.moves, key.join, Changes()
    if moves.lines is not None:
        if everything or model_changed(moves):
            piece = dump_model_changes(moves) if log and not everything else None
            changes.model_changes = [piece] if piece is not None else []
            changes.model = dump_model(moves) if piece is None else None
        changes.others = dump_others(moves) if everything or others_changed(moves) else None
        changes.small = dump_small(moves) if everything or small_changed(moves) else None
    if join is not None and (everything or join.outgrown):
        changes.all_labels = join.whole()
    elif join is not None:
        piece = join.changes()
        changes.labels = [piece] if piece is not None else []
    return changes


def take_all(key: KeyModel) -> Parts:
    """Everything that is kept of a key."""
    all_ = take_changes(key, everything=True)
    labels = [all_.all_labels] if all_.all_labels is not None else []
    return Parts(all_.model, all_.small, all_.others, labels)


def load(key: str, settings: Settings, parts: Parts, donors: Donors | None = None) -> KeyModel:
    """The key whose parts were taken; a new one where nothing was."""
    loaded = KeyModel(key, settings, donors)
    if loaded.join is not None:
        learning = settings.learning
        loaded.join = LabelJoin.load(learning.labels_kept, learning.label_wait_ms, parts.labels)
    if parts.model is not None:
        loaded.moves.lines = _load_model(loaded.moves, parts, f"the model of key {key!r}")
        if parts.others is not None:
            _load_others(loaded.moves.lines, parts.others, f"the former models of key {key!r}")
        if parts.small is not None:
            _load_small(loaded.moves, settings, parts.small, f"the window of key {key!r}")
    return loaded


def _load_model(moves: Moves, parts: Parts, what: str) -> Lines:
    base = parts.model or b""
    standing, snapshot = unpack(MODEL, MODEL_VERSION, base, what)
    changes = []
    for piece in parts.model_changes:
        standing, change = unpack(MODEL_CHANGES, MODEL_CHANGES_VERSION, piece, what)
        changes.append(change)
    announced = standing["announced"]
    moves.announced = Version(*announced) if announced else None
    head = Line.of(Version(*standing["current"]), EvolvingMetricLearner.restore(snapshot, changes))
    head.changed = False
    log = ModelLog(head.learner, len(base), sum(map(len, parts.model_changes)))
    return Lines(head, known=standing["known"], log=log)


def _load_others(lines: Lines, data: bytes, what: str) -> None:
    description, content = unpack(OTHERS, OTHERS_VERSION, data, what)
    start = 0
    for version, sleeps, size in description:
        snapshot = content[start : start + size]
        start += size
        if sleeps:
            line = Line(Version(*version), asleep=snapshot)
        else:
            line = Line.of(Version(*version), EvolvingMetricLearner.restore(snapshot))
        line.changed = False
        lines.former.append(line)


def _load_small(moves: Moves, settings: Settings, data: bytes, what: str) -> None:
    description, content = unpack(SMALL, SMALL_VERSION, data, what)
    lines = _lines(moves)
    named = dict(_named(lines))
    start = 0
    for name, last_ms, drifted, window, size in description["windows"]:
        line = named.get(name)
        if line is not None:
            line.last_ms, line.drifted = last_ms, drifted
            line.window = Window.load(window, content[start : start + size])
        start += size
    lines.other, lines.other_count = description["other"]
    moves.scores = Scores.load(settings.learning.recovery_records, description["scores"])
    moves.drift = DriftDetector.load(moves.sensitivity, description["drift"])
    moves.clock = Clock.load(description["clock"])


def _named(lines: Lines) -> Iterator[tuple[str, Line]]:
    """All lines under names that last."""
    yield "head", lines.head
    yield from ((str(line.version.id), line) for line in lines.former)


def _plain(version: Version) -> Sequence[Any]:
    return [version.id, version.subject, version.version]


def _lines(moves: Moves) -> Lines:
    if moves.lines is None:
        raise RuntimeError("there is nothing to dump before the first reading")
    return moves.lines

r"""Learner to plain bytes and back, exactly; the form in which a learner lives in Flink's state and in files.

    offset  size  what
    0       4     magic "EMLS"
    4       2     version, little endian
    6       4     CRC-32 of all that follows
    10      4     length of the header
    14      ...   header: JSON with every scalar, and name, type and shape of every array
    ...     ...   the arrays, little endian, one after another in the header's order

No pickle and no class names: any language can read it. From release 1.0 on every released version stays readable; the
golden file of this one is in tests/fixtures.
"""

import json
import math
import struct
import zlib
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eml.core.config import LearnerConfig
from eml.core.errors import SnapshotDamagedError, SnapshotVersionError
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.linear import Linear
from eml.core.memory import Memory
from eml.core.mixture import Expert, Mixture
from eml.core.report import Evolution, Takeover
from eml.core.state import Fresh, State, Upcoming
from eml.core.statistics import Statistics
from eml.core.views import Pooling, Tally, View

MAGIC = b"EMLS"
VERSION = 5
HEAD = struct.Struct("<4sHI")  # magic, version, CRC-32
LENGTH = struct.Struct("<I")
COUNTERS = ("usual", "learnt", "revision", "since", "resting", "rest", "taken", "refused", "cut", "missing")
LATER = ("widened", "unstepped")  # written only where they are not zero
LINEAR = ("W", "b", "centre", "scale")  # a linear view's arrays
TYPES = ("<f8", "<f4", "<i8", "|u1")  # what an array may be; anything else is no snapshot of ours

Json = dict[str, Any]


class _Arrays:
    """Arrays by name, in order."""

    def __init__(self) -> None:
        self.parts: dict[str, NDArray[Any]] = {}

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Take an array, as little endian and contiguous."""
        kind = {"f4": "<f4", "f8": "<f8", "i8": "<i8", "u1": "|u1"}[f"{array.dtype.kind}{array.dtype.itemsize}"]
        self.parts[name] = np.ascontiguousarray(array, dtype=kind)

    def table(self) -> list[list[Any]]:
        """Name, type and shape of each."""
        return [[name, a.dtype.str, list(a.shape)] for name, a in self.parts.items()]


def dump(state: State, config: LearnerConfig) -> bytes:
    """The state and its settings as bytes."""
    arrays = _Arrays()
    for owner, statistics in (("now", state.statistics), ("attic", state.attic_statistics)):
        for field, array in zip(fields(Statistics), statistics.fields(), strict=True):
            arrays.put(f"{owner}.{field.name}", array)
    memory = state.memory
    arrays.put("memory.X", memory.X)
    arrays.put("memory.observed", np.packbits(memory.observed))
    arrays.put("memory.y", memory.y.astype(np.int64))
    arrays.put("memory.seen", memory.seen)
    if memory.stale.any():
        arrays.put("memory.stale", memory.stale.astype(np.uint8))
    arrays.put("pooling.w", state.pooling.w)
    arrays.put("pooling.curvature", state.pooling.curvature)
    for i, view in enumerate(state.views):
        arrays.put(f"view{i}.columns", view.columns.astype(np.int64))
        arrays.put(f"view{i}.L", view.L)
    _put_optional(arrays, state)
    _put_experts(arrays, state)
    header: Json = {
        "config": asdict(config),
        "space": _space(state.space),
        "rng": state.rng.bit_generator.state,
        "classes": state.classes,
        "stage": state.stage,
        "counters": _counters(state),
        "views": [v.name for v in state.views],
        "mixture": _mixture(state.mixture),
        "tallies": {name: [tally.hits, tally.trials] for name, tally in state.tallies.items()},
        "retired": [] if state.linear is None else list(state.linear.retired),
        "fresh": state.fresh is not None,
        "upcoming": _upcoming(state.upcoming),
        "attic": list(state.attic),
        "returned": list(state.returned),
        "evolution": _evolution(state.evolution),
        "arrays": arrays.table(),
    }
    head = json.dumps(header, separators=(",", ":")).encode()
    body = b"".join([LENGTH.pack(len(head)), head, *(array.tobytes() for array in arrays.parts.values())])
    return HEAD.pack(MAGIC, VERSION, zlib.crc32(body)) + body


def _counters(state: State) -> Json:
    always = {name: getattr(state, name) for name in COUNTERS}
    return always | {name: getattr(state, name) for name in LATER if getattr(state, name)}


def _put_optional(arrays: _Arrays, state: State) -> None:
    for i, column in enumerate(state.attic.values()):
        arrays.put(f"attic{i}", column)
    for i, column in enumerate(state.returned.values()):
        arrays.put(f"returned{i}", column)
    if state.upcoming is not None and state.upcoming.Ls is not None and state.upcoming.explained is not None:
        arrays.put("upcoming.Ls", state.upcoming.Ls)
        arrays.put("upcoming.explained", state.upcoming.explained)


def _put_experts(arrays: _Arrays, state: State) -> None:
    if state.linear is not None:
        _put_linear(arrays, "linear", state.linear)
        for i, weights in enumerate(state.linear.retired.values()):
            arrays.put(f"linear.retired{i}", weights)
    if state.fresh is not None:
        arrays.put("fresh.L", state.fresh.view.L)
        arrays.put("fresh.w", state.fresh.pooling.w)
        arrays.put("fresh.curvature", state.fresh.pooling.curvature)
        arrays.put("memory.recent", np.packbits(state.memory.recent))
        if state.fresh.linear is not None:
            _put_linear(arrays, "fresh.linear", state.fresh.linear)
    arrays.put("mixture.w", state.mixture.pooling.w)
    arrays.put("mixture.curvature", state.mixture.pooling.curvature)


def _put_linear(arrays: _Arrays, owner: str, linear: Linear) -> None:
    for name in LINEAR:
        arrays.put(f"{owner}.{name}", getattr(linear, name))


def _mixture(mixture: Mixture) -> Json:
    experts = {
        name: [float(e.calibration.w[0]), float(e.calibration.curvature[0, 0]), e.prior, e.share]
        for name, e in mixture.experts.items()
    }
    return {"experts": experts, "pooled": mixture.pooled, "together": mixture.together}


def load(data: bytes) -> tuple[State, LearnerConfig]:
    """The state and its settings from bytes."""
    body = _checked(data)
    try:
        (length,) = LENGTH.unpack_from(body)
        header: Json = json.loads(bytes(body[LENGTH.size : LENGTH.size + length]))
        return _state(header, _arrays(header["arrays"], body[LENGTH.size + length :]))
    except SnapshotDamagedError:
        raise
    except Exception as error:  # sealed by a right checksum and yet not ours: whatever fails, it is no snapshot
        raise SnapshotDamagedError(
            f"the snapshot's parts do not fit together ({error!r}): restore an older one"
        ) from error


def _checked(data: bytes) -> memoryview:
    """What the checksum covers, if it fits."""
    if len(data) < HEAD.size or data[:4] != MAGIC:
        raise SnapshotDamagedError(
            f"these {len(data)} bytes are no snapshot of a learner (they must start with {MAGIC!r})"
        )
    _, version, checksum = HEAD.unpack_from(data)
    if version != VERSION:
        raise SnapshotVersionError(
            f"the snapshot has version {version}, this release reads version {VERSION}: use the release that wrote it"
        )
    body = memoryview(data)[HEAD.size :]
    if zlib.crc32(body) != checksum:
        raise SnapshotDamagedError("the snapshot was cut or changed (its checksum does not fit): restore an older one")
    return body


def _arrays(table: list[list[Any]], body: memoryview) -> dict[str, NDArray[Any]]:
    found, offset = {}, 0
    for name, kind, shape in table:
        if kind not in TYPES:
            raise SnapshotDamagedError(f"the snapshot's array {name} is of type {kind}, which no learner has")
        count = math.prod(shape)
        found[name] = np.frombuffer(body, dtype=kind, count=count, offset=offset).reshape(shape).copy()
        offset += count * np.dtype(kind).itemsize
    return found


def _state(header: Json, arrays: dict[str, NDArray[Any]]) -> tuple[State, LearnerConfig]:
    config = LearnerConfig(**{**header["config"], "steps": tuple(header["config"]["steps"])})
    rng = np.random.default_rng()
    rng.bit_generator.state = header["rng"]
    X = arrays["memory.X"]
    observed = np.unpackbits(arrays["memory.observed"], count=X.size).reshape(X.shape).astype(np.bool_)
    y, stale = arrays["memory.y"].astype(np.intp), arrays.get("memory.stale", np.zeros(len(X))).astype(np.bool_)
    memory = Memory(config.memory_size, config.refresh, X, observed, y, arrays["memory.seen"], stale)
    state = State(_read_space(header["space"]), _statistics("now", arrays), memory, rng)
    state.classes, state.stage = header["classes"], header["stage"]
    for name in COUNTERS:
        setattr(state, name, header["counters"][name])
    for name in LATER:
        setattr(state, name, header["counters"].get(name, 0))
    state.pooling = Pooling(arrays["pooling.w"], arrays["pooling.curvature"])
    state.views = [
        View(name, arrays[f"view{i}.columns"].astype(np.intp), arrays[f"view{i}.L"])
        for i, name in enumerate(header["views"])
    ]
    state.attic = {name: arrays[f"attic{i}"] for i, name in enumerate(header["attic"])}
    state.attic_statistics = _statistics("attic", arrays)
    state.returned = {int(column): arrays[f"returned{i}"] for i, column in enumerate(header["returned"])}
    _read_experts(state, header, arrays)
    if header["upcoming"] is not None:
        steps, space = header["upcoming"]["steps"], _read_space(header["upcoming"]["space"])
        state.upcoming = Upcoming(space, arrays.get("upcoming.Ls"), arrays.get("upcoming.explained"), steps)
    state.evolution = _read_evolution(header["evolution"])
    state.refresh()
    return state, config


def _read_experts(state: State, header: Json, arrays: dict[str, NDArray[Any]]) -> None:
    if "linear.W" in arrays:
        state.linear = _read_linear("linear", arrays)
        state.linear.retired = {name: arrays[f"linear.retired{i}"] for i, name in enumerate(header["retired"])}
    state.tallies = {name: Tally(*counts) for name, counts in header["tallies"].items()}
    if header["fresh"]:
        view = View("fresh", np.arange(len(state.space)), arrays["fresh.L"], recent=True)
        pooling = Pooling(arrays["fresh.w"], arrays["fresh.curvature"])
        linear = _read_linear("fresh.linear", arrays) if "fresh.linear.W" in arrays else None
        state.fresh = Fresh(view, linear, pooling)
        state.memory.recent = np.unpackbits(arrays["memory.recent"], count=len(state.memory)).astype(np.bool_)
    mixture = header["mixture"]
    experts = {
        name: Expert(Pooling(np.array([w]), np.array([[curvature]])), *rest)
        for name, (w, curvature, *rest) in mixture["experts"].items()
    }
    pooling = Pooling(arrays["mixture.w"], arrays["mixture.curvature"])
    state.mixture = Mixture(experts, tuple(mixture["pooled"]), pooling, mixture["together"])


def _read_linear(owner: str, arrays: dict[str, NDArray[Any]]) -> Linear:
    W, b, centre, scale = (arrays[f"{owner}.{name}"] for name in LINEAR)
    return Linear(W, b, centre, scale)


def _statistics(owner: str, arrays: dict[str, NDArray[Any]]) -> Statistics:
    return Statistics(*(arrays[f"{owner}.{field.name}"] for field in fields(Statistics)))


def _space(space: FeatureSpace) -> Json:
    return {"names": list(space.names), "aliases": {name: list(former) for name, former in space.aliases.items()}}


def _read_space(data: Json) -> FeatureSpace:
    return FeatureSpace(tuple(data["names"]), {name: tuple(former) for name, former in data["aliases"].items()})


def _upcoming(upcoming: Upcoming | None) -> Json | None:
    return None if upcoming is None else {"space": _space(upcoming.space), "steps": upcoming.steps}


def _evolution(evolution: Evolution | None) -> Json | None:
    if evolution is None:
        return None
    change = evolution.change
    return {
        "vanished": change.vanished,
        "survived": change.survived,
        "augmented": change.augmented,
        "former": dict(change.former),
        "announced": evolution.announced,
        "transform_steps": evolution.transform_steps,
        "warm": evolution.warm,
        "returned": evolution.returned,
        "takeovers": {name: [t.share, t.by] for name, t in evolution.takeovers.items()},
    }


def _read_evolution(data: Json | None) -> Evolution | None:
    if data is None:
        return None
    vanished, survived, augmented = (tuple(data[key]) for key in ("vanished", "survived", "augmented"))
    change = FeatureChange(vanished, survived, augmented, data["former"])
    takeovers = {name: Takeover(share, by) for name, (share, by) in data["takeovers"].items()}
    return Evolution(
        change, data["announced"], data["transform_steps"], data["warm"], tuple(data["returned"]), takeovers
    )

"""A learner to plain bytes and back, exactly: the format of a learner in Flink's state and in files.

Called by the learner and by `deltas`. No pickle and no class names: any language can read it (`serialization` has the
layout). The parts of a learner are named JSON values, which make up the header, and named arrays; `deltas` compares and
replaces them one by one. Some names in the bytes are older than the names in the code: `attic` are retired columns,
`tallies` running accuracies, `grain` is the memory's resolution. From release 1.0 on every released version stays
readable; the golden file of this version is in tests/fixtures.
"""

from collections.abc import Iterable
from dataclasses import asdict, fields

import numpy as np

from eml.core.arrays import Array
from eml.core.config import LearnerConfig
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.linear import Linear
from eml.core.memory import Memory
from eml.core.mixture import Expert, Mixture
from eml.core.report import Evolution, Takeover
from eml.core.serialization import Arrays, Json, ReportsDamage, decode, encode
from eml.core.state import Fresh, State, Survivors, Upcoming
from eml.core.statistics import Statistics
from eml.core.views import Pooling, RunningAccuracy, View

MAGIC = b"EMLS"
VERSION = 7
COUNTERS = ("typical_distance", "learnt", "revision", "since", "resting", "rest", "taken", "refused", "cut", "missing")
LATER = ("widened", "unstepped")  # written only where they are not zero
NAMES = {"one_hot": "spell", "arcsinh": "squash", "typical_distance": "usual"}  # -> the name in the bytes, if another
LINEAR = ("W", "b", "centre", "scale")  # a linear view's arrays
EXEMPLARS = ("X", "observed", "y", "stale", "recent")  # the memory's arrays with a row for each exemplar


def dump(state: State, config: LearnerConfig) -> bytes:
    """The state and its settings as bytes."""
    return encode(MAGIC, VERSION, *parts(state, config))


def load(data: bytes) -> tuple[State, LearnerConfig]:
    """The state and its settings from bytes."""
    return build(*read(data))


def read(data: bytes) -> tuple[Json, Arrays]:
    """The parts that bytes hold."""
    return decode(MAGIC, VERSION, data)


def build(header: Json, arrays: Arrays) -> tuple[State, LearnerConfig]:
    """The state and its settings from their parts."""
    with ReportsDamage():
        return _state(header, arrays)


def parts(state: State, config: LearnerConfig) -> tuple[Json, Arrays]:
    """All that a learner is."""
    header: Json = {
        "config": {NAMES.get(name, name): value for name, value in asdict(config).items()},
        "space": _space(state.space),
        "rng": state.rng.bit_generator.state,
        "classes": state.classes,
        "stage": state.stage,
        "counters": _counters(state),
        "views": [v.name for v in state.views],
        "mixture": _mixture(state.mixture),
        "tallies": {name: [accuracy.hits, accuracy.trials] for name, accuracy in state.accuracies.items()},
        "retired": [] if state.linear is None else list(state.linear.retired),
        "fresh": state.fresh is not None,
        "survivors": state.survivors is not None,
        "upcoming": _upcoming(state.upcoming),
        "attic": list(state.retired_columns),
        "returned": list(state.returned),
        "evolution": _evolution(state.evolution),
    }
    return header, _arrays(state) | _expert_arrays(state)


def _arrays(state: State) -> Arrays:
    arrays: Arrays = {}
    for owner, statistics in (("now", state.statistics), ("attic", state.retired_statistics)):
        for field, array in zip(fields(Statistics), statistics.fields(), strict=True):
            arrays[f"{owner}.{field.name}"] = array
    for name in (*EXEMPLARS, "seen"):
        arrays[f"memory.{name}"] = getattr(state.memory, name)
    arrays["memory.grain"] = state.memory.resolution
    arrays |= {"pooling.w": state.pooling.w, "pooling.curvature": state.pooling.curvature}
    for i, view in enumerate(state.views):
        arrays |= {f"view{i}.columns": view.columns, f"view{i}.L": view.L}
    arrays |= _numbered("attic", state.retired_columns.values()) | _numbered("returned", state.returned.values())
    if state.upcoming is not None and state.upcoming.Ls is not None and state.upcoming.explained is not None:
        arrays |= {"upcoming.Ls": state.upcoming.Ls, "upcoming.explained": state.upcoming.explained}
    return arrays


def _expert_arrays(state: State) -> Arrays:
    arrays: Arrays = {}
    if state.linear is not None:
        arrays |= _linear_arrays("linear", state.linear)
        arrays |= _numbered("linear.retired", state.linear.retired.values())
    if state.fresh is not None:
        pooling = state.fresh.pooling
        arrays |= {"fresh.L": state.fresh.view.L, "fresh.w": pooling.w, "fresh.curvature": pooling.curvature}
        if state.fresh.linear is not None:
            arrays |= _linear_arrays("fresh.linear", state.fresh.linear)
    if state.survivors is not None:
        pooling = state.survivors.pooling
        arrays |= {"survivors.w": pooling.w, "survivors.curvature": pooling.curvature}
        arrays |= _linear_arrays("survivors.linear", state.survivors.linear)
    pooling = state.mixture.pooling
    return arrays | {"mixture.w": pooling.w, "mixture.curvature": pooling.curvature}


def _linear_arrays(owner: str, linear: Linear) -> Arrays:
    return {f"{owner}.{name}": getattr(linear, name) for name in LINEAR}


def _numbered(owner: str, columns: Iterable[Array]) -> Arrays:
    return {f"{owner}{i}": column for i, column in enumerate(columns)}


def _counters(state: State) -> Json:
    always = {NAMES.get(name, name): getattr(state, name) for name in COUNTERS}
    return always | {name: getattr(state, name) for name in LATER if getattr(state, name)}


def _mixture(mixture: Mixture) -> Json:
    experts = {
        name: [float(e.calibration.w[0]), float(e.calibration.curvature[0, 0]), e.prior, e.share]
        for name, e in mixture.experts.items()
    }
    return {"experts": experts, "pooled": mixture.pooled, "together": mixture.pooled_share}


def _state(header: Json, arrays: Arrays) -> tuple[State, LearnerConfig]:
    config = _read_config(header["config"])
    rng = np.random.default_rng()
    rng.bit_generator.state = header["rng"]
    X, observed, y, stale, recent = (arrays[f"memory.{name}"] for name in EXEMPLARS)
    memory = Memory(config.memory_size, config.refresh, X, observed, y.astype(np.intp), arrays["memory.seen"])
    memory.stale, memory.recent, memory.resolution = stale, recent, arrays["memory.grain"]
    state = State(_read_space(header["space"]), _statistics("now", arrays), memory, rng)
    state.classes, state.stage = header["classes"], header["stage"]
    for name in COUNTERS:
        setattr(state, name, header["counters"][NAMES.get(name, name)])
    for name in LATER:
        setattr(state, name, header["counters"].get(name, 0))
    state.pooling = Pooling(arrays["pooling.w"], arrays["pooling.curvature"])
    state.views = [
        View(name, arrays[f"view{i}.columns"].astype(np.intp), arrays[f"view{i}.L"])
        for i, name in enumerate(header["views"])
    ]
    state.retired_columns = {name: arrays[f"attic{i}"] for i, name in enumerate(header["attic"])}
    state.retired_statistics = _statistics("attic", arrays)
    state.returned = {int(column): arrays[f"returned{i}"] for i, column in enumerate(header["returned"])}
    _read_experts(state, header, arrays)
    if header["upcoming"] is not None:
        steps, space = header["upcoming"]["steps"], _read_space(header["upcoming"]["space"])
        state.upcoming = Upcoming(space, arrays.get("upcoming.Ls"), arrays.get("upcoming.explained"), steps)
    state.evolution = _read_evolution(header["evolution"])
    state.refresh()
    return state, config


def _read_config(data: Json) -> LearnerConfig:
    names = {written: name for name, written in NAMES.items()}
    return LearnerConfig(
        **{**{names.get(name, name): value for name, value in data.items()}, "steps": tuple(data["steps"])}
    )


def _read_experts(state: State, header: Json, arrays: Arrays) -> None:
    if "linear.W" in arrays:
        state.linear = _read_linear("linear", arrays)
        state.linear.retired = {name: arrays[f"linear.retired{i}"] for i, name in enumerate(header["retired"])}
    state.accuracies = {name: RunningAccuracy(*counts) for name, counts in header["tallies"].items()}
    if header["fresh"]:
        view = View("fresh", np.arange(len(state.space)), arrays["fresh.L"], recent=True)
        pooling = Pooling(arrays["fresh.w"], arrays["fresh.curvature"])
        linear = _read_linear("fresh.linear", arrays) if "fresh.linear.W" in arrays else None
        state.fresh = Fresh(view, linear, pooling)
    if header["survivors"]:
        theirs = _read_linear("survivors.linear", arrays)
        theirs.columns = state.views[0].columns
        state.survivors = Survivors(theirs, Pooling(arrays["survivors.w"], arrays["survivors.curvature"]))
    mixture = header["mixture"]
    experts = {
        name: Expert(Pooling(np.array([w]), np.array([[curvature]])), *rest)
        for name, (w, curvature, *rest) in mixture["experts"].items()
    }
    pooling = Pooling(arrays["mixture.w"], arrays["mixture.curvature"])
    state.mixture = Mixture(experts, tuple(mixture["pooled"]), pooling, mixture["together"])


def _read_linear(owner: str, arrays: Arrays) -> Linear:
    W, b, centre, scale = (arrays[f"{owner}.{name}"] for name in LINEAR)
    return Linear(W, b, centre, scale)


def _statistics(owner: str, arrays: Arrays) -> Statistics:
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

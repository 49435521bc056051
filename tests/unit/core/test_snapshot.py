"""Snapshots: exact, versioned, and never mistaken when damaged."""

import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import (
    EmlError,
    EvolvingMetricLearner,
    FeatureSpace,
    LearnerConfig,
    SnapshotDamagedError,
    SnapshotError,
    SnapshotVersionError,
)
from eml.core.snapshot import VERSION
from tests.unit.core import golden
from tests.unit.core.helpers import SMALL, Values, World, space, taught

WORLD = World(features=12, classes=3, gap=0.8)
A, B = range(8), range(4, 12)
BUSY = replace(SMALL, longest_rest=0)
# As the docstring of the format says.
HEAD = struct.Struct("<4sHI")  # magic, version, checksum of all that follows
LENGTH = struct.Struct("<I")  # of the header, which comes next


def sealed(header: bytes, arrays: bytes = b"") -> bytes:
    """A snapshot as any program could write it."""
    body = LENGTH.pack(len(header)) + header + arrays
    return HEAD.pack(b"EMLS", VERSION, zlib.crc32(body)) + body


def opened(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a snapshot and its arrays."""
    start = HEAD.size + LENGTH.size
    end = start + LENGTH.unpack_from(data, HEAD.size)[0]
    return json.loads(data[start:end]), data[end:]


def untaught() -> EvolvingMetricLearner:
    return EvolvingMetricLearner(space(*A), BUSY, seed=5)


def initial() -> EvolvingMetricLearner:
    return taught(WORLD, A, 20, BUSY)


def steady() -> EvolvingMetricLearner:
    return taught(WORLD, A, 256, BUSY)


def announced() -> EvolvingMetricLearner:
    learner = steady()
    learner.announce(space(*B))
    return learner


def transforming() -> EvolvingMetricLearner:
    learner = announced()
    learner.learn(*WORLD.draw(64, 2, A))
    return learner


def evolved() -> EvolvingMetricLearner:
    learner = transforming()
    learner.evolve(space(*B))
    return learner


def inheriting() -> EvolvingMetricLearner:
    learner = evolved()
    learner.learn(*WORLD.draw(40, 3, B))
    return learner


def returning() -> EvolvingMetricLearner:
    learner = inheriting()
    learner.evolve(space(*range(2, 9)))
    return learner


def partly_returning() -> EvolvingMetricLearner:
    learner = inheriting()
    learner.evolve(FeatureSpace(("f4", "f5", "f6", "f0", "new", "newer")))
    return learner


def renamed() -> EvolvingMetricLearner:
    learner = inheriting()
    learner.evolve(FeatureSpace(tuple(f"g{i}" for i in reversed(B)), {f"g{i}": (f"f{i}",) for i in B}))
    return learner


def cold() -> EvolvingMetricLearner:
    learner = inheriting()
    learner.evolve(FeatureSpace(("x", "y", "z")))
    return learner


STAGES = [
    untaught,
    initial,
    steady,
    announced,
    transforming,
    evolved,
    inheriting,
    returning,
    partly_returning,
    renamed,
    cold,
]
Make = Callable[[], EvolvingMetricLearner]


def test_the_stages_tested_are_all_there_are():
    assert {make().stage for make in STAGES} == {"initial", "steady", "transforming", "inheriting"}
    assert partly_returning()._state.returned  # columns that wait for donors
    assert len(inheriting()._state.views) == 2
    assert inheriting()._state.retired_columns
    upcoming = transforming()._state.upcoming
    assert upcoming is not None
    assert upcoming.Ls is not None


@pytest.mark.parametrize("make", STAGES)
def test_a_round_trip_is_exact(make: Make):
    learner = make()
    data = learner.snapshot()
    restored = EvolvingMetricLearner.restore(data)
    assert restored.snapshot() == data
    assert restored.config == learner.config
    assert restored.space == learner.space
    assert restored.stage == learner.stage
    assert restored.classes == learner.classes
    mine, theirs = restored.explain(), learner.explain()
    assert mine.weights == pytest.approx(theirs.weights)
    assert replace(mine, weights={}) == replace(theirs, weights={})
    X = np.random.default_rng(0).normal(size=(30, len(learner.space)))
    X[3, 1] = np.nan
    for one, other in zip(_parts(restored, X), _parts(learner, X), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_restored_learner_explains_itself_in_the_same_bits():
    for make in (steady, transforming, inheriting):
        learner = make()
        assert EvolvingMetricLearner.restore(learner.snapshot()).explain() == learner.explain()


def _parts(learner: EvolvingMetricLearner, X: Values) -> tuple[Any, ...]:
    many = learner.predict_many(X)
    return many.labels, many.scores, many.margin, many.novelty


def live(learner: EvolvingMetricLearner) -> list[bytes]:
    """A future with everything in it, and the snapshots along the way."""
    snapshots = []
    random = np.random.default_rng(1)
    d = len(learner.space)
    for _ in range(4):
        y = random.integers(0, 3, 24)
        learner.learn(random.normal(size=(24, d)) + 0.8 * y[:, None], y.tolist())
        snapshots.append(learner.snapshot())
    following = FeatureSpace((*learner.space.names[1:], "later"))
    learner.announce(following)
    y = random.integers(0, 3, 96)
    learner.learn(random.normal(size=(96, d)) + 0.8 * y[:, None], y.tolist())
    learner.evolve(following)
    snapshots.append(learner.snapshot())
    learner.learn(random.normal(size=(96, d)) + 0.8 * y[:, None], y.tolist())
    return [*snapshots, learner.snapshot()]


@pytest.mark.parametrize("make", STAGES)
def test_a_restored_learner_has_the_same_future(make: Make):
    learner = make()
    restored = EvolvingMetricLearner.restore(learner.snapshot())
    assert live(restored) == live(learner)


@pytest.mark.parametrize("d", [3, 40, 200], ids=lambda d: f"{d} features")
def test_a_learner_restored_after_every_batch_has_the_same_future(d):
    world = World(features=d, classes=3, gap=1.0 / np.sqrt(d))
    config = LearnerConfig(memory_size=200, rank=16, warm_up=64, catch_up=2, longest_rest=0)
    straight = EvolvingMetricLearner(space(*range(d)), config)
    interrupted = EvolvingMetricLearner(space(*range(d)), config)
    for seed in range(6):
        X, y = world.draw(64, seed)
        straight.learn(X, y)
        interrupted.learn(X, y)
        interrupted = EvolvingMetricLearner.restore(interrupted.snapshot())
        assert interrupted.snapshot() == straight.snapshot()
    assert straight.explain().steps_taken > 0


def test_a_snapshot_is_detached_from_its_learner():
    learner = steady()
    data = learner.snapshot()
    restored = EvolvingMetricLearner.restore(data)
    learner.learn(*WORLD.draw(64, 9, A))
    assert restored.snapshot() == data
    mutable = bytearray(data)
    restored = EvolvingMetricLearner.restore(bytes(mutable))
    mutable[-8:] = bytes(8)
    assert restored.snapshot() == data


# -- the format ----------------------------------------------------------------------------------------------------


def test_the_head_is_as_documented_and_the_header_is_plain_json():
    data = transforming().snapshot()
    magic, version, checksum = HEAD.unpack_from(data)
    assert (magic, version) == (b"EMLS", VERSION)
    assert checksum == zlib.crc32(data[HEAD.size :])
    header, arrays = opened(data)
    assert header["space"]["names"] == [f"f{i}" for i in A]
    assert sum(size for _, _, _, size in header["arrays"]) == len(arrays)
    for _, kind, shape, size in header["arrays"]:
        if kind[0] in "<|":
            assert size == int(np.prod(shape)) * np.dtype(kind).itemsize


def test_an_unknown_version_is_named_beside_the_known_one():
    data = bytearray(steady().snapshot())
    struct.pack_into("<H", data, 4, VERSION + 41)
    with pytest.raises(SnapshotVersionError, match=rf"version {VERSION + 41}.*version {VERSION}"):
        EvolvingMetricLearner.restore(bytes(data))


@pytest.mark.parametrize("data", [b"", b"EMLS", b"PK\x03\x04" + bytes(100), b"\x80\x04" + bytes(50)], ids=repr)
def test_what_never_was_a_snapshot_is_refused(data):
    with pytest.raises(SnapshotDamagedError) as caught:
        EvolvingMetricLearner.restore(data)
    assert isinstance(caught.value, SnapshotError | EmlError)


SHORT = EvolvingMetricLearner(space(0, 1), replace(SMALL, memory_size=10, neighbours=3))
SHORT.learn([[0.0, 1.0], [2.0, 3.0], [1.0, 1.0]], ["a", "b", "a"])
DATA = SHORT.snapshot()


def test_a_snapshot_cut_at_any_length_is_damaged():
    for length in range(len(DATA)):
        with pytest.raises(SnapshotDamagedError):
            EvolvingMetricLearner.restore(DATA[:length])


def test_a_snapshot_with_anything_behind_it_is_damaged():
    with pytest.raises(SnapshotDamagedError):
        EvolvingMetricLearner.restore(DATA + b"\0")


def flipped(place: int, bit: int) -> bytes:
    changed = bytearray(DATA)
    changed[place] ^= 1 << bit
    return bytes(changed)


def test_a_flipped_bit_anywhere_is_damage_or_another_version():
    for place in range(len(DATA)):
        for bit in range(8) if place < 40 else (place % 8,):
            expected = SnapshotVersionError if place in {4, 5} else SnapshotDamagedError
            with pytest.raises(expected):
                EvolvingMetricLearner.restore(flipped(place, bit))


@given(st.binary(max_size=200))
def test_random_bytes_are_damaged_whatever_they_are(data):
    for candidate in (data, b"EMLS" + data):
        with pytest.raises(SnapshotError):
            EvolvingMetricLearner.restore(candidate)


@pytest.mark.parametrize("header", [b"", b"null", b"{}", b"[]", b'{"arrays": 1}', b'{"arrays":[1]}', b"\xff"], ids=repr)
def test_a_sealed_snapshot_with_any_other_header_is_damaged(header):
    with pytest.raises(SnapshotDamagedError):
        EvolvingMetricLearner.restore(sealed(header))


def resealed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """A snapshot with another header and the checksum that fits it: the work of another program."""
    header, arrays = opened(DATA)
    change(header)
    return sealed(json.dumps(header, separators=(",", ":")).encode(), arrays)


def test_a_sealed_snapshot_that_was_not_changed_is_itself():
    assert resealed(lambda _: None) == DATA


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header.pop("config"),
        lambda header: header.pop("space"),
        lambda header: header["config"].update(memory_size=-1),
        lambda header: header["config"].update(unheard_of=1),
        lambda header: header["arrays"].pop(),
        lambda header: header["counters"].clear(),
        lambda header: header.update(rng={}),
        lambda header: header["space"]["names"].append(header["space"]["names"][0]),
    ],
    ids=["no config", "no space", "bad config", "unknown setting", "no array", "no counters", "no chance", "twice"],
)
def test_a_sealed_snapshot_whose_parts_do_not_fit_is_damaged(change):
    with pytest.raises(SnapshotDamagedError):
        EvolvingMetricLearner.restore(resealed(change))


def other_array_type(header: dict[str, Any]) -> None:
    header["arrays"][0][1] = "|O"


def huge_array(header: dict[str, Any]) -> None:
    header["arrays"][0][2] = [10**15]


def no_arrays(header: dict[str, Any]) -> None:
    del header["arrays"]


@pytest.mark.parametrize("change", [other_array_type, huge_array, no_arrays])
def test_a_sealed_snapshot_whose_arrays_make_no_sense_is_damaged(change):
    with pytest.raises(SnapshotDamagedError):
        EvolvingMetricLearner.restore(resealed(change))


# -- the golden file -----------------------------------------------------------------------------------------------


def test_the_golden_snapshot_is_read_and_predicts_what_it_did():
    data = golden.snapshot_file(VERSION).read_bytes()
    expected = json.loads(golden.record_file(VERSION).read_text())
    learner = EvolvingMetricLearner.restore(data)
    X = np.array(expected["X"], dtype=np.float64)
    many = learner.predict_many(X)
    assert many.labels == expected["labels"]
    np.testing.assert_allclose(many.scores, expected["scores"], atol=1e-4)  # another machine rounds otherwise
    assert learner.stage == expected["explanation"]["stage"]
    assert learner.explain().revision == expected["explanation"]["revision"]
    assert list(learner.space.names) == expected["explanation"]["space"]
    learner.learn(np.nan_to_num(X), many.labels)  # type: ignore[arg-type]  # no label is None here
    learner.evolve(FeatureSpace(("f5", "f6", "f7", "f8", "new"), {"new": ("former",)}))


def test_the_golden_snapshot_has_every_part_of_the_format_and_is_small():
    data = golden.snapshot_file(VERSION).read_bytes()
    assert len(data) < 24_000
    header, _ = opened(data)
    assert list(header) == list(opened(DATA)[0])
    assert len(header["views"]) == 2
    assert header["upcoming"]["steps"] > 0
    assert header["attic"]
    assert any("\0" in name for name in header["space"]["names"])  # the columns of a code
    assert header["evolution"]
    assert any(header["space"]["aliases"].values())
    assert header["counters"]["cut"] > 0
    assert header["counters"]["missing"] > 0
    assert {name for name, *_ in header["arrays"]} > {
        "upcoming.Ls",
        "upcoming.explained",
        "view1.L",
        "attic0",
        "linear.W",
        "linear.retired0",
        "fresh.L",
        "fresh.linear.W",
        "memory.recent",
    }
    assert header["mixture"]["experts"].keys() == {"metric", "survived", "joint", "linear", "fresh"}
    assert {type(label) for label in header["classes"]} == {str, int, bool}


def test_the_golden_snapshot_is_unchanged_by_reading_it():
    data = golden.snapshot_file(VERSION).read_bytes()
    assert EvolvingMetricLearner.restore(data).snapshot() == data

"""A log of changes behind a snapshot: the same learner bit for bit, wherever it is read, and few bytes."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig, SnapshotDamagedError
from tests.unit.core.helpers import SMALL, World, space

WORLD = World(features=12, classes=3, gap=0.8)


class Kept:
    """A learner's base and log, as a store keeps them."""

    def __init__(self, learner: EvolvingMetricLearner) -> None:
        self.base = learner.start_log()
        self.pieces: list[bytes] = []

    def write(self, learner: EvolvingMetricLearner) -> None:
        piece = learner.changes()
        if piece is None:
            self.__init__(learner)  # type: ignore[misc]
        else:
            self.pieces.append(piece)

    def read(self) -> EvolvingMetricLearner:
        return EvolvingMetricLearner.restore(self.base, self.pieces)


DOINGS = st.sampled_from(["learn"] * 6 + ["one", "gaps", "evolve", "announce", "rename", "step", "memory", "restore"])


def do(learner: EvolvingMetricLearner, doing: str, number: int) -> None:
    """One of the things that happen to a learner."""
    names = learner.space.names
    if doing == "evolve":
        after = [f"f{(int(names[-1][1:]) + step) % 12}" for step in range(1, 12)]
        learner.evolve(FeatureSpace((*names[1:], next(name for name in after if name not in names))))
    elif doing == "announce":
        learner.announce(FeatureSpace(names[2:]))
    elif doing == "rename":
        learner.evolve(FeatureSpace(names[::-1]))
    elif doing in {"step", "memory"}:
        learner.react(doing)  # type: ignore[arg-type]
    else:
        X, y = WORLD.draw(1 if doing == "one" else 24, number, [int(name[1:]) for name in names])
        if doing == "gaps":
            X[::3, ::2] = np.nan
        learner.learn(X, y)


@settings(max_examples=15, deadline=None)
@given(st.lists(DOINGS, min_size=1, max_size=6), st.booleans())
def test_a_copy_and_what_it_was_copied_from_go_on_by_themselves(doings, copied_changes):
    learner = EvolvingMetricLearner(space(*range(6)), SMALL, seed=5)
    learner.learn(*WORLD.draw(80, 1, range(6)))
    expected = deepcopy(learner)
    copied = learner.copy()
    changed, unchanged = (copied, learner) if copied_changes else (learner, copied)
    before, kept = unchanged.snapshot(), Kept(changed)
    for number, doing in enumerate(doings):
        if doing != "restore":
            do(changed, doing, number)
            do(expected, doing, number)
            kept.write(changed)
    assert changed.snapshot() == kept.read().snapshot() == expected.snapshot()
    assert unchanged.snapshot() == before == EvolvingMetricLearner.restore(before).snapshot()
    probe = WORLD.draw(5, 2, [int(name[1:]) for name in changed.space.names])[0]
    np.testing.assert_array_equal(changed.answers(probe), expected.answers(probe))


@settings(max_examples=25, deadline=None)
@given(st.lists(DOINGS, min_size=1, max_size=14), st.integers(0, 400))
def test_base_and_log_are_the_learner_at_every_point(doings, taught):
    learner = EvolvingMetricLearner(space(*range(6)), SMALL, seed=5)
    learner.learn(*WORLD.draw(taught, 1, range(6)))
    kept = Kept(learner)
    for number, doing in enumerate(doings):
        if doing == "restore":
            learner = kept.read()
        else:
            do(learner, doing, number)
            kept.write(learner)
        assert kept.read().snapshot() == learner.snapshot()


def busy(windows: int) -> tuple[EvolvingMetricLearner, list[tuple[int, int, int]]]:
    """A learner with a full memory, and of some windows of 32 labels the piece, the exemplars and the steps."""
    random = np.random.default_rng(0)
    centres = 0.4 * random.normal(size=(4, 64))
    learner = EvolvingMetricLearner(space(*range(64)), LearnerConfig(), seed=1)
    y = random.integers(0, 4, 1600)
    learner.learn(centres[y] + random.normal(size=(1600, 64)), y.tolist())
    learner.start_log()
    said = []
    for _ in range(windows):
        L = learner._state.views[-1].L
        y = random.integers(0, 4, 32)
        learner.learn(centres[y] + random.normal(size=(32, 64)), y.tolist())
        rows, stepped = int(learner._state.memory.dirty.sum()), learner._state.views[-1].L is not L
        stepped &= not np.array_equal(learner._state.views[-1].L, L)
        said.append((len(learner.changes() or b""), rows, int(stepped)))
    return learner, said


def test_a_window_writes_at_most_three_times_what_changed():
    learner, said = busy(24)
    small = 4 * 64 * 4 + 6 * 64 * 8  # weights; counts, means, spreads, largest, and the weights' centres and scales
    for size, rows, stepped in said:
        assert 0 < size <= 3 * (rows * 64 * 2 + small + stepped * 64 * 64 * 4)
    assert np.median([size for size, _, _ in said]) < len(learner.snapshot()) / 6


def test_a_snapshot_in_between_changes_nothing_in_the_log():
    learner = EvolvingMetricLearner(space(*range(6)), SMALL)
    learner.learn(*WORLD.draw(200, 1, range(6)))
    kept = Kept(learner)
    learner.learn(*WORLD.draw(24, 2, range(6)))
    learner.snapshot()
    kept.write(learner)
    assert kept.pieces
    assert kept.read().snapshot() == learner.snapshot()


def test_without_a_base_there_are_no_changes():
    learner = EvolvingMetricLearner(space(*range(6)), SMALL)
    assert learner.changes() is None
    learner.start_log()
    assert learner.changes() is not None


def three_pieces() -> tuple[bytes, list[bytes]]:
    learner = EvolvingMetricLearner(space(*range(6)), SMALL)
    learner.learn(*WORLD.draw(200, 1, range(6)))
    kept = Kept(learner)
    for seed in range(3):
        learner.learn(*WORLD.draw(8, seed, range(6)))
        kept.write(learner)
    return kept.base, kept.pieces


@pytest.mark.parametrize("order", [[1], [0, 2], [1, 0, 2], [0, 0, 1]], ids=str)
def test_a_log_with_a_gap_or_out_of_order_is_refused(order):
    base, pieces = three_pieces()
    assert len(pieces) == 3
    with pytest.raises(SnapshotDamagedError, match="missing"):
        EvolvingMetricLearner.restore(base, [pieces[number] for number in order])


def test_a_damaged_piece_is_refused():
    base, pieces = three_pieces()
    for piece in (pieces[0][:-1], b"EMLS" + pieces[0][4:], pieces[0][:30] + b"?" + pieces[0][31:], b""):
        with pytest.raises(SnapshotDamagedError):
            EvolvingMetricLearner.restore(base, [piece])

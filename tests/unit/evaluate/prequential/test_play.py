"""The loop: every record once, in order, and no label before its record was predicted."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import FeatureSpace
from eml.evaluate.datasets import Dataset, Floats
from eml.evaluate.prequential.course import Plan, deal
from eml.evaluate.prequential.measures import measure
from eml.evaluate.prequential.play import NO_ANSWER, play
from tests.unit.evaluate.prequential.conftest import Recorder


class Cheat(Recorder):
    """Answers with the label wherever it was ever handed one: with a loop that leaks it would be right."""

    def __init__(self, room: int) -> None:
        super().__init__(room)
        self.told: dict[float, int] = {}

    def predict(self, rows: Floats) -> Sequence[int | None]:
        return [self.told.get(row[0]) for row in rows]

    def learn(self, rows: Floats, labels: Sequence[int]) -> None:
        self.told.update(zip(rows[:, 0].tolist(), labels, strict=True))

    def announce(self, space: FeatureSpace) -> None:
        """Nothing to learn from it."""


@pytest.mark.parametrize("room", [-3, 1, 7, 10**9])
@pytest.mark.parametrize("labelled", [1.0, 0.4])
def test_who_only_repeats_labels_is_never_right(make_course, room, labelled):
    course = make_course(switches=2, labelled=labelled)
    cheat = Cheat(room)
    figures = measure(course, play(course, cheat), 0.0)
    assert sum(figures.right) == 0
    assert len(cheat.told) == sum(int(stage.labelled.sum()) for stage in course.stages)  # it was handed all of them


@given(room=st.integers(1, 50), labelled=st.sampled_from([0.2, 0.7, 1.0]), notice=st.sampled_from([0.1, 0.25, 1.0]))
def test_a_label_comes_after_its_prediction_and_before_more_than_room_others(room, labelled, notice):
    values = np.arange(90.0)[:, None] * np.ones(4)
    course = deal(Dataset("made", values, np.arange(90) % 3, (1, 2, 1), None, ()), Plan(2, None, labelled, notice), 0)
    method = Recorder(room)
    play(course, method)
    predicted: list[float] = []
    for call, handed in method.received:
        if call == "predict":
            predicted += handed  # type: ignore[arg-type]
        if call == "learn":
            assert isinstance(handed, list)
            assert 1 <= len(handed) <= room
            assert {value for value, _ in handed} <= set(predicted)
            assert predicted[-1] == handed[-1][0] or len(handed) < room  # as soon as there is no more room
    assert predicted == np.concatenate([stage.X[:, 0] for stage in course.stages]).tolist()


def test_announcements_come_in_the_last_part_of_a_stage_and_switches_at_its_end(make_course):
    course = make_course(switches=2, notice=0.25)
    method = Recorder(room=8)
    play(course, method)
    seen, events = 0, []
    for call, handed in method.received:
        if call == "predict":
            assert isinstance(handed, list)
            seen += len(handed)
        elif call != "learn":
            events.append((call, seen, handed))
    _, second, third = (stage.space for stage in course.stages)
    assert events == [("announce", 30, second), ("evolve", 40, second), ("announce", 70, third), ("evolve", 80, third)]


def test_silence_is_no_answer_and_one_answer_per_record_is_demanded(make_course):
    course = make_course()
    assert all((answers == NO_ANSWER).all() for answers in play(course, Recorder()))

    class Short(Recorder):
        def predict(self, rows: Floats) -> Sequence[int | None]:
            return super().predict(rows)[:-1]

    with pytest.raises(ValueError, match="1 records were predicted with 0 answers"):
        play(course, Short())

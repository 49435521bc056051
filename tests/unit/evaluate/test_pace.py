"""Which trial comes next, and how long the rest takes."""

from dataclasses import dataclass

from eml.evaluate.pace import Pace


@dataclass(frozen=True)
class Walk:
    label: str
    number: int


TRIALS = [Walk(label, number) for label in ("short", "long") for number in range(4)]
SECONDS = {"short": 1.0, "long": 100.0}


def walk(known, jobs=1):
    """The order trials are started in, and the time left after each, with a clock that only trials move."""
    now = [0.0]
    pace = Pace(TRIALS, known, lambda: now[0])
    order, left = [], []
    while (trial := pace.start()) is not None:
        order.append(trial)
        now[0] += SECONDS[trial.label]
        pace.finish(trial, SECONDS[trial.label])
        left.append(pace.left(jobs))
    return order, left


def test_one_of_each_goes_first_then_the_longest():
    order, _ = walk({})
    assert [trial.label for trial in order] == ["short", "long", *["long"] * 3, *["short"] * 3]
    assert sorted(order, key=str) == sorted(TRIALS, key=str)


def test_lengths_of_an_earlier_run_need_no_trying():
    order, _ = walk(SECONDS)
    assert [trial.label for trial in order] == ["long"] * 4 + ["short"] * 4


def test_the_time_left_is_right_as_soon_as_every_kind_has_been_seen():
    _, left = walk({})
    assert left[1:] == [303.0, 203.0, 103.0, 3.0, 2.0, 1.0, 0.0]
    assert walk({}, jobs=2)[1][1] == 151.5


def test_nothing_is_said_while_nothing_is_known_and_a_running_one_counts_by_what_is_left_of_it():
    now = [0.0]
    pace = Pace(TRIALS, {}, lambda: now[0])
    assert pace.left(1) is None
    pace = Pace(TRIALS, SECONDS, lambda: now[0])
    pace.start()
    now[0] = 60.0
    assert pace.left(1) == 40.0 + 300.0 + 4.0
    now[0] = 500.0  # longer than expected: not below nothing
    assert pace.left(1) == 304.0

"""Recovery after an evolution, regret against a fresh start, and drift."""

from copy import deepcopy

import pytest

from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.state_format import unpack
from eml.stream.wire import HEADER_SIZE
from tests.unit.stream.models.versions import Fleet, drifting, head_of, scattered


def test_an_evolution_is_followed_by_its_figures():
    fleet = Fleet(["a", "b", "c", "d"], ["b", "c", "d", "e"])
    fleet.send(1, 120)
    told = fleet.send(2, 60).evolutions
    assert [event.kind for event in told] == ["evolution", "recovery"]
    figures = told[1].recovery
    assert figures is not None
    assert told[1].position.offset == 120 + 39
    assert (figures.scored, figures.first_records) == (40, 8)
    assert sum(told[1].views.values()) == pytest.approx(1)
    assert "joint" in told[1].views or "metric" in told[1].views
    assert not told[0].views
    assert figures.accuracy_before is not None
    assert figures.accuracy_first > 0.6
    assert figures.cold_accuracy_first == 0.0, "it had no label to learn from"
    assert figures.regret is not None
    assert figures.regret < 0


@pytest.mark.parametrize("reload", [False, True])
@pytest.mark.parametrize("horizon", [40, 200], ids=["while it is kept", "and after it has ended"])
def test_regret_is_reported_against_the_fresh_start_that_the_learner_keeps(horizon, reload):
    fleet, own, fresh = scattered(horizon), 0, 0
    for number in range(horizon):
        if reload:
            fleet.model = state_codec.load(KeyName("pump"), fleet.settings, state_codec.take_all(fleet.model))
        head = head_of(fleet)
        (value, _, truth) = deepcopy(fleet.device).value(2, fleet.texts[2], fleet.names[2])
        if number:  # at the switch it knows nothing
            predictions = head.predict_many(fleet.schemas[2].decode([value], HEADER_SIZE).values)
            beside = (predictions.fresh or [None]) if head.has_fresh_start else predictions.labels
            fresh += beside == [truth]
        results = fleet.send(2, 1)
        own += results.predictions[0].label == truth
    (told,) = (event.recovery for event in results.evolutions)
    assert told is not None
    assert told.regret == fresh - own
    assert 0.4 * horizon < fresh != own
    assert head_of(fleet).has_fresh_start == (horizon == 40)


def test_what_is_kept_of_a_key_has_no_second_learner_after_an_evolution():
    def kept(*, cold_restart: bool) -> tuple[bytes, bytes]:
        fleet = scattered(200, cold_restart=cold_restart)
        fleet.send(2, 60)
        parts = state_codec.take_all(fleet.model)
        assert parts.others is not None
        description, _ = unpack(state_codec.OTHERS, state_codec.OTHERS_VERSION, parts.others, "the others")
        assert [version for (version, *_), *_ in description] == [1], "only the version it has left"
        return parts.model or b"", parts.others

    model, others = kept(cold_restart=True)
    alone, others_alone = kept(cold_restart=False)
    assert len(others) == pytest.approx(len(others_alone), abs=16)
    assert len(alone) < len(model) < 1.2 * len(alone), "a fresh start has no memory of its own"


def test_an_evolution_without_survivors_is_compared_with_nothing():
    fleet = Fleet(["a", "b", "c", "d"], ["e", "f", "g", "h"])
    fleet.send(1, 100)
    told = fleet.send(2, 60).evolutions[-1].recovery
    assert told is not None
    assert (told.cold_accuracy_first, told.regret) == (None, None)


def test_without_a_cold_restart_there_is_no_fresh_start_and_no_regret():
    fleet = scattered(40, cold_restart=False)
    told = fleet.send(2, 60).evolutions[-1].recovery
    assert not head_of(fleet).has_fresh_start
    assert told is not None
    assert (told.cold_accuracy_first, told.regret) == (None, None)


def test_another_evolution_ends_a_recovery_with_what_it_has():
    fleet = Fleet(["a", "b", "c", "d"], ["b", "c", "d", "e"], ["c", "d", "e", "f"])
    fleet.send(1, 120)
    fleet.send(2, 25)
    told = fleet.send(3, 1).evolutions
    assert [(event.kind, event.new_version) for event in told] == [("recovery", 2), ("evolution", 3)]
    assert told[0].recovery is not None
    assert told[0].recovery.scored == 25


@pytest.mark.parametrize("how", ["report", "step", "memory"])
def test_drift_is_reported_once(how):
    told = [event for results in drifting(how) for event in results.evolutions]
    assert [event.kind for event in told] == ["drift"]
    drift = told[0].drift
    assert drift is not None
    assert drift.error_after > drift.error_before
    assert (told[0].old_version, told[0].new_version) == (1, 1)


def test_drift_can_be_left_alone():
    assert not [event for results in drifting("off") for event in results.evolutions]

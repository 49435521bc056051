"""A key between versions: staggered, rolled back, returned, renamed; which model serves and learns."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from eml.settings import LearningSettings
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.records import Position, Raw
from eml.stream.wire import HEADER_SIZE
from tests.synthetic import Device, reading_schema
from tests.unit.stream.models.test_key_model import SCHEMAS, SETTINGS, look_up, records
from tests.unit.stream.models.versions import (
    QUICK,
    Fleet,
    accuracy,
    in_cuts,
    kinds,
    marked,
    retiring_schema,
    steps,
)


def test_while_versions_interleave_each_record_is_served_by_its_own_versions_model():
    versions = [1] * 150 + [2] + [1 + (number % 3 > 0) for number in range(300)]
    results = steps([(records(versions), 1)])
    assert Counter(event.kind for event in results.evolutions)["evolution"] == 1, "no flapping"
    late = [said for said in results.predictions[150:] if said.late]
    assert len(late) == 100
    assert {said.schema_version for said in late} == {1}
    assert {said.stage for said in late} <= {"steady", "initial"}, "a model that never evolved"
    right = np.mean([said.label == said.truth for said in results.predictions[200:] if said.truth])
    assert right > 0.6


def test_labels_of_either_version_teach_both():
    versions = [1] * 150 + [1, 2] * 100
    results = steps([(records(versions, labelled=1.0), 2)])
    own = [said.model_revision for said in results.predictions[150:] if said.late]
    new = [said.model_revision for said in results.predictions[150:] if not said.late]
    assert own[-1] - own[0] >= 4
    assert new[-1] - new[0] >= 4


def test_labels_of_a_renamed_version_teach_the_older_one_with_the_renamed_sensors():
    names = ("alpha", "b", "c", "d")
    schemas = {1: marked(("a", "b", "c")), 2: marked(names, version=2, alpha={"aliases": ["a"]})}
    model, device = KeyModel(KeyName("pump"), SETTINGS), Device()
    sent = []
    for version in [1] * 60 + [2, 1] + [2] * 5:
        schema = schemas[version]
        value, _, _ = device.value(version, reading_schema(schema.space.names), schema.space.names)
        model.step([Raw(value, Position("readings", 0, device.sent, 1000 * device.sent), {})], schemas.__getitem__)
        sent.append(value)
    lines = model.state.models
    assert lines is not None
    (older,) = lines.others
    taught = np.concatenate(older.window.values)
    assert len(taught) >= 5
    assert np.isfinite(taught).all(), "an alias reads both ways"
    np.testing.assert_array_equal(taught[-5:], schemas[2].decode(sent[-5:], HEADER_SIZE).values[:, :3])


def test_a_model_that_nobody_needs_any_more_sleeps_and_goes():
    settings = replace(SETTINGS, learning=LearningSettings(former_ms=100_000, recovery_records=0))
    model, raws = KeyModel(KeyName("pump"), settings), records([1] * 60 + [2] * 150, labelled=1.0)
    model.step(raws[:100], look_up)
    lines = model.state.models
    assert lines is not None
    (former,) = lines.others
    assert former.is_serialized
    model.step(raws[100:], look_up)
    assert not lines.others
    assert model.step(records([1] * 3), look_up).predictions[-1].late


def test_a_rollback_and_a_return_find_their_models():
    versions = [1] * 100 + [2] * 60 + [1] * 60 + [2] * 60
    results = steps([(records(versions), 1)], replace(SETTINGS, learning=LearningSettings(recovery_records=0)))
    assert kinds(results) == [("evolution", 100), ("resumed", 160 + 31), ("resumed", 220 + 31)]
    assert all(said.label is not None for said in results.predictions[100:])
    assert [said.late for said in results.predictions[160:164]] == [True] * 4
    assert not results.predictions[-1].late


def test_a_version_above_a_rolled_back_head_that_is_not_kept_is_an_evolution_at_once():
    versions = [1] * 100 + [2] * 60 + [1] * 60 + [2] * 10
    settings = replace(SETTINGS, learning=LearningSettings(former_versions=0, recovery_records=0))
    assert kinds(steps([(records(versions), 1)], settings)) == [
        ("evolution", 100),
        ("evolution", 160 + 31),
        ("evolution", 220),
    ]


@pytest.mark.parametrize("cut", [1, 13])
def test_a_return_in_the_middle_of_a_micro_batch_hears_what_its_schema_announces(cut):
    raws, marked = records([1] * 60 + [2] * 40 + [1] * 80), {10: retiring_schema(), 20: SCHEMAS[20]}
    assert in_cuts(raws, marked, cut) == in_cuts(raws, marked, len(raws))
    assert ("announced", 131) in kinds(in_cuts(raws, marked, cut))


@pytest.mark.parametrize("cut", [1, 3])
def test_a_kept_model_goes_at_the_record_that_comes_too_late(cut):
    settings = replace(SETTINGS, learning=LearningSettings(former_ms=5_000))
    raws = records([1] * 60 + [2] * 3 + [1] * 4)
    for number, wait in ((64, 0), (65, 10_000), (66, 20_000)):
        raws[number].position.timestamp_ms += wait
    results = in_cuts(raws, SCHEMAS, cut, settings)
    assert results == in_cuts(raws, SCHEMAS, len(raws), settings)
    none_kept = replace(SETTINGS, learning=LearningSettings(former_ms=5_000, former_versions=0))
    by_current = in_cuts(raws, SCHEMAS, cut, none_kept).predictions
    assert [said.scores for said in results.predictions[63:65]] != [said.scores for said in by_current[63:65]]
    assert results.predictions[65:] == by_current[65:], "from then on the current model serves its version"


def test_a_rename_moves_what_is_pending_and_learns_nothing():
    fleet = Fleet(["a", "b", "c"], ["c", "b", "a"])
    fleet.send(1, 100)
    before = fleet.send(1, 3).predictions[-1].model_revision
    results = fleet.send(2, 5)
    assert not results.evolutions
    assert results.predictions[-1].model_revision == before
    assert accuracy(fleet.send(2, 60)) > 0.8


def test_a_version_of_which_nothing_survives_is_an_honest_cold_start():
    fleet = Fleet(["a", "b", "c", "d"], ["e", "f", "g", "h"])
    fleet.send(1, 100)
    results = fleet.send(2, 100)
    event = results.evolutions[0]
    assert not event.report.warm
    assert event.report.change.survived == ()
    first, second = results.predictions[:2]
    assert first.label is None
    assert first.reason
    assert second.label == first.truth, "it answers from its first label on"
    assert accuracy(fleet.send(2, 60)) > 0.8


def test_a_class_that_is_new_after_the_switch_is_learnt():
    fleet = Fleet(["a", "b", "c", "d"], ["b", "c", "d", "e"])
    fleet.device.classes = ("idle", "busy")
    fleet.send(1, 120)
    fleet.send(2, 40)
    fleet.send(2, 20, state="broken")
    assert accuracy(fleet.send(2, 20, state="broken")) > 0.7


@pytest.mark.slow
def test_ten_and_more_evolutions_in_a_row_stay_bounded():
    sensors = [f"s{number}" for number in range(40)]
    versions = [sensors[start : start + 6] for start in range(0, 30, 2)]
    fleet = Fleet(*versions, settings=replace(QUICK, learner=replace(QUICK.learner, retired_features=8)))
    sizes = []
    for version in range(1, len(versions) + 1):
        results = fleet.send(version, 150)
        assert [event.kind for event in results.evolutions if event.kind == "evolution"] == ["evolution"] * (
            version > 1
        )
        assert accuracy(results) > 0.6
        changes = state_codec.take_changes(fleet.model, everything=True)
        sizes.append(sum(len(part or b"") for part in (changes.model, changes.window, changes.others)))
    assert max(sizes[7:]) < 1.3 * max(sizes[3:7]), "what is kept grows no more"


def test_a_long_roll_out_is_the_same_through_restarts():
    raws = records([1] * 100 + [1, 2, 2] * 100, labelled=1.0)
    pieces = [(raws[start : start + 50], 2) for start in range(0, len(raws), 50)]
    settings = replace(SETTINGS, learning=LearningSettings(window_records=8, recovery_records=300))
    assert steps(pieces, settings) == steps(pieces, settings, reload=True)

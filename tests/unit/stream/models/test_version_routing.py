"""A key between versions: announced, staggered, rolled back, returned, renamed; and how it is told."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import zip_longest
from typing import Literal

import numpy as np
import pytest

from eml.core import EvolvingMetricLearner
from eml.settings import LearningSettings, RecordSettings, Settings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.models.warm_start import WarmStartModels
from eml.stream.records import Position, Raw
from eml.stream.state_format import unpack
from eml.stream.wire import HEADER_SIZE, SchemaId
from tests.synthetic import Device, reading_schema
from tests.unit.stream.models.test_key_model import SCHEMAS, SETTINGS, keep, look_up, records

QUICK = replace(SETTINGS, learning=LearningSettings(recovery_records=40))


def newest(version: int):
    """A registry whose newest version is this one."""
    return lambda _: SCHEMAS[10 * version]


def steps(pieces: Sequence[tuple[Sequence[Raw], int]], settings: Settings = SETTINGS, *, reload: bool = False):
    """Micro-batches, each with the newest version that is registered by then."""
    model, parts, together = KeyModel(KeyName("pump"), settings), state_codec.StateParts(), Results()
    for raws, version in pieces:
        results = model.step(raws, look_up, newest(version))
        together.predictions += results.predictions
        together.evolutions += results.evolutions
        keep(parts, model)
        if reload:
            model = state_codec.load(KeyName("pump"), settings, parts)
    return together


def kinds(results: Results) -> list[tuple[str, int]]:
    return [(event.kind, event.position.offset) for event in results.evolutions]


# -- announced ---------------------------------------------------------------------------------------------------------


def test_a_newer_version_in_the_registry_starts_the_t_stage_before_its_first_record():
    raws = records([1] * 300 + [2] * 40)
    results = steps([(raws[:200], 1), (raws[200:], 2)])
    (announced, switch) = results.evolutions
    assert (announced.kind, announced.position.offset) == ("announced", 200)
    assert (announced.old_version, announced.new_version) == (1, 2)
    assert announced.report.change.vanished == ("oil_pressure",)
    assert {said.stage for said in results.predictions[201:300]} == {"transforming"}
    assert switch.kind == "evolution"
    assert switch.report.announced
    assert switch.report.transform_steps > 0
    assert switch.stage == "transforming"


def test_hearing_it_again_changes_nothing_and_a_restart_does_not_forget():
    raws = records([1] * 300 + [2] * 40)
    pieces = [(raws[:200], 1), *((raws[i : i + 10], 2) for i in range(200, 340, 10))]
    assert steps(pieces) == steps(pieces, reload=True)
    assert kinds(steps(pieces)) == [("announced", 200), ("evolution", 300)]


def test_a_registry_that_says_nothing_withdraws_nothing():
    raws = records([1] * 300)
    model = KeyModel(KeyName("pump"), SETTINGS)
    model.step(raws[:200], look_up, newest(2))
    silent = model.step(raws[200:250], look_up, lambda _: None)
    assert not silent.evolutions
    assert silent.predictions[-1].stage == "transforming"
    withdrawn = model.step(raws[250:], look_up, newest(1))
    assert kinds(withdrawn) == [("withdrawn", 250)]
    assert withdrawn.predictions[-1].stage == "steady"


def test_the_next_version_may_be_announced_right_at_the_switch():
    raws = records([1] * 200 + [2] * 200)
    results = steps([(raws[:200], 1), (raws[200:], 3)])
    assert [(event.kind, event.new_version) for event in results.evolutions] == [("evolution", 2), ("announced", 3)]


def retiring_schema() -> ReadingSchema:
    """Version 1 with the feature marked that version 2 lacks."""
    return replace(SCHEMAS[10], retiring=frozenset({"oil_pressure"}))


def test_a_field_marked_as_retiring_starts_the_t_stage():
    raws = records([1] * 300 + [2] * 40)
    marked = {10: retiring_schema(), 20: SCHEMAS[20]}
    results = KeyModel(KeyName("pump"), SETTINGS).step(raws, marked.__getitem__)
    (announced, switch) = results.evolutions
    assert (announced.kind, announced.new_version) == ("announced", 1)
    assert announced.report.change.vanished == ("oil_pressure",)
    assert announced.report.change.augmented == ()
    assert switch.report.announced, "survivors are what the T-stage is about: they were known"
    assert switch.report.change.augmented == ("acoustic",)
    assert switch.report.transform_steps > 0


def marked(
    names: Sequence[str], retiring: Sequence[str] = (), version: int = 1, **more: Mapping[str, object]
) -> ReadingSchema:
    """A schema of version and id `version`, with features that are marked as retiring."""
    marks: dict[str, Mapping[str, object]] = {name: {"eml.retiring": True} for name in retiring}
    text = reading_schema(names, "Reading", **marks, **more)
    return compile_schema(text, SchemaId(version), "s-value", version, RecordSettings())


def told_of(
    schemas: Sequence[ReadingSchema], registered: Sequence[ReadingSchema | None] = ()
) -> list[tuple[str, int, str]]:
    """Kind, version and stage afterwards of each event, where a device goes through versions of the same features."""
    model, device, told = KeyModel(KeyName("pump"), SETTINGS), Device(), list[tuple[str, int, str]]()
    for schema, heard in zip_longest(schemas, registered):
        names = schema.space.names
        raws = []
        for _ in range(150):
            value, _, _ = device.value(schema.id, reading_schema(names), names)
            raws.append(Raw(value, Position("readings", 0, device.sent, 1000 * device.sent), {}))
        results = model.step(raws, {one.id: one for one in schemas}.__getitem__, {"s-value": heard}.get)
        told += [(event.kind, event.new_version, results.predictions[-1].stage) for event in results.evolutions]
    return told


NAMES = ("a", "b", "c", "d")


def test_a_retirement_that_is_taken_back_is_withdrawn():
    first, second = marked(NAMES, ["d"]), marked(NAMES, version=2)
    assert told_of([first, second]) == [("announced", 1, "transforming"), ("withdrawn", 2, "steady")]
    assert told_of([first, second], [first, second]) == told_of([first, second])


def test_a_retirement_that_stands_in_the_next_version_is_told_once():
    versions = [marked(NAMES, ["d"]), marked(NAMES, ["d"], 2), marked((*NAMES[1:], "a"), ["d"], 3)]
    assert told_of(versions) == [("announced", 1, "transforming")]


def test_another_field_that_retires_is_another_announcement():
    versions = [marked(NAMES, ["d"]), marked(NAMES, ["c", "d"], 2)]
    assert told_of(versions) == [("announced", 1, "transforming"), ("announced", 2, "transforming")]


def test_a_retirement_taken_back_in_the_registry_is_withdrawn_before_its_first_record():
    first, second, third = marked(NAMES, ["d"]), marked(NAMES, ["d"], 2), marked(NAMES, version=3)
    assert told_of([first, first, first], [first, second, third]) == [
        ("announced", 1, "transforming"),
        ("announced", 2, "transforming"),
        ("withdrawn", 1, "steady"),
    ]


def test_what_the_registry_announced_can_be_withdrawn_after_a_version_that_changes_nothing():
    first, second, third = marked(NAMES), marked(NAMES, version=2), marked(NAMES[1:], version=3)
    assert told_of([first, second, second], [third, None, second]) == [
        ("announced", 3, "transforming"),
        ("withdrawn", 2, "steady"),
    ]


# -- staggered and late ------------------------------------------------------------------------------------------------


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
    assert in_cuts(raws, SCHEMAS, cut, settings) == in_cuts(raws, SCHEMAS, len(raws), settings)


def in_cuts(raws: Sequence[Raw], schemas: dict[int, ReadingSchema], cut: int, settings: Settings = SETTINGS) -> Results:
    model, together = KeyModel(KeyName("pump"), settings), Results()
    for start in range(0, len(raws), cut):
        results = model.step(raws[start : start + cut], schemas.__getitem__)
        together.predictions += results.predictions
        together.evolutions += results.evolutions
    return together


def test_a_rename_moves_what_is_pending_and_learns_nothing():
    fleet = Fleet(["a", "b", "c"], ["c", "b", "a"])
    fleet.send(1, 100)
    before = fleet.send(1, 3).predictions[-1].model_revision
    results = fleet.send(2, 5)
    assert not results.evolutions
    assert results.predictions[-1].model_revision == before
    assert accuracy(fleet.send(2, 60)) > 0.8


class Fleet:
    """A device whose versions have the sensors a test wants."""

    def __init__(self, *versions: Sequence[str], settings: Settings = QUICK) -> None:
        self.names = dict(enumerate(versions, start=1))
        self.texts = {version: reading_schema(names) for version, names in self.names.items()}
        self.schemas = {
            version: compile_schema(text, SchemaId(version), "s-value", version, RecordSettings())
            for version, text in self.texts.items()
        }
        self.device = Device()
        self.settings, self.model = settings, KeyModel(KeyName("pump"), settings)

    def send(self, version: int, count: int, state: str | None = None, *, labelled: bool = True) -> Results:
        raws = []
        names = self.names[version]
        for _ in range(count):
            value, _, _ = self.device.value(version, self.texts[version], names, state=state, labelled=labelled)
            number = self.device.sent - 1
            raws.append(Raw(value, Position("readings", 0, number, 1000 * number), {}))
        return self.model.step(raws, self.schemas.__getitem__)


def accuracy(results: Results) -> float:
    return float(np.mean([said.label == said.truth for said in results.predictions]))


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


# -- recovery and drift ------------------------------------------------------------------------------------------------


def test_an_evolution_is_followed_by_its_figures():
    fleet = Fleet(["a", "b", "c", "d"], ["b", "c", "d", "e"])
    fleet.send(1, 120)
    told = fleet.send(2, 60).evolutions
    assert [event.kind for event in told] == ["evolution", "recovery"]
    figures = told[1].recovery
    assert figures is not None
    assert told[1].position.offset == 120 + 39
    assert (figures.scored, figures.first_records) == (40, 8)
    assert figures.accuracy_before is not None
    assert figures.accuracy_first > 0.6
    assert figures.cold_accuracy_first == 0.0, "it had no label to learn from"
    assert figures.regret is not None
    assert figures.regret < 0


def scattered(horizon: int, *, cold_restart: bool = True) -> Fleet:
    """A device whose classes lie close enough to be mistaken, at the end of its first version."""
    learning = LearningSettings(recovery_records=horizon, cold_restart=cold_restart)
    settings = replace(SETTINGS, learning=learning)
    fleet = Fleet(["a", "b", "c", "d"], ["b", "c", "d", "e"], settings=settings)
    fleet.device.scatter = 1.2
    fleet.send(1, 120)
    return fleet


def head_of(fleet: Fleet) -> EvolvingMetricLearner:
    lines = fleet.model.state.models
    assert lines is not None
    return lines.current.learner


@pytest.mark.parametrize("reload", [False, True])
@pytest.mark.parametrize("horizon", [40, 200], ids=["while it is kept", "and after it has ended"])
def test_regret_is_told_against_the_fresh_start_that_the_learner_keeps(horizon, reload):
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


def drifting(how: Literal["off", "report", "step", "memory"]) -> tuple[Results, Results]:
    fleet = Fleet(["a", "b", "c", "d"], settings=replace(SETTINGS, learning=LearningSettings(drift=how)))
    fleet.send(1, 400)
    fleet.device._levels = {(s, c): -level for (s, c), level in fleet.device._levels.items()}
    return fleet.send(1, 150), fleet.send(1, 150)


@pytest.mark.parametrize("how", ["report", "step", "memory"])
def test_drift_is_told_once(how):
    told = [event for results in drifting(how) for event in results.evolutions]
    assert [event.kind for event in told] == ["drift"]
    drift = told[0].drift
    assert drift is not None
    assert drift.error_after > drift.error_before
    assert (told[0].old_version, told[0].new_version) == (1, 1)


def test_drift_can_be_left_alone():
    assert not [event for results in drifting("off") for event in results.evolutions]


# -- a fleet's warm start ----------------------------------------------------------------------------------------------


def test_a_new_key_does_not_prepare_for_what_only_its_donor_was_told():
    settings = replace(QUICK, learning=LearningSettings(warm_start=True))
    donors, raws = WarmStartModels(), records([1] * 200, labelled=1.0)
    donor, new = KeyModel(KeyName("old"), settings, donors), KeyModel(KeyName("new"), settings, donors)
    donor.step(raws[:100], look_up, newest(2))
    assert donor.step(raws[100:], look_up, newest(2)).predictions[-1].stage == "transforming"
    results = new.step(raws[:1], look_up)
    assert [event.kind for event in results.evolutions] == ["warm-start"]
    assert results.predictions[-1].stage == "steady"


def test_a_new_key_begins_with_the_newest_model_of_its_schema():
    settings = replace(QUICK, learning=LearningSettings(warm_start=True))
    donors = WarmStartModels()
    old, new = Fleet(["a", "b", "c"], settings=settings), Fleet(["a", "b", "c"], settings=settings)
    old.model = KeyModel(KeyName("old"), settings, donors)
    new.model, new.device.seed = KeyModel(KeyName("new"), settings, donors), 1
    old.send(1, 200)
    results = new.send(1, 40)
    (event,) = results.evolutions
    assert (event.kind, event.donor, event.position.offset) == ("warm-start", "old", 0)
    assert results.predictions[0].label is not None
    assert accuracy(results) > 0.8


def test_a_key_whose_fleet_knows_nothing_yet_begins_with_its_model_as_soon_as_it_does():
    settings = replace(QUICK, learning=LearningSettings(warm_start=True))
    donors = WarmStartModels()
    old, new = Fleet(["a", "b", "c"], settings=settings), Fleet(["a", "b", "c"], settings=settings)
    old.model, new.model = KeyModel(KeyName("old"), settings, donors), KeyModel(KeyName("new"), settings, donors)
    assert new.send(1, 5, labelled=False).predictions[-1].label is None
    old.send(1, 100)
    assert new.send(1, 2).predictions[0].label is not None
    assert not new.send(1, 50).evolutions, "once"


def test_a_model_that_moved_on_is_still_its_old_versions_newest():
    settings = replace(QUICK, learning=LearningSettings(warm_start=True))
    donors = WarmStartModels()
    old, new = Fleet(["a", "b", "c"], ["b", "c", "d"], settings=settings), Fleet(["a", "b", "c"], settings=settings)
    old.model, new.model = KeyModel(KeyName("old"), settings, donors), KeyModel(KeyName("new"), settings, donors)
    old.send(1, 100)
    old.send(2, 100)
    assert accuracy(new.send(1, 30)) > 0.8


def test_a_model_that_was_renamed_is_none_of_its_old_version():
    settings = replace(QUICK, learning=LearningSettings(warm_start=True))
    donors = WarmStartModels()
    old, new = Fleet(["a", "b", "c"], ["c", "b", "a"], settings=settings), Fleet(["a", "b", "c"], settings=settings)
    old.model, new.model = KeyModel(KeyName("old"), settings, donors), KeyModel(KeyName("new"), settings, donors)
    old.send(1, 100)
    old.send(2, 5)
    assert new.send(1, 5, labelled=False).predictions[-1].label is None


def test_without_the_setting_every_key_begins_alone():
    donors = WarmStartModels()
    old, new = Fleet(["a", "b", "c"]), Fleet(["a", "b", "c"])
    old.model, new.model = KeyModel(KeyName("old"), QUICK, donors), KeyModel(KeyName("new"), QUICK, donors)
    old.send(1, 100)
    assert new.send(1, 5, labelled=False).predictions[-1].label is None


def test_a_long_roll_out_is_the_same_through_restarts():
    raws = records([1] * 100 + [1, 2, 2] * 100, labelled=1.0)
    pieces = [(raws[start : start + 50], 2) for start in range(0, len(raws), 50)]
    settings = replace(SETTINGS, learning=LearningSettings(window_records=8, recovery_records=300))
    assert steps(pieces, settings) == steps(pieces, settings, reload=True)

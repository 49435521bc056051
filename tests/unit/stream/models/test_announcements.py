"""The next version: announced by the registry or by marks on fields, withdrawn, and what the learner does."""

from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from tests.unit.stream.models.test_key_model import SCHEMAS, SETTINGS, look_up, records
from tests.unit.stream.models.versions import NAMES, events_of, kinds, marked, newest, retiring_schema, steps


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


def test_a_retirement_that_is_taken_back_is_withdrawn():
    first, second = marked(NAMES, ["d"]), marked(NAMES, version=2)
    assert events_of([first, second]) == [("announced", 1, "transforming"), ("withdrawn", 2, "steady")]
    assert events_of([first, second], [first, second]) == events_of([first, second])


def test_a_retirement_that_stands_in_the_next_version_is_reported_once():
    versions = [marked(NAMES, ["d"]), marked(NAMES, ["d"], 2), marked((*NAMES[1:], "a"), ["d"], 3)]
    assert events_of(versions) == [("announced", 1, "transforming")]


def test_another_field_that_retires_is_another_announcement():
    versions = [marked(NAMES, ["d"]), marked(NAMES, ["c", "d"], 2)]
    assert events_of(versions) == [("announced", 1, "transforming"), ("announced", 2, "transforming")]


def test_a_retirement_taken_back_in_the_registry_is_withdrawn_before_its_first_record():
    first, second, third = marked(NAMES, ["d"]), marked(NAMES, ["d"], 2), marked(NAMES, version=3)
    assert events_of([first, first, first], [first, second, third]) == [
        ("announced", 1, "transforming"),
        ("announced", 2, "transforming"),
        ("withdrawn", 1, "steady"),
    ]


def test_what_the_registry_announced_can_be_withdrawn_after_a_version_that_changes_nothing():
    first, second, third = marked(NAMES), marked(NAMES, version=2), marked(NAMES[1:], version=3)
    assert events_of([first, second, second], [third, None, second]) == [
        ("announced", 3, "transforming"),
        ("withdrawn", 2, "steady"),
    ]

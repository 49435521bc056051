"""New keys that begin with another key's model."""

from dataclasses import replace

from eml.settings import LearningSettings, Settings
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.models.warm_start import WarmStartModels
from tests.unit.stream.models.test_key_model import look_up, records
from tests.unit.stream.models.versions import QUICK, Fleet, accuracy, newest

WARM = replace(QUICK, learning=LearningSettings(warm_start=True))
FIRST, NEXT, REORDERED = ["a", "b", "c"], ["b", "c", "d"], ["c", "b", "a"]


def old_and_new(*later: list[str], settings: Settings = WARM) -> tuple[Fleet, Fleet]:
    """Two devices of one fleet; the old one goes on to later versions."""
    shared = WarmStartModels()
    old, new = Fleet(FIRST, *later, settings=settings), Fleet(FIRST, settings=settings)
    old.model, new.model = KeyModel(KeyName("old"), settings, shared), KeyModel(KeyName("new"), settings, shared)
    return old, new


def test_a_new_key_does_not_prepare_for_what_was_announced_to_the_other_alone():
    shared, raws = WarmStartModels(), records([1] * 200, labelled=1.0)
    old, new = KeyModel(KeyName("old"), WARM, shared), KeyModel(KeyName("new"), WARM, shared)
    old.step(raws[:100], look_up, newest(2))
    assert old.step(raws[100:], look_up, newest(2)).predictions[-1].stage == "transforming"
    results = new.step(raws[:1], look_up)
    assert [event.kind for event in results.evolutions] == ["warm-start"]
    assert results.predictions[-1].stage == "steady"


def test_a_new_key_begins_with_the_newest_model_of_its_schema():
    old, new = old_and_new()
    new.device.seed = 1
    old.send(1, 200)
    results = new.send(1, 40)
    (event,) = results.evolutions
    assert (event.kind, event.donor, event.position.offset) == ("warm-start", "old", 0)
    assert results.predictions[0].label is not None
    assert accuracy(results) > 0.8


def test_a_key_whose_fleet_knows_nothing_yet_begins_with_its_model_as_soon_as_it_does():
    old, new = old_and_new()
    assert new.send(1, 5, labelled=False).predictions[-1].label is None
    old.send(1, 100)
    assert new.send(1, 2).predictions[0].label is not None
    assert not new.send(1, 50).evolutions, "once"


def test_a_model_that_moved_on_is_still_its_old_versions_newest():
    old, new = old_and_new(NEXT)
    old.send(1, 100)
    old.send(2, 100)
    assert accuracy(new.send(1, 30)) > 0.8


def test_a_model_that_was_renamed_is_none_of_its_old_version():
    old, new = old_and_new(REORDERED)
    old.send(1, 100)
    old.send(2, 5)
    assert new.send(1, 5, labelled=False).predictions[-1].label is None


def test_without_the_setting_every_key_begins_alone():
    old, new = old_and_new(settings=QUICK)
    old.send(1, 100)
    assert new.send(1, 5, labelled=False).predictions[-1].label is None

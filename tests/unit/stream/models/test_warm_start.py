"""New keys that begin with another key's model."""

from dataclasses import replace

from eml.settings import LearningSettings
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.models.warm_start import WarmStartModels
from tests.unit.stream.models.test_key_model import look_up, records
from tests.unit.stream.models.versions import QUICK, Fleet, accuracy, newest


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

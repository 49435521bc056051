"""Feature spaces: which feature of the next space is which of the last."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import EmlError, FeatureError, FeatureSpace

NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6).map(tuple)


@st.composite
def spaces_with_aliases(draw: st.DrawFn) -> FeatureSpace:
    names = draw(NAMES)
    former = st.lists(st.sampled_from("abcdefgh"), max_size=3).map(tuple)
    return FeatureSpace(names, draw(st.dictionaries(st.sampled_from(names), former)) if names else {})


def test_features_are_sorted_into_vanished_survived_and_augmented():
    change = FeatureSpace(("a", "b", "c")).diff(FeatureSpace(("d", "c", "b")))
    assert (change.vanished, change.survived, change.augmented) == (("a",), ("c", "b"), ("d",))


def test_a_renamed_feature_is_a_survivor_under_its_new_name():
    change = FeatureSpace(("temp", "rpm")).diff(FeatureSpace(("rpm", "degrees"), {"degrees": ("t", "temp")}))
    assert change.survived == ("rpm", "degrees")
    assert change.renamed == {"degrees": "temp"}
    assert not change.vanished
    assert not change.augmented


def test_a_features_own_name_wins_over_anothers_alias():
    change = FeatureSpace(("a",)).diff(FeatureSpace(("b", "a"), {"b": ("a",)}))
    assert change.former == {"a": "a"}
    assert change.augmented == ("b",)


def test_a_features_own_name_wins_over_its_own_alias():
    change = FeatureSpace(("a", "b")).diff(FeatureSpace(("b",), {"b": ("a",)}))
    assert change.former == {"b": "b"}
    assert change.vanished == ("a",)


def test_of_two_heirs_of_one_name_the_first_takes_it():
    change = FeatureSpace(("a",)).diff(FeatureSpace(("x", "y"), {"x": ("a",), "y": ("a",)}))
    assert change.former == {"x": "a"}
    assert change.augmented == ("y",)


def test_an_heir_that_came_too_late_takes_its_next_alias():
    change = FeatureSpace(("a", "b")).diff(FeatureSpace(("x", "y"), {"x": ("a",), "y": ("a", "b")}))
    assert change.former == {"x": "a", "y": "b"}


@given(old=spaces_with_aliases(), new=spaces_with_aliases())
def test_every_feature_has_one_fate_and_the_order_of_its_space(old, new):
    change = old.diff(new)
    assert set(change.survived).isdisjoint(change.augmented)
    assert tuple(n for n in new.names if n in {*change.survived, *change.augmented}) == new.names
    assert change.survived == tuple(n for n in new.names if n in change.survived)
    assert change.augmented == tuple(n for n in new.names if n in change.augmented)
    assert set(change.former) == set(change.survived)
    inherited = list(change.former.values())
    assert len(inherited) == len(set(inherited))  # nothing survives twice
    assert change.vanished == tuple(n for n in old.names if n not in inherited)
    assert all(n in change.survived for n in new.names if n in old.names)
    assert all(
        was == now or was in new.aliases.get(now, ()) or now in old.aliases.get(was, ())
        for now, was in change.former.items()
    )
    back = new.diff(old)
    assert back.survived == tuple(n for n in old.names if n in back.former), "the same rule the other way round"


@given(spaces_with_aliases())
def test_a_space_does_not_differ_from_itself(space):
    change = space.diff(space)
    assert change.survived == space.names
    assert not change.renamed
    assert not change.is_evolution


# -- renames that cross: fault 10 of issue 14 --------------------------------------------------------------------------


def test_crossed_renames_follow_the_aliases_once_and_not_again_in_the_versions_after():
    first, swapped = FeatureSpace(("a", "b")), FeatureSpace(("a", "b"), {"a": ("b",), "b": ("a",)})
    assert first.diff(swapped).former == {"a": "b", "b": "a"}
    assert swapped.diff(first).former == {"a": "b", "b": "a"}, "and back"
    later = FeatureSpace(("b", "c", "a"), swapped.aliases)
    assert swapped.diff(later).former == {"a": "a", "b": "b"}
    assert first.diff(later).former == {"a": "b", "b": "a"}


def test_a_chain_of_renames_moves_every_feature_by_one_name():
    first, shifted = FeatureSpace(("a", "b")), FeatureSpace(("b", "c"), {"b": ("a",), "c": ("b",)})
    assert first.diff(shifted).former == {"b": "a", "c": "b"}
    assert shifted.diff(first).former == {"a": "b", "b": "c"}
    assert not shifted.diff(FeatureSpace(("c", "b"), shifted.aliases)).renamed


def test_a_chain_whose_first_name_is_still_in_use_moves_nothing():
    change = FeatureSpace(("a", "b")).diff(FeatureSpace(("a", "b", "c"), {"b": ("a",), "c": ("b",)}))
    assert change.former == {"a": "a", "b": "b"}
    assert change.augmented == ("c",)


def test_an_alias_added_to_one_of_two_names_and_later_to_the_other_swaps_nothing():
    first = FeatureSpace(("a", "b"))
    half = FeatureSpace(("a", "b"), {"b": ("a",)})
    whole = FeatureSpace(("a", "b"), {"a": ("b",), "b": ("a",)})
    assert not first.diff(half).renamed
    assert not half.diff(whole).renamed


@given(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=5), st.permutations("abcdefgh"), st.data())
def test_any_renaming_is_followed_to_the_next_version_and_back_and_only_once(names, renamed, data):
    carried = data.draw(st.sampled_from([(), ("x",), ("y", "x")]))  # names of versions before these
    first = FeatureSpace(tuple(names))
    kept = {now: (*carried, was) for now, was in zip(renamed, names, strict=False) if now != was}
    second = FeatureSpace(tuple(renamed[: len(names)]), kept)
    assert first.diff(second).former == dict(zip(second.names, first.names, strict=True))
    assert second.diff(first).former == dict(zip(first.names, second.names, strict=True))
    assert not first.diff(second).is_evolution
    third = FeatureSpace((*second.names, "new"), second.aliases)
    assert second.diff(third).former == dict(zip(second.names, second.names, strict=True))


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (FeatureSpace(("b", "a")), False),
        (FeatureSpace(("a", "c"), {"c": ("b",)}), False),
        (FeatureSpace(("a",)), True),
        (FeatureSpace(("a", "b", "c")), True),
        (FeatureSpace(("a", "c")), True),
    ],
    ids=["reordered", "renamed", "one vanished", "one new", "one exchanged"],
)
def test_only_a_changed_set_of_features_is_an_evolution(new, expected):
    assert FeatureSpace(("a", "b")).diff(new).is_evolution is expected


def test_names_that_stand_twice_are_refused_by_name():
    with pytest.raises(FeatureError, match="twice: a, c") as caught:
        FeatureSpace(("c", "a", "b", "a", "c"))
    assert isinstance(caught.value, EmlError)
    assert isinstance(caught.value, ValueError)


def test_aliases_of_a_feature_that_is_not_there_are_refused():
    with pytest.raises(FeatureError, match="not in the space: ghost"):
        FeatureSpace(("a",), {"ghost": ("a",)})


def test_columns_come_in_the_order_asked_for():
    space = FeatureSpace(("a", "b", "c"))
    assert space.columns(["c", "a"]) == [2, 0]
    assert [space.position[name] for name in space.names] == [0, 1, 2]
    assert len(space) == 3


def test_a_space_cannot_be_changed_through_what_it_was_made_of():
    names, former = ["a", "b"], {"a": ("x",)}
    space = FeatureSpace(names, former)  # type: ignore[arg-type]  # a list is what a reader of JSON will pass
    names.append("c")
    former["b"] = ("y",)
    assert space == FeatureSpace(("a", "b"), {"a": ("x",)})


def test_spaces_are_equal_by_names_order_and_aliases():
    assert FeatureSpace(("a", "b")) == FeatureSpace(("a", "b"))
    assert FeatureSpace(("a", "b")) != FeatureSpace(("b", "a"))
    assert FeatureSpace(("a",), {"a": ("x",)}) != FeatureSpace(("a",))


def through_a_pipe(space: FeatureSpace) -> object:
    return pickle.loads(pickle.dumps(space))  # noqa: S301  its own bytes


@pytest.mark.parametrize("use", [hash, copy.deepcopy, through_a_pipe])
def test_a_space_can_be_a_key_copied_and_sent_to_a_worker(use):
    one, same = FeatureSpace(("a",), {"a": ("x",)}), FeatureSpace(("a",), {"a": ("x",)})
    assert use(one) == use(same)

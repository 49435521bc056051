"""Names and columns of codes: what the learner works on, and what it is told and tells."""

import numpy as np
import pytest

from eml.core import FeatureSpace
from eml.core.column_names import code_column, level_of
from eml.core.features import FeatureChange
from eml.core.folding import fold_evolution, fold_weights
from eml.core.one_hot import OneHotEncoder
from eml.core.report import Evolution, Takeover

MODE = tuple(code_column("mode", level) for level in (1, 2, -3))
INNER = OneHotEncoder(FeatureSpace(("t", *MODE, "p"), {name: (name.replace("mode", "state"),) for name in MODE}))
NONE: tuple[str, ...] = ()


def test_a_space_without_codes_is_its_own_inner_one():
    space = FeatureSpace(("t", "p"), {"p": ("pressure",)})
    plain = OneHotEncoder(space)
    X = np.array([[1.0, np.nan]])
    assert plain.inputs is space
    assert plain.encode(X) is X
    assert plain.next_space(FeatureSpace(("p", "q")), NONE) == FeatureSpace(("p", "q"))


def test_the_outer_space_has_every_feature_once_in_order_with_its_aliases():
    assert INNER.inputs == FeatureSpace(("t", "mode", "p"), {"mode": ("state",)})


@pytest.mark.parametrize("level", [0, 7, -12])
def test_a_column_knows_its_level(level):
    assert level_of(code_column("mode", level)) == level
    assert level_of("mode") is None


def test_a_sample_has_one_at_its_level_and_nan_where_it_has_none():
    X = np.array([[5.0, 2.0, 6.0], [5.0, -3.0, np.nan], [5.0, 9.0, 6.0], [5.0, np.nan, 6.0], [5.0, np.inf, 6.0]])
    got = INNER.encode(X)
    np.testing.assert_array_equal(got[:, [0, 4]], X[:, [0, 2]])
    np.testing.assert_array_equal(got[:3, 1:4], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert not np.isfinite(got[3:, 1:4]).any()


def test_levels_added_later_stand_behind_and_belong_to_their_feature():
    later = OneHotEncoder(FeatureSpace((*INNER.encoded.names, code_column("mode", 9))))
    assert later.inputs.names == ("t", "mode", "p")
    np.testing.assert_array_equal(later.encode(np.array([[5.0, 9.0, 6.0]])), [[5, 0, 0, 0, 6, 1]])


def test_codes_stay_codes_in_the_next_space_under_new_names_too():
    following = FeatureSpace(("fan", "mode2", "t"), {"mode2": ("mode",)})
    inner = INNER.next_space(following, NONE)
    assert inner.names == ("fan", *(name.replace("mode", "mode2") for name in MODE), "t")
    change = INNER.encoded.diff(inner)
    assert change.vanished == ("p",)
    assert change.augmented == ("fan",)
    assert OneHotEncoder(inner).inputs == following


def test_codes_that_come_back_find_their_levels():
    gone = OneHotEncoder(FeatureSpace(("t",)))
    assert gone.next_space(FeatureSpace(("t", "mode")), MODE).names == ("t", *MODE)
    renamed = FeatureSpace(("t", "modus"), {"modus": ("mode",)})
    assert gone.next_space(renamed, MODE).names[1:] == tuple(name.replace("mode", "modus") for name in MODE)


def test_a_feature_that_takes_a_codes_name_over_is_not_one_if_it_was_none():
    swapped = FeatureSpace(("p", "t"), {"p": ("mode",)})  # its own name wins: p is the old p
    assert INNER.next_space(swapped, NONE) == swapped


def test_reports_speak_of_features():
    assert fold_weights({"t": 0.25, MODE[0]: 0.5, "p": 0.125, MODE[1]: 0.125}) == {"t": 0.25, "mode": 0.625, "p": 0.125}
    change = FeatureChange(MODE[:2], ("t",), (code_column("gear", 1), code_column("gear", 2)), {"t": "t0"})
    takeovers = {MODE[0]: Takeover(0.25, "t"), MODE[1]: Takeover(0.75, code_column("gear", 1))}
    back = (code_column("gear", 1),)
    told = fold_evolution(
        Evolution(change, announced=True, transform_steps=3, warm=True, returned=back, takeovers=takeovers)
    )
    assert told.change == FeatureChange(("mode",), ("t",), ("gear",), {"t": "t0"})
    assert told.returned == ("gear",)
    assert told.takeovers == {"mode": Takeover(0.5, "gear")}

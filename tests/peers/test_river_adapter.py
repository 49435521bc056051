"""The River adapter: River's own checks, and what it promises about keys that come and go."""

import copy
import doctest
import math
import pickle
import random
from collections.abc import Hashable
from itertools import islice

import numpy as np
import pytest
from river import checks, datasets, neighbors

import eml.river
from eml.core import LearnerConfig
from eml.river import KNOWN_AFTER, EMLClassifier

FEATURES = sorted(next(iter(datasets.ImageSegments()))[0])
SMALL = LearnerConfig(memory_size=128, warm_up=32, catch_up=1, retired_features=16, rank=16)


@pytest.fixture(autouse=True)
def _repeatable(monkeypatch):
    """River's checks shuffle with the global generator, and its convention is a random seed by default."""
    random.seed(7)
    monkeypatch.setattr("eml.river.secrets.randbits", lambda _: 7)


def every_check():
    """All of them, for each set of test parameters: none is skipped."""
    for number, params in enumerate(EMLClassifier._unit_test_params()):
        model = EMLClassifier(**params)
        for check in checks.yield_checks(model):
            yield pytest.param(model, check, id=f"{check.__name__}-params{number}")


@pytest.mark.parametrize(("model", "check"), list(every_check()))
def test_check_of_river(model, check):
    check(model.clone())


def test_river_checks_changing_features():
    names = {check.__name__ for check in checks.yield_checks(EMLClassifier())}
    features = {"emerging", "disappearing", "radically_disappearing"}
    assert names >= {f"check_{kind}_features" for kind in features}
    assert names >= {"check_shuffle_features_no_impact", "check_bounded_memory_growth", "check_seeding_is_idempotent"}


def test_example_of_the_documentation():
    assert doctest.testmod(eml.river).failed == 0


def hits(model, stream):
    """Test, then train."""
    right = []
    for x, y in stream:
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    return right


def learner_of(model):
    assert model.learner is not None
    return model.learner


def features_of(model):
    return learner_of(model).space.names


def last_evolution(model):
    return learner_of(model).explain().evolution


def share(right):
    return sum(right) / len(right)


@pytest.mark.parametrize("name", ["Phishing", "Bananas", "ImageSegments"])
def test_at_least_near_nearest_neighbours(name):
    stream = list(getattr(datasets, name)().take(1500))
    knn = neighbors.KNNClassifier(engine=neighbors.SWINN(seed=42))
    near = 0.02  # two standard errors of a difference on so many records
    assert share(hits(EMLClassifier(seed=1), stream)) > share(hits(knn, stream)) - near


def segments(*stages):
    """ImageSegments in equal stages, each with its own keys."""
    stream = list(datasets.ImageSegments())
    size = len(stream) // len(stages)
    for i, (x, y) in enumerate(stream[: size * len(stages)]):
        yield {key: x[key] for key in stages[i // size]}, y


@pytest.mark.parametrize(
    ("before", "after", "at_once", "at_last"),
    [
        pytest.param(FEATURES[:12], FEATURES[6:], 0.7, 0.8, id="some survive"),
        pytest.param(FEATURES[:9], FEATURES, 0.7, 0.8, id="new ones emerge"),
        pytest.param(FEATURES, FEATURES[9:], 0.6, 0.7, id="half vanish"),
        pytest.param(FEATURES[9:], FEATURES[:9], 0.25, 0.7, id="none survives"),
    ],
)
def test_features_swapped_in_mid_stream(before, after, at_once, at_last):
    right = hits(EMLClassifier(seed=1), segments(before, after))
    half = len(right) // 2  # chance is one in seven
    assert share(right[half : half + 64]) > at_once
    assert share(right[-300:]) > at_last


def test_a_key_retires_after_patience_and_may_return():
    model = EMLClassifier(batch=16, patience=64, config=SMALL, seed=1)
    stream = segments(FEATURES, FEATURES[3:], FEATURES)
    hits(model, islice(stream, 770 + 48))
    assert features_of(model) == tuple(FEATURES)  # absent: a missing value
    hits(model, islice(stream, 48))
    assert features_of(model) == tuple(FEATURES[3:])  # absent for long: an evolution
    hits(model, stream)
    assert sorted(features_of(model)) == FEATURES
    assert last_evolution(model).returned == tuple(FEATURES[:3])


def test_a_new_key_joins_once_it_is_known():
    model = EMLClassifier(batch=4, config=SMALL, seed=1)
    for i, (x, y) in enumerate(datasets.Phishing().take(40)):
        fresh = {"new": float(y)} if i >= 20 else {}
        model.learn_one(x | fresh, y)
        assert ("new" in features_of(model)) == (i >= 20 + KNOWN_AFTER - 1)


def noisy(count, keys_of):
    """Two classes told apart by one feature, with the keys of `keys_of(i)` beside it."""
    rng = np.random.default_rng(3)
    for i in range(count):
        y = bool(rng.random() < 0.5)
        yield {"signal": y + rng.normal(scale=0.2)} | {key: rng.normal() for key in keys_of(i)}, y


@pytest.mark.parametrize(
    "keys_of",
    [
        pytest.param(lambda i: [f"once {i}"], id="a new key in every record"),
        pytest.param(lambda i: [f"while {i // 12}", f"later {i // 50}"], id="keys that stay until they are features"),
        pytest.param(lambda i: [f"flood {i} {j}" for j in range(100)], id="a hundred new keys in every record"),
    ],
)
def test_hostile_keys_are_bounded(keys_of):
    model = EMLClassifier(batch=16, patience=64, max_features=12, config=SMALL, seed=1)
    right, bytes_ = [], []
    for record in noisy(1600, keys_of):
        right += hits(model, [record])
        assert len(features_of(model)) <= 12
        assert len(right) < 16 or "signal" in features_of(model)
        if len(right) % 100 == 0:  # 100 and 16: all phases of a batch
            assert len(model._keys.last) <= 2 * 12 + 16 * 101
            bytes_.append((model._raw_memory_usage, len(pickle.dumps(model))))
    early, late = np.max(bytes_[:8], axis=0), np.max(bytes_[8:], axis=0)
    assert (late < 1.2 * early).all()
    assert share(right) > 0.9


def test_keys_that_came_once_cost_no_evolution():
    model = EMLClassifier(batch=16, patience=64, config=SMALL, seed=1)
    hits(model, noisy(200, lambda i: [f"once {i}"] if i >= 16 else []))
    assert last_evolution(model) is None


@pytest.mark.parametrize(
    "copied",
    [
        pytest.param(lambda model: pickle.loads(pickle.dumps(model)), id="pickle"),  # noqa: S301  our own bytes
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(lambda model: model.clone(include_attributes=True), id="clone"),
    ],
)
@pytest.mark.parametrize("at", [5, 300, 1170])  # in the first batch, in the first stage, just after a change
def test_a_copy_has_the_same_future(copied, at):
    model = EMLClassifier(config=SMALL)
    stream = list(segments(FEATURES[:12], FEATURES[6:]))
    hits(model, stream[:at])
    twin = copied(model)
    for x, y in stream[at : at + 200]:
        assert model.predict_proba_one(x) == twin.predict_proba_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert learner_of(model).snapshot() == learner_of(twin).snapshot()


def test_predictions_start_with_the_first_label_and_change_nothing():
    model = EMLClassifier(config=SMALL, seed=1)
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    seen = set()
    for x, y in datasets.ImageSegments().take(50):
        model.learn_one(x, y)
        seen.add(y)
        before = pickle.dumps(model)
        scores = model.predict_proba_one(x | {"unheard of": 1.0})
        assert scores.keys() == seen
        assert math.isclose(sum(scores.values()), 1.0)
        assert scores == model.predict_proba_one(x)
        assert pickle.dumps(model) == before


def test_texts_are_categories():
    model, rng, right = EMLClassifier(config=SMALL, seed=1), random.Random(5), []  # noqa: S311  a repeatable choice
    for i in range(400):
        y = rng.choice(["ok", "worn"])
        mode = {"ok": ("idle", "run"), "worn": ("jog", "boost")}[y][i % 2] if rng.random() < 0.95 else "run"
        x: dict[Hashable, object] = {
            "noise": rng.gauss(0, 1),
            "mode": mode if i % 10 else None,
        }  # now and then it is missing
        right.append(model.predict_one(x) == y)
        if i % 50 == 1:
            x["mode"] = 7  # a number is no symbol
        model.learn_one(x, y)
    assert share(right[100:]) > 0.85
    assert learner_of(model).space.categories == {"mode (text)"}
    assert copy.deepcopy(model).predict_one({"mode": "jog"}) == "worn"


def test_a_text_that_is_another_in_every_record_is_bounded():
    model = EMLClassifier(batch=16, config=SMALL, seed=1)
    right = hits(model, ((x | {"id": f"id {i}"}, y) for i, (x, y) in enumerate(noisy(600, lambda _: []))))
    assert share(right[100:]) > 0.9
    assert learner_of(model)._state.memory.X.shape[1] <= 1 + 1 + 64


def test_only_finite_numbers_and_texts_are_values():
    plain, odd = EMLClassifier(config=SMALL, seed=1), EMLClassifier(config=SMALL, seed=1)
    ballast = {"bytes": b"x", "none": None, "list": [1], "nan": math.nan, "inf": -math.inf, "huge": 10**400, "i": 1j}
    for x, y in datasets.Phishing().take(100):
        flag = bool(x["is_popular"])
        plain.learn_one(x | {"flag": float(flag), "count": 2.0}, y)
        odd.learn_one(x | ballast | {"flag": flag, "count": np.int8(2)}, y)
        assert plain.predict_proba_one(x | {"flag": 1.0}) == odd.predict_proba_one(x | ballast | {"flag": np.True_})
    assert "flag" in features_of(odd)
    assert not ballast.keys() & set(features_of(odd))


def test_records_without_a_known_feature_get_the_frequencies():
    model = EMLClassifier(config=SMALL, seed=1)
    for y in ["a", "b", "a", "a"]:
        model.learn_one({}, y)
    assert model.predict_proba_one({}) == {"a": 0.75, "b": 0.25}
    for i in range(100):
        model.learn_one({"f": i % 2} if i % 3 else {"bytes": b"x"}, "ab"[i % 2])
    assert model.predict_one({"f": 1}) == "b"
    assert model.predict_proba_one({"never seen": 1.0}) == {"a": 53 / 104, "b": 51 / 104}


def test_keys_and_labels_of_any_kind():
    model = EMLClassifier(config=SMALL, seed=1)
    labels = [("left", 1), None, 2.5]
    for i in range(90):
        model.learn_one({0: float(i % 3), ("x", 1): -float(i % 3), "name": 1.0}, labels[i % 3])
    assert [model.predict_one({0: float(i), ("x", 1): -float(i)}) for i in range(3)] == labels
    assert pickle.loads(pickle.dumps(model)).predict_one({0: 1.0}) is None  # noqa: S301  our own bytes


@pytest.mark.parametrize("params", [{"batch": 0}, {"patience": 0}, {"max_features": -1}])
def test_parameters_must_be_positive(params):
    with pytest.raises(ValueError, match=f"{next(iter(params))} must be positive"):
        EMLClassifier(**params)

"""The simulated fleet."""

import numpy as np

from eml.local.fleet import STATES, VERSIONS, Machine


def test_a_machine_is_the_same_for_the_same_seed_and_another_for_another():
    one, same, other = (np.array([r.values for r in Machine(seed).readings(VERSIONS[0], 50)]) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_readings_have_the_versions_features_and_some_are_labelled():
    readings = list(Machine(0).readings(VERSIONS[2], 400))
    assert {len(r.values) for r in readings} == {len(VERSIONS[2])}
    assert {r.state for r in readings} == set(STATES)
    assert 0.3 < np.mean([r.labelled for r in readings]) < 0.5


def test_each_upgrade_takes_a_sensor_away_and_brings_one_and_the_rename_survives():
    second, third = VERSIONS[0].diff(VERSIONS[1]), VERSIONS[1].diff(VERSIONS[2])
    assert (second.vanished, second.augmented) == (("oil_pressure",), ("acoustic",))
    assert third.renamed == {"vibration_radial": "vibration_x"}
    assert third.augmented == ("coolant_flow",)

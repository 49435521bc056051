"""The simulated fleet, and what the demonstration shows of it."""

import numpy as np

from eml.cli import main
from eml.local.demo import contestants
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


def test_eml_is_ahead_of_dropping_and_of_restarting_right_after_the_switches():
    models = contestants()
    for model in models:
        for seed in range(2):
            model.run(Machine(seed), 600)
    eml, dropping, cold = ([m.accuracy(v, early=True) for v in (1, 2)] for m in models)
    assert np.mean(eml) > np.mean(cold) + 0.2
    assert np.mean(eml) > np.mean(dropping)


def test_the_command_prints_a_row_for_each_model(capsys):
    assert main(["demo", "--machines", "1", "--records", "200"]) == 0
    printed = capsys.readouterr().out
    for name in ("EML", "never learns", "restarts cold", "is gone; survivors keep"):
        assert name in printed

"""`eml evaluate confirm`: kept trials of earlier code stand where re-runs agree to the last bit, and only there."""

import json
from pathlib import Path

import pytest

from eml.evaluate import scenarios
from eml.evaluate.datasets import Named
from eml.evaluate.haphazard.streams import Source
from eml.evaluate.haphazard.trial import HaphazardTrial
from eml.evaluate.prequential.course import Plan
from eml.evaluate.prequential.trial import StreamTrial
from eml.evaluate.trial import Trial
from tests.unit.evaluate.test_command import evaluate, refusal

TRIALS = [
    Trial(Named("Gas"), "multi-shot-task-II", 120, 3, "opid", 64),
    StreamTrial(Named("DSADS"), Plan(2, None, 0.5), 1, "river-lr", 64),
    StreamTrial(Named("DSADS"), Plan(scheme="sudden", order="file"), 1, "river-lr", 64),
    HaphazardTrial(Source("wpbc"), 25, 0, "majority", 64),
]


@pytest.mark.parametrize("trial", TRIALS)
def test_a_kept_trial_is_built_again_as_it_was(trial):
    assert scenarios.rebuilt(json.loads(json.dumps(trial.identity))) == trial
    assert scenarios.rebuilt({**trial.identity, "dataset": "own.npz"}) is None


def with_earlier_code(kept: Path, **outcome: float) -> None:
    """Rewrite what is kept as if it was made with other code, and with these figures."""
    for path in kept.glob("*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            line["made_of"]["sources"] = "earlier"
            line["outcome"].update(outcome)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.slow
def test_what_cannot_be_compared_stays_stale(own_file, tmp_path, capsys):
    kept = tmp_path / "kept"
    options = ("--split", "2,4,2", "--batch", 12, "--runs", 1, "--methods", "memory", "--jobs", 1, "--keep", kept)
    assert evaluate("one-shot", "--data", own_file, *options) == 0
    capsys.readouterr()
    assert evaluate("confirm", "--keep", kept) == 0
    assert "made with the code that is here" in capsys.readouterr().out
    with_earlier_code(kept)
    assert evaluate("confirm", "--keep", kept) == 0
    assert "one-shot memory: none of 1 can be compared" in capsys.readouterr().out
    assert evaluate("one-shot", "--data", own_file, *options) == 0
    assert "0 trials taken, 1 stale (made of other sources)" in capsys.readouterr().err
    assert "no such folder" in refusal(capsys, "confirm", "--keep", tmp_path / "absent")


@pytest.mark.slow
@pytest.mark.data
def test_equal_figures_let_all_trials_of_the_method_stand_and_others_do_not(tmp_path, capsys):
    kept = tmp_path / "kept"
    run = ("haphazard", "--dataset", "wpbc", "--methods", "majority", "--jobs", 1, "--keep", kept)
    assert evaluate(*run) == 0
    with_earlier_code(kept, balanced=1.0)
    capsys.readouterr()
    assert evaluate("confirm", "--keep", kept, "--jobs", 1) == 0
    assert "haphazard majority: 1 of 1 differ (wpbc" in capsys.readouterr().out
    (kept / "haphazard--majority.jsonl").unlink()
    assert evaluate(*run) == 0
    with_earlier_code(kept)
    capsys.readouterr()
    assert evaluate("confirm", "--keep", kept, "--jobs", 1) == 0
    assert "haphazard majority: 1 run again, all equal; 3 kept trials stand" in capsys.readouterr().out
    assert evaluate(*run) == 0
    assert "3 trials taken, 0 stale, 0 to run" in capsys.readouterr().err
    assert evaluate("report", "--keep", kept) == 0
    report = capsys.readouterr().out
    assert "because 1 of their trials were run again" in report
    assert "other code" not in report

"""The convergence curve and the surface: what they measure, and that they are kept."""

import numpy as np
import pytest

from eml import cli
from eml.core import LearnerConfig
from eml.evaluate.kept_trials.store import Store
from eml.evaluate.own import OwnFile
from eml.evaluate.studies import convergence, surface
from eml.evaluate.studies.convergence import Curve, CurveTrial
from eml.evaluate.studies.surface import PLANES, SurfaceTrial
from eml.evaluate.trial import Trial
from eml.evaluate.trial import perform as perform_one_shot
from tests.unit.core.helpers import letters


@pytest.fixture
def longer_file(tmp_path):
    """Three classes of 160 samples, near each other, among louder noise that every feature has its part of."""
    random = np.random.default_rng(3)
    samples = np.repeat(1.2 * random.normal(size=(3, 8)), 160, axis=0) + random.normal(size=(480, 8))
    loud = np.repeat([1.0, 3.0], [4, 4])[:, None] * np.linalg.qr(random.normal(size=(8, 8)))[0]
    samples = samples @ loud
    path = tmp_path / "longer.npz"
    np.savez(path, X=samples, y=np.repeat([0, 1, 2], 160))
    return path


@pytest.fixture
def source(longer_file):
    return OwnFile(str(longer_file), (2, 4, 2), (60,))


def test_the_curve_has_a_point_per_step_and_falls(source):
    curve = convergence.perform(CurveTrial(source, 60, 0, 256))
    assert len(curve.learnt) == len(curve.objective) == len(curve.accuracy) == len(curve.survivors) >= 2
    assert list(curve.learnt) == sorted(set(curve.learnt))
    assert curve.objective[-1] < curve.objective[0]
    assert all(0.0 <= accuracy <= 100.0 for accuracy in (*curve.accuracy, *curve.survivors))


def test_codes_that_are_spelled_out_on_the_way_are_followed(tmp_path):
    codes, y = letters(480, 1, range(12))
    np.savez(tmp_path / "codes.npz", X=codes, y=y)
    curve = convergence.perform(CurveTrial(OwnFile(str(tmp_path / "codes.npz"), (2, 8, 2), (60,)), 60, 0, 256))
    assert np.isfinite(curve.objective).all()
    assert curve.accuracy[-1] > 60.0


def test_being_looked_at_changes_nothing_and_the_same_seed_gives_the_same(source):
    first, again = (convergence.perform(CurveTrial(source, 60, 1, 256)) for _ in range(2))
    assert (first.objective, first.survivors) == (again.objective, again.survivors)
    content = {name: getattr(first, name) for name in Curve.__slots__}
    assert Curve.from_json({n: list(v) if isinstance(v, tuple) else v for n, v in content.items()}) == first


def test_a_point_at_the_usual_settings_is_the_one_shot_figure(source):
    usual = LearnerConfig()
    point = surface.perform(SurfaceTrial(source, 60, 0, 256, "lambda-rho", usual.lam, usual.rho))
    assert point.accuracy == perform_one_shot(Trial(source, "one-shot", 60, 0, "eml", 256)).accuracy


@pytest.mark.parametrize("plane", PLANES)
def test_a_plane_sets_its_two_settings_and_no_other(source, plane):
    usual = LearnerConfig(memory_size=256)
    changed = SurfaceTrial(source, 60, 0, 256, plane, 0.5, 0.25).settings
    expected = dict(zip(PLANES[plane], (0.5, 0.25), strict=True))
    assert changed.lam == expected.get("lam", usual.lam)
    assert changed.rho == expected.get("rho", usual.rho)
    assert changed.steps == ((expected["gamma"],) if "gamma" in expected else usual.steps)


@pytest.mark.slow
def test_from_the_command_line_and_kept(longer_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("eml.evaluate.studies.session.GRID", (0.1, 1.0))
    keep = ("--keep", str(tmp_path / "kept"))
    data = ("--data", str(longer_file), "--split", "2,4,2", "--batch", "60", "--runs", "1", "--jobs", "1", *keep)
    assert cli.main(["evaluate", "convergence", *data]) == 0
    assert "objective, in margins" in capsys.readouterr().out
    assert cli.main(["evaluate", "surface", *data, "--json", str(tmp_path / "out.json")]) == 0
    assert "longer.npz 60 lambda-rho: best" in capsys.readouterr().out
    assert (tmp_path / "out.json").is_file()
    kept = [line.trial["scenario"] for line in Store.at(keep[1]).read_all().lines]
    assert kept == ["convergence", *["surface"] * 4]

"""Means, regret against a cold restart, who is ahead, and the table."""

import io
import math

import pytest
from rich.console import Console

from eml.evaluate.prequential.measures import Figures
from eml.evaluate.prequential.results import Group, as_json
from eml.evaluate.prequential.table import show


def run(early: float, *right: int) -> Figures:
    return Figures(early, early + 1, early + 2, early + 3, right, ((early,) * 10,) * len(right), 0.5)


GROUP = Group(
    "Gas",
    "a note",
    {
        "eml": (run(90.0, 50, 80, 90), run(94.0, 50, 90, 90)),
        "eml-announced": (run(99.0, 50, 99, 99), run(99.0, 50, 99, 99)),
        "restart": (run(70.0, 50, 60, 70), run(80.0, 50, 60, 70)),
        "river-lr": (run(85.0, 40, 70, 80), run(91.0, 40, 70, 80)),
    },
)


def printed(*groups: Group, width: int = 80) -> str:
    out = io.StringIO()
    show(groups, "a caption", Console(file=out, width=width))
    return out.getvalue()


def test_means_and_standard_errors():
    spread = GROUP.spread("eml", "early")
    assert spread.mean == 92.0
    assert spread.std_err == pytest.approx(math.sqrt(8.0) / math.sqrt(2))
    assert Group("Gas", "", {"eml": (run(90.0, 1, 2),)}).spread("eml", "early").std_err is None


def test_regret_is_counted_per_stage_after_a_switch_and_seed_by_seed():
    regret = GROUP.regret("eml")
    assert regret is not None
    assert regret.values == (-20.0, -25.0)
    cold = GROUP.regret("restart")
    assert cold is not None
    assert cold.mean == 0.0
    assert Group("Gas", "", {"eml": GROUP.figures["eml"]}).regret("eml") is None


def test_the_lead_is_over_the_best_rival_which_the_announced_one_is_not():
    lead = GROUP.lead()
    assert lead is not None
    assert lead[0] == "river-lr"
    assert lead[1].values == (5.0, 3.0)
    assert Group("Gas", "", {"eml": GROUP.figures["eml"]}).lead() is None


def test_the_table_has_a_row_per_method_and_says_who_is_ahead():
    text = printed(GROUP)
    (row,) = [line.split() for line in text.splitlines() if line.strip().startswith("Gas ")]
    assert row == ["Gas", "eml", "92.00±2.00", "93.00±2.00", "94.00±2.00", "95.00±2.00", "-22.5±2.5", "0.5"]
    assert "Gas, first 20 %: eml minus the best rival (river-lr): +4.00±1.00" in text
    assert "Gas: a note" in text
    assert "a caption" in text


def test_no_digit_is_cut_on_a_narrow_screen():
    narrow, wide = printed(GROUP, width=20), printed(GROUP, width=200)
    assert [line.split() for line in narrow.splitlines()] == [line.split() for line in wide.splitlines()]


def test_json_holds_every_figure_of_every_seed():
    content = as_json([GROUP], {"seed": 0})
    (group,) = content["datasets"]
    assert [figures["early"] for figures in group["methods"]["eml"]["runs"]] == [90.0, 94.0]
    assert group["methods"]["eml"]["regret"]["mean"] == -22.5
    assert group["methods"]["eml"]["summary"]["early"]["mean"] == 92.0

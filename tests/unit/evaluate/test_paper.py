"""The paper's figures: all cells of our six data sets, and its contradictions kept."""

import pytest

from eml.evaluate.paper import cells, figures, main_figure

CELLS = {
    "Mnist0vs5": (80, 160, 320),
    "Mnist0vs3vs5": (120, 240, 480),
    "Splice": (80, 160, 320),
    "USPS0vs5": (120, 160, 240),
    "USPS0vs3vs5": (180, 240, 300),
    "Satimage": (60, 90, 120),
}


def test_every_one_shot_cell_has_a_figure():
    found = [main_figure("one-shot", name, batch) for name, batches in CELLS.items() for batch in batches]
    assert len(found) == 18
    assert all(figure is not None and 80 < figure.accuracy < 100 for figure in found)


@pytest.mark.parametrize("task", ["I", "II"])
def test_multi_shot_has_figures_for_three_of_them(task):
    ours = {(name, batch) for name, batches in CELLS.items() for batch in batches}
    known = {cell for cell in ours if main_figure(f"multi-shot-task-{task}", *cell)}
    assert known == {cell for cell in ours if cell[0] in ("Mnist0vs5", "USPS0vs5", "USPS0vs3vs5")}


def test_the_main_table_is_shown_and_the_other_figure_for_the_same_cell_is_kept():
    main = main_figure("one-shot", "Mnist0vs5", 80)
    assert main is not None
    assert main.accuracy == 99.85
    of_eml = {
        figure.table: figure.accuracy for figure in figures("one-shot", "Mnist0vs5", 80) if figure.method == "eml"
    }
    assert of_eml == {"one-shot": 99.85, "one-shot-ablation": 99.07}


RIVALS = {"pegasos", "opmv", "tca", "bdml", "opml", "cdml", "firf", "opid", "opide"}


def test_ablations_and_rivals_are_named_as_the_methods_are():
    assert {figure.method for figure in figures("one-shot", "Satimage", 60)} == {
        "eml", "eml-woT", "eml-woI", "eml-woW", "eml-woLR", *RIVALS,
    }  # fmt: skip


@pytest.mark.parametrize("scenario", ["one-shot", "multi-shot-task-I"])
def test_every_cell_of_a_main_table_has_all_rivals(scenario):
    for cell in cells(scenario):
        assert {figure.method for figure in figures(scenario, *cell)} >= {"eml", *RIVALS}


def test_a_cell_the_paper_has_not_has_no_figure():
    assert main_figure("one-shot", "Gas", 120) is None
    assert figures("one-shot", "USPS0vs5", 121) == []

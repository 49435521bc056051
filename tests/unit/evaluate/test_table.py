"""The table and its summary: what is counted, what is averaged, what is printed."""

import io
import math

from rich.console import Console

from eml.evaluate.results import Cell, Score, as_json, cell, summarise
from eml.evaluate.table import show
from eml.evaluate.trial import Outcome


def score(*accuracies: float) -> Score:
    return Score(tuple(Outcome(accuracy, {2: accuracy}, 0.5) for accuracy in accuracies))


def row(dataset: str, batch: int, **means: float) -> Cell:
    scores = {name.replace("_", "-"): score(mean - 1, mean + 1) for name, mean in means.items()}
    return cell("one-shot", dataset, batch, (f"note on {dataset}",), scores)


def printed(cells: list[Cell], width: int = 80) -> str:
    out = io.StringIO()
    show(cells, "a title", "a caption", Console(file=out, width=width))
    return out.getvalue()


# The paper's EML: Satimage 60 and 90: 99.20, 99.71; USPS0vs5 120: 97.23; nothing for Gas.
CELLS = [
    row("Satimage", 60, eml=99.20, memory=99.51, memory_raw=98.0),
    row("Satimage", 90, eml=99.70, memory=99.0, memory_raw=99.5),
    row("USPS0vs5", 120, eml=97.5, memory=90.0, memory_raw=97.8),
    row("Gas", 120, eml=90.0, memory=85.0, memory_raw=80.0),
]


def test_standard_error_is_that_of_the_mean():
    accuracies = [90.0, 92.0, 97.0, 99.0]
    mean = sum(accuracies) / 4
    expected = math.sqrt(sum((value - mean) ** 2 for value in accuracies) / 3) / 2
    assert score(*accuracies).mean == mean
    assert score(*accuracies).std_err == expected
    assert score(90.0).std_err is None


def test_cells_are_counted_against_the_paper_and_the_better_memory():
    summary = summarise(CELLS)
    assert summary.paper_reached == (2, 3)  # equal counts; 99.70 is below 99.71
    assert summary.below_control == (1, 4)  # 0.31 below counts, 0.30 does not


def test_averages_give_each_data_set_the_same_weight():
    averages = summarise(CELLS).averages
    assert math.isclose(averages["eml"], ((99.20 + 99.70) / 2 + 97.5 + 90.0) / 3)
    assert math.isclose(averages["better memory"], ((99.51 + 99.5) / 2 + 97.8 + 85.0) / 3)


def test_a_row_shows_mean_error_paper_and_difference():
    lines = printed(CELLS).splitlines()
    satimage = next(line.split() for line in lines if "60" in line and "Satimage" in line)
    assert satimage == ["Satimage", "60", "99.20±1.00", "99.51±1.00", "99.20±0.91", "+0.00"]
    gas = next(line.split() for line in lines if "Gas" in line)
    assert gas == ["Gas", "120", "90.00±1.00", "85.00±1.00"]


def test_caption_notes_and_summary_stand_below():
    text = printed(CELLS)
    for line in (
        "a caption",
        "Satimage, n_i 60, 90: note on Satimage",
        "eml at or above the paper's EML: 2 of 3 cells",
        "eml more than 0.3 below better memory: 1 of 4 cells",
    ):
        assert line in text.splitlines()
    assert "average over data sets: eml 95.65, " in text


def test_a_narrow_screen_cuts_no_figure():
    wide, narrow = printed(CELLS, width=200), printed(CELLS, width=20)
    assert "…" not in narrow
    assert [line.split() for line in narrow.splitlines()] == [line.split() for line in wide.splitlines()]


def test_methods_other_than_eml_make_a_table_too():
    cells = [row("Satimage", 60, memory=99.0, restart=90.0)]
    assert "99.00±1.00  90.00±1.00  99.20±0.91" in printed(cells)
    assert summarise(cells).paper_reached == summarise(cells).below_control == (0, 0)


def test_json_holds_every_seed_and_the_paper_s_figures_of_all_tables():
    content = as_json(CELLS, {"memory": 64})
    first = content["cells"][0]
    assert first["methods"]["eml"]["accuracies"] == [98.20, 100.20]
    assert first["notes"] == ["note on Satimage"]
    assert {figure["table"] for figure in first["paper"]} == {"one-shot", "one-shot-ablation", "one-shot-low-rank"}
    assert content["summary"]["paper_reached"] == (2, 3)
    assert set(content["versions"]) == {"eml", "python", "numpy", "scipy", "pot"}
    assert content["settings"]["eml"]["memory_size"] == 64

"""Who is first in a row, what the table comes to, and the published figures beside ours."""

import io

import pytest
from rich.console import Console

from eml.evaluate.catalogue import HAPHAZARD_SETS
from eml.evaluate.haphazard import table
from eml.evaluate.haphazard.published import best
from eml.evaluate.haphazard.results import Cell, cell, summary
from eml.evaluate.haphazard.trial import Outcome


def row(p: int = 25, dataset: str = "wpbc", **figures: float) -> Cell:
    names = {name.replace("_", "-"): value for name, value in figures.items()}
    return cell(dataset, p, {name: (Outcome(value, value, 0, 1.0),) for name, value in names.items()})


def test_every_cell_of_the_benchmark_has_a_published_best():
    found = [best(name, p) for name in HAPHAZARD_SETS for p in (25, 50, 75)]
    assert len(found) == 18
    assert all(figure is not None and 50.0 < figure.balanced < 95.0 for figure in found)
    assert best("wpbc", 30) is None


@pytest.mark.parametrize(
    ("figures", "first"),
    [
        ({"eml": 58.2, "river_lr": 50.0}, ["eml"]),
        ({"eml": 58.2, "river_lr": 58.2}, ["eml", "river-lr"]),
        ({"eml": 58.0, "river_lr": 50.0}, ["OLVF"]),
        ({"eml": 58.2, "eml_woLinear": 60.0}, ["eml"]),
    ],
)
def test_who_is_first(figures, first):
    assert row(**figures).first == first


def test_ours_must_be_above_the_published_best_and_not_below_river_s():
    rows = [
        row(eml=58.2, river_lr=58.2),  # published: 58.1
        row(eml=58.1, river_lr=50.0),
        row(eml=59.0, river_lr=59.01),
        row(dataset="own.npz", eml=99.0, river_lr=1.0),
    ]
    assert summary(rows).startswith(
        "eml is above the published best and not below River's logistic regression in 1 of 3 cells"
    )
    assert summary([row(eml=58.2)]) == "eml is above the published best in 1 of 1 cells"
    assert "no published figure" in summary(rows[3:])


def test_the_table_marks_who_is_first_and_ends_with_the_count():
    text = io.StringIO()
    table.show([row(eml=58.2, river_lr=44.3), row(p=50, eml=50.0, river_lr=52.9)], "caption", Console(file=text))
    lines = [line.split() for line in text.getvalue().splitlines()]
    assert ["wpbc", "25", "58.20*", "44.30", "58.1", "OLVF", "eml"] in lines
    assert ["50", "50.00", "52.90", "53.8*", "OLVF", "OLVF"] in lines
    assert "in 1 of 2 cells" in text.getvalue()

"""Ours against each: what is counted, over which seeds, and as what."""

import numpy as np
import pytest
from scipy import stats

from eml.evaluate.reporting import compare
from eml.evaluate.reporting.gather import kind_of, tables
from eml.evaluate.reporting.significance import holm
from tests.unit.evaluate.reporting.conftest import kept, stream_line

CELLS = (("Satimage", 60), ("Satimage", 90), ("USPS0vs5", 120))


def test_figures_are_those_of_the_kept_trials(draw):
    lines = draw({"eml": 90.0, "memory": 85.0}, cells=CELLS)
    (table,) = tables(lines)
    assert [(row.dataset, row.batch) for row in table.rows] == [("USPS0vs5", 120), ("Satimage", 60), ("Satimage", 90)]
    for row in table.rows:
        for method, entry in row.entries.items():
            place = (row.dataset, row.batch, method)
            values = [
                line.outcome["accuracy"]
                for line in lines
                if (line.trial["dataset"], line.trial["batch"], line.trial["method"]) == place
            ]
            assert entry.mean == pytest.approx(np.mean(values))
            assert entry.std_err == pytest.approx(np.std(values, ddof=1) / np.sqrt(len(values)))


def test_significance_is_wilcoxon_s_over_the_same_seeds_and_holm_s_over_the_table(draw):
    lines = draw({"eml": 90.0, "memory": 85.0, "restart": 89.5}, cells=CELLS, seeds=9)
    (table,) = tables(lines)
    found = compare.contests(table)
    raw = [
        stats.wilcoxon(
            [c.row.entries["eml"].values[seed] - c.row.entries[c.method].values[seed] for seed in range(9)]
        ).pvalue
        for c in found
    ]
    assert len(found) == 6
    assert [c.p for c in found] == pytest.approx(raw)
    assert [c.corrected for c in found] == pytest.approx(holm(raw))
    assert {c.method for c in found if c.significant} == {"memory"}


def test_only_seeds_that_both_have_are_compared(draw):
    lines = draw({"eml": 90.0, "memory": 85.0}, seeds=6)
    lines = [line for line in lines if not (line.trial["method"] == "memory" and line.trial["seed"] < 2)]
    (contest,) = compare.contests(tables(lines)[0])
    assert contest.seeds == 4
    theirs = {line.trial["seed"]: line.outcome["accuracy"] for line in lines if line.trial["method"] == "memory"}
    ours = {line.trial["seed"]: line.outcome["accuracy"] for line in lines if line.trial["method"] == "eml"}
    assert contest.lead == round(np.mean([ours[seed] - theirs[seed] for seed in theirs]), 2)


def test_first_places_and_losses_follow_the_figures(draw):
    ahead = tables(draw({"eml": 95.0, "memory": 80.0, "river-knn": 70.0}, cells=CELLS))[0]
    behind = tables(draw({"eml": 70.0, "memory": 80.0, "river-knn": 95.0}, cells=CELLS))[0]
    assert compare.first_places(ahead) == (3, 3)
    assert compare.first_places(behind) == (0, 3)
    assert [record.method for record in compare.records(behind) if len(record.lost) == 3] == ["river-knn", "memory"]
    assert not any(record.lost for record in compare.records(ahead))


def test_variants_of_ours_take_no_place(draw):
    table = tables(draw({"eml": 80.0, "eml-woT": 95.0, "memory": 70.0}))[0]
    assert compare.first_places(table) == (1, 1)
    assert compare.best_of(table.rows[0]) == {"eml-woT"}


def test_a_place_is_won_over_the_seeds_both_have():
    figures = {("eml", 0): 90.0, ("eml", 1): 99.0, ("memory", 0): 91.0}  # ours has more on average
    lines = [
        kept("one-shot", "Gas", method, seed, {"accuracy": accuracy, "seconds": 1.0}, batch=120)
        for (method, seed), accuracy in figures.items()
    ]
    assert compare.first_places(tables(lines)[0]) == (0, 1)


def test_a_rival_with_few_of_our_seeds_takes_no_place(draw):
    lines = [*draw({"eml": 80.0}), *[line for line in draw({"firf": 90.0, "opid": 70.0}) if line.trial["seed"] == 0]]
    ours = len(tables(lines)[0].rows[0].entries["eml"].values)
    assert ours > 2
    assert compare.first_places(tables(lines)[0]) == (0, 0)
    assert compare.uncounted(tables(lines)[0]) == {"firf": 1, "opid": 1}


def test_a_row_without_a_rival_is_not_won(draw):
    assert compare.first_places(tables(draw({"eml": 80.0, "eml-woT": 70.0}))[0]) == (0, 0)


def test_leads_give_each_data_set_the_same_weight():
    figures = {("Satimage", 60): 3.0, ("Satimage", 90): 1.0, ("USPS0vs5", 120): -4.0}
    lines = [
        kept("one-shot", dataset, method, 0, {"accuracy": 90.0 + add, "seconds": 1.0}, batch=batch)
        for (dataset, batch), lead in figures.items()
        for method, add in (("eml", lead), ("memory", 0.0))
    ]
    (record,) = compare.records(tables(lines)[0])
    assert record.lead == pytest.approx((2.0 - 4.0) / 2)
    assert [record.count(sign) for sign in (1, 0, -1)] == [2, 0, 1]


def test_averages_are_of_methods_that_have_every_row_of_ours(draw):
    lines = draw({"eml": 90.0, "memory": 80.0}, cells=CELLS) + draw({"restart": 99.0}, cells=CELLS[:1])
    assert set(compare.averages(tables(lines)[0])) == {"eml", "memory"}


def test_what_may_not_be_compared_is_in_another_table():
    lines = [stream_line("Gas", "eml", 0, 80.0, switches) for switches in (1, 2)]
    found = tables(lines)
    assert [(table.parameters["switches"], table.figure) for table in found] == [
        (switches, figure) for switches in (1, 2) for figure in ("early", "after", "balanced")
    ]


def test_of_a_trial_kept_twice_the_later_counts(draw):
    old, new = draw({"eml": 50.0}, seeds=1), draw({"eml": 90.0}, seeds=1)
    assert tables([*old, *new])[0].rows[0].entries["eml"].values == {0: new[0].outcome["accuracy"]}


def test_few_seeds_cannot_be_significant_however_clear(draw):
    records = compare.records(tables(draw({"eml": 99.0, "memory": 10.0, "restart": 10.0}, seeds=4))[0])
    assert compare.least_corrected(records) == 2 * 2.0**-3
    assert not any(contest.significant for record in records for contest in record.contests)


@pytest.mark.parametrize(("method", "kind"), [("eml-woT", "ours"), ("memory", "control"), ("river-lr", "peer")])
def test_kinds_of_methods(method, kind):
    assert kind_of(method) == kind
    assert kind_of("opid") == "rival"

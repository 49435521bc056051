"""The whole report: its numbers are those of the folder, and it says what is not there."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from eml import cli
from eml.evaluate.kept_trials.store import Reading, Store
from eml.evaluate.paper import main_figure
from eml.evaluate.reporting import contents, markdown, page
from eml.evaluate.reporting.document import Bullets, Cell, Grid, Heading, Paragraph
from tests.unit.evaluate.reporting.conftest import kept, stream_line

CELLS = (("Satimage", 60), ("Satimage", 90), ("USPS0vs5", 120), ("Gas", 120))


def written(lines, unreadable=0):
    return markdown.write(contents.document(Reading(tuple(lines), unreadable)))


def rows_of(text, first):
    """The fields of the first table whose header begins with these."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} |"))
    table = [line.strip("| ").split(" | ") for line in lines[start : lines.index("", start)]]
    return [dict(zip(table[0], row, strict=True)) for row in table[2:]]


@pytest.mark.parametrize("noise", [0, 1])
def test_every_cell_of_the_table_is_the_mean_of_its_kept_trials(draw, noise):
    lines = draw({"eml": 90.0, "memory": 89.0, "opid": 85.0}, cells=CELLS, noise=noise)
    for row in rows_of(written(lines), "data set"):
        values = {
            method: [
                line.outcome["accuracy"]
                for line in lines
                if (line.trial["dataset"], str(line.trial["batch"]), line.trial["method"])
                == (row["data set"], row["n_i"], method)
            ]
            for method in ("eml", "memory", "opid")
        }
        best = max(values, key=lambda method: np.mean(values[method]))
        for method, found in values.items():
            figure = f"{np.mean(found):.2f}±{np.std(found, ddof=1) / np.sqrt(len(found)):.2f}"
            assert row[method].strip("*▲▼") == figure
            assert row[method].startswith("**") == (method == best)


def test_a_rival_that_beats_ours_is_named_with_its_rows_and_only_then(draw):
    cells = (("Gas", 120), ("DSADS", 360))  # the paper has no figures for these
    beaten = written(draw({"eml": 80.0, "opid": 90.0}, cells=cells, seeds=10))
    (line,) = [line for line in beaten.splitlines() if line.startswith("- opid (rival)")]
    assert line.startswith("- opid (rival), 2 of 2 rows: ")
    assert line.count("▼") == 2
    assert "eml is first in 0 of 2 rows" in beaten
    ahead = written(draw({"eml": 90.0, "opid": 80.0}, cells=cells, seeds=10))
    assert "No other method is above ours in any row." in ahead
    assert "eml is first in 2 of 2 rows" in ahead
    assert "- opid (rival)" not in ahead


def test_a_variant_that_is_above_ours_is_named_as_one(draw):
    text = written(draw({"eml": 80.0, "eml-woT": 90.0, "memory": 70.0}, cells=(("Gas", 120),)))
    assert "- eml-woT (variant of ours), 1 of 1 rows: Gas n\\_i 120 +" in text
    assert "eml is first in 1 of 1 rows" in text


def test_the_paper_s_figures_stand_beside_ours(draw):
    lines = draw({"eml": 99.0}, cells=(("Satimage", 60),))
    text = written(lines)
    published = main_figure("one-shot", "Satimage", 60)
    assert published is not None
    mean = np.mean([line.outcome["accuracy"] for line in lines])
    assert f"{published.accuracy:.2f}±{published.std_err:.2f}** ({round(mean, 2) - published.accuracy:+.2f})" in text
    assert "at or above the paper's EML in 0 of 1" in text


def test_a_published_rival_above_ours_is_named(draw):
    text = written(draw({"eml": 90.0, "memory": 50.0}, cells=(("Satimage", 60),)))
    assert re.search(r"- opide, as published: Satimage n\\_i 60 \+[78]\.", text)


def test_what_could_not_be_had_and_what_is_missing_is_said(draw):
    text = written(draw({"eml": 90.0}, cells=(("Satimage", 60), ("Gas", 120))), unreadable=3)
    for name in ("EV-Action", "Gisette", "ImageNet", "PAMAP2"):
        assert name in text
    assert "DSADS stands in for PAMAP2" in text
    assert "one-shot: no trial of Mnist0vs5, Mnist0vs3vs5, Splice, USPS0vs5, USPS0vs3vs5, DSADS in this folder." in text
    assert "one-shot: published, but not in this folder: Satimage n\\_i 90, Satimage n\\_i 120." in text
    assert "stream: nothing is kept in this folder." in text
    assert "3 lines of the folder could not be read" in text
    assert "Trials made with other code than is here now: one-shot eml 16." in text


def test_streams_have_a_table_per_figure_and_their_recovery():
    lines = [
        stream_line(name, method, seed, level + seed)
        for name in ("Gas", "Splice")
        for seed in range(3)
        for method, level in (("eml", 80.0), ("restart", 60.0))
    ]
    text = written(lines)
    assert [row["eml"] for row in rows_of(text, "data set")] == ["**81.50±0.58**"] * 2
    assert text.count("## Stream, 2 switches, all records: ") == 3
    assert "On the page, in 2 pictures: Recovery" in text


def test_studies_become_pictures():
    course = {name: [3.0, 2.0, 1.0] for name in ("objective", "accuracy", "survivors")}
    curve = kept("convergence", "USPS0vs5", "eml", 0, {**course, "learnt": [1, 2, 3], "seconds": 1.0}, batch=120)
    points = [
        kept("surface", "Splice", "eml", 0, {"accuracy": x + y, "seconds": 1.0}, batch=80, plane="lambda-rho", x=x, y=y)
        for x in (0.1, 1.0)
        for y in (0.1, 1.0)
    ]
    blocks = contents.document(Reading((curve, *points), 0))
    text = page.write(blocks)
    assert text.count("<svg") == 3
    assert "Splice n_i 80: 0.20 to 2.00" in text


class Watcher(HTMLParser):
    """Checks that elements are closed in order, and collects what a page would load from elsewhere."""

    VOID = ("meta", "br", "path", "use", "rect", "image")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID or tag in ("path", "use", "rect", "image"):
            self.open.append(tag)
        links = [value for name, value in attrs if name in ("src", "href", "xlink:href") and value]
        self.outside += [link for link in links if not link.startswith(("#", "data:"))]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_needs_nothing_outside_it_and_is_well_formed(draw):
    lines = draw({"eml": 90.0, "memory": 89.0, "<b>&": 50.0}, cells=CELLS)
    text = page.write(contents.document(Reading(tuple(lines), 0)))
    watcher = Watcher()
    watcher.feed(text)
    assert watcher.open == []
    assert watcher.outside == []
    assert "<script" not in text
    assert "&lt;b&gt;&amp;" in text
    assert re.search(r"url\((?!#)", text) is None
    assert "@media print" in text
    assert "prefers-color-scheme: dark" in text
    ids = re.findall(r'<h\d id="([^"]*)"', text)
    assert len(ids) == len(set(ids))


def test_the_same_folder_gives_the_same_page(draw):
    lines = tuple(draw({"eml": 90.0, "memory": 89.0}, cells=CELLS))
    assert page.write(contents.document(Reading(lines, 0))) == page.write(contents.document(Reading(lines, 0)))


def test_markdown_signs_in_names_stay_what_they_are():
    grid = Grid("a_b", ("x",), ((Cell("p|q", strong=True),), (Cell("1", under="+2"),)))
    text = markdown.write([Heading(2, "T"), Paragraph("a*b"), Bullets(("c_d",)), grid])
    assert text == "## T\n\na\\*b\n\n- c\\_d\n\n| x |\n| --- |\n| **p\\|q** |\n| 1 (+2) |\n\na\\_b\n"


def test_from_the_command_line(draw, tmp_path, capsys):
    store = Store.at(str(tmp_path / "kept"))
    for line in draw({"eml": 90.0, "memory": 89.0}, cells=CELLS):
        store.add(line)
    files = {name: tmp_path / f"report.{name}" for name in ("html", "markdown")}
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    assert cli.main(["evaluate", "report", "--keep", str(store.folder), *options]) == 0
    assert capsys.readouterr().out == ""
    assert "<svg" in files["html"].read_text()
    assert cli.main(["evaluate", "report", "--keep", str(store.folder)]) == 0
    assert capsys.readouterr().out == files["markdown"].read_text()


def test_nothing_to_report_is_said(tmp_path, capsys):
    assert cli.main(["evaluate", "report", "--keep", str(tmp_path / "absent")]) == 2
    assert "no such folder" in capsys.readouterr().err
    (tmp_path / "one-shot--eml.jsonl").write_text(json.dumps({"trial": {}}))
    assert cli.main(["evaluate", "report", "--keep", str(tmp_path)]) == 2
    assert "no trial is kept there" in capsys.readouterr().err

"""Changes of the code that left the figures as they were: which code a kept trial counts as made with."""

import pytest

from eml.evaluate.errors import EvaluationError
from eml.evaluate.kept_trials import confirmed
from eml.evaluate.kept_trials.confirmed import FILE, Codes, Confirmation
from eml.evaluate.kept_trials.store import Line, Store


def step(before: str, now: str, method: str = "opid") -> Confirmation:
    return Confirmation("one-shot", method, before, now, ("Gas 120 opid, seed 0",))


def test_code_is_followed_to_the_newest_that_gave_the_same():
    codes = Codes([step("a", "b"), step("b", "c"), step("x", "y", "firf")])
    assert [codes.of("one-shot", "opid", code) for code in ("a", "b", "c", "x")] == ["c", "c", "c", "x"]
    assert codes.of("one-shot", "firf", "x") == "y"
    assert codes.of("stream", "opid", "a") == "a"


def test_code_that_is_back_leads_nowhere_else(tmp_path):
    confirmed.add(tmp_path, [step("a", "b"), step("a", "b", "firf")])
    confirmed.add(tmp_path, [step("b", "a")])
    codes = Codes(confirmed.read(tmp_path))
    assert [codes.of("one-shot", "opid", code) for code in ("a", "b")] == ["a", "a"]
    assert codes.of("one-shot", "firf", "a") == "b"


def test_lines_are_read_with_the_code_they_count_as_and_stay_as_they_were_written(tmp_path):
    store = Store.at(str(tmp_path))
    trial = {"scenario": "one-shot", "dataset": "Gas", "batch": 120, "seed": 0, "method": "opid"}
    store.add(Line(trial, {"sources": "a", "data": "d"}, {"accuracy": 1.0}, 1.5))
    written = (tmp_path / "one-shot--opid.jsonl").read_bytes()
    confirmed.add(tmp_path, [step("a", "b")])
    for reading in (store.read_all(), store.read([("one-shot", "opid")])):
        assert [line.made_of for line in reading.lines] == [{"sources": "b", "data": "d"}]
        assert reading.unreadable == 0
        assert reading.confirmed == (step("a", "b"),)
    assert (tmp_path / "one-shot--opid.jsonl").read_bytes() == written


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / FILE).write_text('[{"scenario": 1}]')
    with pytest.raises(EvaluationError, match=FILE):
        confirmed.read(tmp_path)

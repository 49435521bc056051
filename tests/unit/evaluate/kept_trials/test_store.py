"""The folder of finished trials: nothing is lost, torn lines are left out, odd folders are refused."""

import pytest

from eml.evaluate.errors import EvaluationError
from eml.evaluate.kept_trials.store import Line, Store


def line(seed: int, method: str = "eml") -> Line:
    trial = {"scenario": "one-shot", "dataset": "Gas", "batch": 120, "seed": seed, "method": method}
    return Line(trial, {"sources": "abc"}, {"accuracy": 0.1 + seed / 3}, 1.5)


@pytest.fixture
def store(tmp_path):
    return Store.at(str(tmp_path / "deep" / "kept"))


def test_what_was_added_is_read_exactly_and_in_order(store):
    written = [line(seed) for seed in range(3)]
    for one in written:
        store.add(one)
    reading = store.read([("one-shot", "eml")])
    assert list(reading.lines) == written
    assert reading.unreadable == 0


def test_a_file_per_scenario_and_method(store):
    store.add(line(0))
    store.add(line(0, "memory"))
    assert sorted(path.name for path in store.folder.iterdir()) == ["one-shot--eml.jsonl", "one-shot--memory.jsonl"]
    assert len(store.read([("one-shot", "memory")]).lines) == 1
    assert len(store.read_all().lines) == 2
    assert store.read([("one-shot", "restart")]).lines == ()


@pytest.mark.parametrize("cut", [1, 2, 40, 100])
def test_a_torn_last_line_is_left_out_and_spoils_no_later_one(store, cut):
    for seed in range(2):
        store.add(line(seed))
    path = store.folder / "one-shot--eml.jsonl"
    path.write_bytes(path.read_bytes()[:-cut])
    torn = cut > 1  # without its line end only, a line is whole
    before = store.read_all()
    assert before.lines == ((line(0),) if torn else (line(0), line(1)))
    assert before.unreadable == torn
    store.add(line(2))
    after = store.read_all()
    assert after.lines == (*before.lines, line(2))
    assert after.unreadable == torn


@pytest.mark.parametrize("text", ["[]", "3", '{"trial": {}}', '{"trial": {}, "made_of": {}, "outcome": {}, "took": 1}'])
def test_a_line_that_is_not_ours_is_left_out(store, text):
    store.add(line(0))
    with (store.folder / "one-shot--eml.jsonl").open("a") as file:
        file.write(text + "\n")
    assert store.read_all().lines == (line(0),)
    assert store.read_all().unreadable == 1


def test_a_file_in_the_folder_s_place_is_refused(tmp_path):
    (tmp_path / "kept").write_text("")
    with pytest.raises(EvaluationError, match="is no folder"):
        Store.at(str(tmp_path / "kept"))

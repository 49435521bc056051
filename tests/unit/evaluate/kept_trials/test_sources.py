"""What a figure depends on: changes that count, and changes that do not."""

import sys
from functools import partial

import pytest

from eml.evaluate import controls
from eml.evaluate.errors import resolve_names
from eml.evaluate.kept_trials import sources
from eml.evaluate.own import OwnFile

PLAIN = (
    '"""A module."""\nfrom eml.core import rank\nfrom eml.evaluate.inner import half\n\ndef f(x):\n    return x + 1\n'
)


@pytest.fixture
def checksum(tmp_path, monkeypatch):
    """The checksum of a module of the harness with this text, which may import another, over this core."""
    monkeypatch.setattr(sources, "_ROOT", tmp_path)
    for folder in ("core", "evaluate"):
        (tmp_path / folder).mkdir()

    def count(text: str, inner: str = "half = 0.5\n", core: str = "rank = 64\n") -> str:
        (tmp_path / "core" / "__init__.py").write_text("from eml.core.config import rank\n")
        (tmp_path / "core" / "config.py").write_text(core)
        (tmp_path / "evaluate" / "outer.py").write_text(text)
        (tmp_path / "evaluate" / "inner.py").write_text(inner)
        sources._code_checksum.cache_clear()
        return sources.code_checksum(["eml.evaluate.outer"])

    yield count
    sources._code_checksum.cache_clear()


def test_comments_docstrings_and_layout_do_not_count(checksum):
    other = PLAIN.replace("A module", "Other").replace("x + 1", "(x+1)").replace("def", "# why\n\n\ndef")
    assert checksum(other) == checksum(PLAIN)


def test_code_counts_and_so_does_what_it_imports(checksum):
    found = {
        checksum(PLAIN),
        checksum(PLAIN.replace("+ 1", "+ 2")),
        checksum(PLAIN, inner="half = 0.6\n"),
        checksum(PLAIN, core="rank = 65\n"),
    }
    assert len(found) == 4


def test_the_core_counts_for_those_who_compute_with_it(checksum):
    rival = PLAIN.replace("from eml.core import rank\n", "")
    assert checksum(rival) == checksum(rival, core="rank = 65\n")
    ours = PLAIN.replace("def f", "REGISTRY = {}\ndef f")
    assert checksum(ours) != checksum(ours, core="rank = 65\n")
    assert checksum(ours) == checksum(ours, inner="half = 0.6\n")


def test_a_new_method_in_a_registry_changes_no_other(checksum):
    first = "from eml.evaluate import inner\nREGISTRY = {'a': 1}\ndef f(x):\n    return x\n"
    second = "from eml.evaluate import outer\nREGISTRY: dict = {'a': 1, 'b': 2}\ndef f(x):\n    return x\n"
    assert checksum(first) == checksum(second)
    assert checksum(first) != checksum(first.replace("return x", "return -x"))


def test_a_factory_names_its_module_and_those_it_is_handed():
    assert sources.modules_of(controls.NearestNeighbour) == ["eml.evaluate.controls"]
    later = partial(partial(resolve_names, ["eml"], what="eml.evaluate.own"), known=("eml",))
    assert sources.modules_of(later) == ["eml.evaluate.errors", "eml.evaluate.own"]


def test_a_peer_s_source_counts_without_being_imported():
    name = "eml.evaluate.prequential.river_models"
    sources.code_checksum([name])
    assert name not in sys.modules


def test_data_count_by_their_values_and_their_cut(own_file):
    found = {
        sources.data_checksum(OwnFile(str(own_file), (2, 4, 2), (12,))),
        sources.data_checksum(OwnFile(str(own_file), (1, 6, 1), (12,))),
        sources.data_checksum(OwnFile(str(own_file), (2, 4, 2), (12,), ("ash", "elm"))),
        sources.data_checksum(OwnFile(str(own_file), (2, 4, 2), (12,), (), 60)),
    }
    assert len(found) == 4


def test_every_part_is_told_from_the_others():
    assert sources.short(b"ab", b"c") != sources.short(b"a", b"bc")
    base = sources.made_of("code", {"rank": 64}, "data", ("numpy 2",))
    assert base["settings"] != sources.made_of("code", {"rank": 65}, "data", ("numpy 2",))["settings"]

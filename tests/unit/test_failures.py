"""The failure table in `deploy/FAILURES.md` is complete, and each of its rows has a test that exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from eml.flink.metrics import COUNTED, KINDS, LABELS, WAITS

ROOT = Path(__file__).parents[2]
FAILURES = (ROOT / "deploy/FAILURES.md").read_text(encoding="utf-8")
WATCHED = (ROOT / "deploy/README.md").read_text(encoding="utf-8").partition("## What to watch")[2].partition("\n## ")[0]
DEAD_LETTERS = (ROOT / "schemas/README.md").read_text(encoding="utf-8").partition("## Dead letters")[2]
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
REASON_AT = {"BadRecordError": 0, "BadSchemaError": 0, "DeadLetter": 1}  # which argument is the reason


def rows() -> list[str]:
    lines = [line for line in FAILURES.splitlines() if line.startswith("| ")]
    return [line for line in lines if not line.startswith("| what fails |")]


def trees() -> list[ast.Module]:
    files = [*(ROOT / "jobs/eml/stream").rglob("*.py"), *(ROOT / "jobs/eml/flink").glob("*.py")]
    return [ast.parse(path.read_text(encoding="utf-8")) for path in files]


def constants(module: ast.Module) -> dict[str, str]:
    """Module-level texts by their names."""
    return {
        target.id: node.value.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def reasons() -> Iterator[str]:
    """The reasons of dead letters that stand in the code, as literals or as constants."""
    modules = trees()
    imported = {name: text for module in modules for name, text in constants(module).items()}
    for module in modules:
        named = imported | constants(module)
        for call in (node for node in ast.walk(module) if isinstance(node, ast.Call)):
            if not isinstance(call.func, ast.Name) or call.func.id not in REASON_AT:
                continue
            argument = call.args[REASON_AT[call.func.id]]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value
            elif isinstance(argument, ast.Name):
                yield named[argument.id]
            else:
                assert isinstance(argument, ast.Attribute), ast.dump(argument)  # the reason of an error caught before


def test_every_row_names_tests_that_exist():
    assert len(rows()) > 60
    for row in rows():
        assert len(row.split(" | ")) == 5, row
        named = TEST.findall(row.rpartition(" | ")[2])
        assert named, row
        for file, name in named:
            code = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^def {name}\(", code, re.MULTILINE), f"{file} has no {name}"


def test_every_reason_of_a_dead_letter_has_a_row():
    found = set(reasons())
    assert found >= {"too-large", "not-framed", "waiting-full", "internal", "foreign-subject", "wrong-key"}
    seen = " ".join(row.split(" | ")[1] for row in rows())
    assert {reason for reason in found if f"`{reason}`" not in seen} == set()
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", DEAD_LETTERS.partition("**Reasons**")[2], re.MULTILINE))
    assert listed == found


def test_every_reason_to_wait_has_a_row():
    assert {reason for reason in WAITS if f": `{reason}`" not in FAILURES} == set()


@pytest.mark.parametrize("names", [COUNTED, WAITS.values(), KINDS.values(), [f"labels_{name}" for name in LABELS]])
def test_every_counter_is_described(names):
    assert {name for name in names if f"`{name}`" not in WATCHED} == set()

"""The scenarios that ARCHITECTURE promises are those that are tested on the real stack, one by one."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_row_of_the_table_of_scenarios_has_its_test():
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("| scenario (")[2].partition("\n\n")[0]
    promised = [row.split("|")[1].strip() for row in table.splitlines()[2:]]
    tests = (ROOT / "tests/integration/test_scenarios.py").read_text(encoding="utf-8")
    tested = [name.replace("_", " ") for name in re.findall(r"^def test_(\w+)\(", tests, re.MULTILINE)]
    assert promised == tested
    assert len(promised) > 15

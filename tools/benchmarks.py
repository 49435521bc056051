"""The tables of docs/benchmarks.md and docs/sizing.md from measured runs: `make benchmarks` runs this.

The runs are files of `eml bench ... --json` in evidence/bench; those of `eml bench stream` and `eml bench learner` also
serve as baselines (`--baseline`). A table holds every figure of its file; nothing is measured here.
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "evidence/bench"
BEGIN, END = "<!-- made by `make benchmarks` -->", "<!-- end -->"
PAGES = {"stream": "benchmarks", "learner": "benchmarks", "sizing": "sizing"}  # by the command
HEADINGS = {"better": "more is better", "worse": "less is better", "measured": "of this machine and hour"}


def main() -> int:
    """Write the tables."""
    for page in sorted(set(PAGES.values())):
        path = ROOT / f"docs/{page}.md"
        path.write_text(with_tables(path.read_text(encoding="utf-8"), page), encoding="utf-8")
    return 0


def with_tables(text: str, page: str) -> str:
    """A page with its tables anew."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"docs/{page}.md has no place for its tables: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{tables(page)}{END}{after}"


def tables(page: str) -> str:
    """The tables of all runs that belong to a page."""
    runs = [(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(RUNS.glob("*.json"))]
    return "".join(_table(name, run) for name, run in runs if PAGES[run["command"]] == page)


def _table(name: str, run: dict[str, Any]) -> str:
    machine = run["machine"]
    lines = [f"### {name}", "", f"`{run['line']}`, on {machine['cores']} cores, Python {machine['python']}.", ""]
    for kind, heading in HEADINGS.items():
        if run[kind]:
            lines += [f"| {heading} | |", "|---|---:|"]
            lines += [f"| {what} | {_shown(value)} |" for what, value in run[kind].items()]
            lines.append("")
    return "\n".join(lines) + "\n"


def _shown(value: float) -> str:
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


if __name__ == "__main__":
    sys.exit(main())

"""What an examination finds: nouns, and how they are run side by side and printed.

Used by `doctor` and the checks it runs. A check never waits longer than TIMEOUT_S in all.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from eml.core.errors import EmlError
from eml.terminal import paint

OK, WARN, FAIL = "ok", "warn", "fail"
WIDTH = 14  # of a name


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, how it is, and what to do where it is not well."""

    name: str
    state: str
    said: str
    fix: str = ""


Check = Callable[[], Iterable[Finding]]


def run_all(checks: Mapping[str, Check]) -> list[Finding]:
    """All checks side by side, in their order."""
    with ThreadPoolExecutor(len(checks) or 1) as pool:
        running = [pool.submit(_run, name, check) for name, check in checks.items()]
        return [finding for each in running for finding in each.result()]


def _run(name: str, check: Check) -> list[Finding]:
    try:
        return list(check())
    except EmlError as error:  # its message says what to do
        return [Finding(name, FAIL, str(error))]


def show(findings: Iterable[Finding]) -> None:
    """Print a line for each, and the fix below it."""
    for finding in findings:
        state = paint(f"{finding.state:<5}", finding.state)
        sys.stdout.write(f"{state} {finding.name:<{WIDTH}} {finding.said}\n")
        if finding.fix:
            sys.stdout.write(f"{'':<{WIDTH + 6}} -> {finding.fix}\n")

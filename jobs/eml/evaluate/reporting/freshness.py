"""Whether kept trials were made with the code that is here now.

Called by `contents`. Data are not looked at: a report is made where they need not be.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from eml.evaluate import scenarios
from eml.evaluate.errors import EvaluationError
from eml.evaluate.kept_trials.store import Line


def remarks(lines: Iterable[Line]) -> list[str]:
    """One line per scenario with trials of other code, and per method made with several versions of it."""
    by_file: dict[tuple[str, str], list[Line]] = {}
    for line in {line.key: line for line in lines}.values():
        by_file.setdefault((line.trial["scenario"], line.trial["method"]), []).append(line)
    old = Counter({place: _made_otherwise(*place, found) for place, found in by_file.items()})
    mixed = [f"{scenario} {method}" for (scenario, method), found in by_file.items() if len(_versions(found)) > 1]
    said = [f"{scenario} {method} {count}" for (scenario, method), count in old.items() if count]
    remarks = [f"Trials made with other code than is here now: {', '.join(said)}."] if said else []
    return remarks + ([f"Made with more than one version of the code: {', '.join(mixed)}."] if mixed else [])


def _versions(lines: Iterable[Line]) -> set[str]:
    return {line.made_of.get("sources", "") for line in lines}


def _made_otherwise(scenario: str, method: str, lines: Sequence[Line]) -> int:
    try:
        now = scenarios.code_of(scenario, method)
    except (KeyError, EvaluationError):  # a method that is not here any more
        return len(lines)
    return sum(line.made_of.get("sources") != now for line in lines)

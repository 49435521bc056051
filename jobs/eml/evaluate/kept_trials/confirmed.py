"""Which changes of the code left a method's figures as they were: found by running kept trials again.

Read by `store` when lines are read, written by `confirming`; knows checksums only. The file stands beside the kept
trials and says what was run. The trials themselves stay as they were written.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eml.evaluate.errors import EvaluationError

FILE = "confirmed.json"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A method's trials of the code `before`, some of which were run again with the code `now` and gave the same."""

    scenario: str
    method: str
    before: str
    now: str
    rerun: tuple[str, ...]  # the trials that were run again, in a few words each


def read(folder: Path) -> tuple[Confirmation, ...]:
    """Return what was confirmed in a folder; nothing where nothing was."""
    path = folder / FILE
    if not path.is_file():
        return ()
    try:
        content: list[dict[str, Any]] = json.loads(path.read_bytes())
        return tuple(Confirmation(**{**entry, "rerun": tuple(entry["rerun"])}) for entry in content)
    except (ValueError, KeyError, TypeError) as error:
        raise EvaluationError(
            f"{path} cannot be read ({error}); without it, kept trials count by their own code"
        ) from error


def add(folder: Path, found: Iterable[Confirmation]) -> None:
    """Write what was confirmed beside what was before; code that is back leads nowhere else any more."""
    fresh = list(found)
    back = {(one.scenario, one.method, one.now) for one in fresh}
    former = [one for one in read(folder) if (one.scenario, one.method, one.before) not in back]
    text = json.dumps([asdict(one) for one in (*former, *fresh)], indent=1)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")


class Codes:
    """The code that a kept trial counts as made with."""

    def __init__(self, confirmations: Iterable[Confirmation]) -> None:
        self._next = {(one.scenario, one.method, one.before): one.now for one in confirmations}

    def of(self, scenario: str, method: str, code: str) -> str:
        """Follow `code` to the newest that gave the same figures."""
        seen = {code}
        while (following := self._next.get((scenario, method, code))) is not None and following not in seen:
            code = following
            seen.add(code)
        return code

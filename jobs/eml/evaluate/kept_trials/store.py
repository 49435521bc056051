"""The folder of finished trials: a file per scenario and method, a line of JSON per trial, only ever added to.

Called by `resume` and by the report; knows neither trials nor methods. A line that was torn by a crash, or is no line
of ours, is left out and counted; the next one begins on a line of its own.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eml.evaluate.errors import EvaluationError
from eml.evaluate.kept_trials import confirmed
from eml.evaluate.kept_trials.confirmed import Confirmation

_ENDING = ".jsonl"


@dataclass(frozen=True, slots=True)
class Line:
    """A finished trial: which one it is, what its figure depends on, the figure, and how long it took."""

    trial: Mapping[str, Any]  # has at least scenario, dataset, method and seed
    made_of: Mapping[str, str]
    outcome: Mapping[str, Any]
    took: float  # seconds by the wall clock

    @property
    def key(self) -> str:
        """The trial as one string."""
        return key_of(self.trial)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the files hold: the lines in the order they were written, and how many could not be read."""

    lines: tuple[Line, ...]  # with the code they count as made with, see `confirmed`
    unreadable: int
    confirmed: tuple[Confirmation, ...] = ()


def key_of(trial: Mapping[str, Any]) -> str:
    """A trial as one string, whatever the order of its fields."""
    return json.dumps(trial, sort_keys=True)


class Store:
    """A folder of kept trials."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def at(cls, name: str) -> "Store":
        """The folder `name`, made where it is not there; refused now rather than after the work."""
        folder = Path(name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EvaluationError(f"--keep {name}: is no folder and cannot be made one ({error.strerror})") from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise EvaluationError(f"--keep {name}: cannot be written to")
        return cls(folder)

    def read(self, files: Iterable[tuple[str, str]]) -> Reading:
        """The lines of these scenarios and methods."""
        return self._read(self._path(scenario, method) for scenario, method in files)

    def read_all(self) -> Reading:
        """The lines of all files."""
        return self._read(sorted(self.folder.glob(f"*{_ENDING}")))

    def _read(self, paths: Iterable[Path]) -> Reading:
        found = [line for path in paths for line in _lines(path)]
        confirmations = confirmed.read(self.folder)
        codes = confirmed.Codes(confirmations)
        whole = tuple(_counted(line, codes) for line in found if line is not None)
        return Reading(whole, len(found) - len(whole), confirmations)

    def add(self, line: Line) -> None:
        """Write a line, on the disk when this returns: a crash costs what runs, not what is finished."""
        path = self._path(line.trial["scenario"], line.trial["method"])
        content = {"trial": line.trial, "made_of": line.made_of, "outcome": line.outcome, "took": line.took}
        text = ("\n" if _is_torn(path) else "") + json.dumps(content) + "\n"
        with path.open("ab", buffering=0) as file:  # one write: lines of two commands do not mix
            file.write(text.encode())
            os.fsync(file.fileno())

    def _path(self, scenario: str, method: str) -> Path:
        return self.folder / f"{scenario}--{method}{_ENDING}"


def _is_torn(path: Path) -> bool:
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def _counted(line: Line, codes: confirmed.Codes) -> Line:
    """The line with the code it counts as made with."""
    if "sources" not in line.made_of:
        return line
    code = codes.of(line.trial["scenario"], line.trial["method"], line.made_of["sources"])
    return replace(line, made_of={**line.made_of, "sources": code})


def _lines(path: Path) -> Iterator[Line | None]:
    """Each line, None where it cannot be read."""
    if not path.is_file():
        return
    for text in path.read_bytes().splitlines():
        if text.strip():
            yield _parsed(text)


def _parsed(text: bytes) -> Line | None:
    try:
        content = json.loads(text)
        line = Line(content["trial"], content["made_of"], content["outcome"], float(content["took"]))
        named = all(name in line.trial for name in ("scenario", "dataset", "method", "seed"))
    except (ValueError, KeyError, TypeError):
        return None
    return line if named else None

"""The figures as a file, and a comparison with an earlier one that names what got slower.

Called by `running` and `learner`. Rates differ from machine to machine and from hour to hour: what is kept and compared
are ratios against a peer of the same run.
"""

import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from eml.bench.comparison import JOB, Options, Pace, Result
from eml.local.errors import LocalError

TOLERANCE = 0.25  # of a ratio: less is noise on a shared machine
LEAST_MS = 1.0  # a peer's delay below this is taken for this: append times are whole milliseconds


@dataclass(slots=True)
class Figures:
    """What was measured, by name: `better` are ratios where more is better, `worse` those where less is."""

    better: dict[str, float] = field(default_factory=dict)
    worse: dict[str, float] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)  # of this machine and hour


def of_results(options: Options, results: Sequence[Result]) -> Figures:
    """Rates of a backlog."""
    figures = Figures()
    for result in results:
        for rival in result.rates:
            figures.measured[f"{result.label}: {rival.label}, records/s"] = result.rate(rival)
            for peer in options.peers if rival.kind == JOB else ():
                figures.better[f"{result.label}: {rival.label}, times {peer}"] = result.times(rival, peer)
    return figures


def of_paces(options: Options, paces: Sequence[Pace]) -> Figures:
    """Delays at a pace, and the highest rate that each pipeline keeps up with."""
    figures, best = Figures(), _best(paces)
    at = {(pace.rival.kind, pace.rate): pace for pace in paces}
    for pace in paces:
        where = f"{pace.rate} records/s: {pace.rival.label}"
        figures.measured |= {f"{where}, p50 ms": pace.p50_ms, f"{where}, p99 ms": pace.p99_ms}
        for peer in options.peers if pace.rival.kind == JOB else ():
            if (peer, pace.rate) in at:
                theirs = max(LEAST_MS, at[peer, pace.rate].p99_ms)
                figures.worse[f"{where}, p99 times {peer}"] = pace.p99_ms / theirs
    if options.find_rate:
        for name, rate in best.items():
            figures.measured[f"highest rate: {name}"] = rate
            for peer in options.peers if name.startswith(JOB) else ():
                figures.better[f"highest rate: {name}, times {peer}"] = rate / max(1.0, best.get(peer, 0.0))
    return figures


def _best(paces: Sequence[Pace]) -> dict[str, float]:
    best: dict[str, float] = {pace.rival.label: 0.0 for pace in paces}
    for pace in paces:
        if pace.keeps_up:
            best[pace.rival.label] = max(best[pace.rival.label], pace.rate)
    return best


def write(path: Path, command: str, options: object, figures: Figures) -> None:
    """Everything as JSON."""
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "system": platform.platform()}
    chosen = asdict(options) if isinstance(options, Options) else options
    line = shlex.join(["eml", *sys.argv[1:]])
    content = {"command": command, "line": line, "machine": machine, "options": chosen, **asdict(figures)}
    try:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise LocalError(f"{path} cannot be written ({error.strerror}).") from error


def read(path: Path) -> Figures:
    """The figures of an earlier run."""
    try:
        content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Figures(dict(content["better"]), dict(content["worse"]))
    except OSError as error:
        raise LocalError(f"{path} cannot be read ({error.strerror}): name a file that --json has written.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LocalError(f"{path} is no file that --json has written.") from error


def slower(before: Figures, now: Figures, tolerance: float = TOLERANCE) -> list[str]:
    """What got slower by more than the tolerance, each in a line."""
    lines = [
        _line(name, now.better[name], ratio)
        for name, ratio in before.better.items()
        if name in now.better and now.better[name] < (1.0 - tolerance) * ratio
    ]
    return lines + [
        _line(name, now.worse[name], ratio)
        for name, ratio in before.worse.items()
        if name in now.worse and now.worse[name] > (1.0 + tolerance) * ratio
    ]


def _line(name: str, now: float, before: float) -> str:
    return f"{name}: {now:.2f}, was {before:.2f}"


def compare(before: Figures, now: Figures, console: Console) -> None:
    """Say what got slower; an error where something did."""
    common = (before.better.keys() & now.better.keys()) | (before.worse.keys() & now.worse.keys())
    if not common:
        raise LocalError("The baseline has none of these figures: run with the options that it was made with.")
    found = slower(before, now)
    if found:
        raise LocalError("\n  ".join(["These got slower than the baseline:", *found]))
    console.print(f"None of {len(common)} ratios is more than {TOLERANCE:.0%} worse than the baseline's.")

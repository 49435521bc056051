"""How the benchmark measures: rivals take turns, the median counts, and only ratios are judged.

Turns, so that a machine that slows down for a while slows everybody; medians, so that one hiccup decides nothing.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Comparison:
    """One ratio, what we aim at, and the bare figures behind it."""

    what: str
    ratio: float
    detail: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def verdict(self) -> str:
        """Whether the aim is met; a ratio without an aim is for orientation."""
        if self.at_most is None and self.at_least is None:
            return ""
        low = self.at_least is None or self.ratio >= self.at_least
        high = self.at_most is None or self.ratio <= self.at_most
        return "PASS" if low and high else "MISS"

    def __str__(self) -> str:
        aim = f"at most {self.at_most:g}" if self.at_most is not None else ""
        aim = f"at least {self.at_least:g}" if self.at_least is not None else aim
        return f"  {self.what:<74} {self.ratio:>8.3g}   {aim:<12} {self.verdict:<4}   {self.detail}"


def in_turn(
    rivals: Mapping[str, Callable[[], object]],
    repetitions: int,
    warm_up: int = 1,
    of: Callable[[list[float]], float] = median,
) -> dict[str, float]:
    """Median seconds of each rival; one call each in every round, after `warm_up` rounds that do not count."""
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(warm_up + repetitions):
        for name, call in rivals.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: of(taken[warm_up:]) for name, taken in seconds.items()}


def milliseconds(*seconds: float) -> str:
    """Times to print beside a ratio."""
    return ", ".join(f"{1e3 * s:.3g} ms" for s in seconds)

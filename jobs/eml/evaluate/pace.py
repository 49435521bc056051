"""Which trial comes next, and how long the rest will take, where trials differ a lot in length.

Used by `runner`. Trials of one label take about as long as each other. One of each label goes first, unless its
length is known from an earlier run; from then on the longest go first, so that none is left over at the end, and the
time left is counted label by label.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar


class Labelled(Hashable, Protocol):
    """A trial: hashable, and small enough to be sent to a worker."""

    @property
    def label(self) -> str:
        """What the progress bar says of it."""


Trial = TypeVar("Trial", bound=Labelled)


class Pace(Generic[Trial]):
    """The trials that wait, those that run, and how long each kind takes."""

    def __init__(self, trials: Sequence[Trial], known: Mapping[str, float], clock: Callable[[], float]) -> None:
        self._waiting: dict[str, deque[Trial]] = {}
        for trial in trials:
            self._waiting.setdefault(trial.label, deque()).append(trial)
        self._took = {label: (1, seconds) for label, seconds in known.items()}  # how many, and their seconds together
        self._running: dict[Trial, float] = {}  # when it was started
        self._tried: set[str] = set()
        self._clock = clock

    def start(self) -> Trial | None:
        """The trial to start now; None where all have been."""
        labels = [label for label, trials in self._waiting.items() if trials]
        if not labels:
            return None
        untried = [label for label in labels if label not in self._took and label not in self._tried]
        label = untried[0] if untried else max(labels, key=self._lengths(labels).__getitem__)
        self._tried.add(label)
        trial = self._waiting[label].popleft()
        self._running[trial] = self._clock()
        return trial

    def finish(self, trial: Trial, seconds: float) -> None:
        """Take in how long a trial took."""
        del self._running[trial]
        count, together = self._took.get(trial.label, (0, 0.0))
        self._took[trial.label] = (count + 1, together + seconds)

    def left(self, jobs: int) -> float | None:
        """Seconds until all is done, with `jobs` at a time; None while nothing is known."""
        if not self._took:
            return None
        now, lengths = self._clock(), self._lengths(self._waiting)
        waiting = sum(len(trials) * lengths[label] for label, trials in self._waiting.items())
        running = sum(max(0.0, lengths[trial.label] - (now - began)) for trial, began in self._running.items())
        return (waiting + running) / jobs

    def _lengths(self, labels: Iterable[str]) -> dict[str, float]:
        """Mean length of each label's trials; of those that are not known yet, the mean of all labels that are."""
        known = {label: together / count for label, (count, together) in self._took.items()}
        usual = sum(known.values()) / max(1, len(known))
        return {label: known.get(label, usual) for label in labels}

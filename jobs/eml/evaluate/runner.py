"""All trials of a table, spread over processes, with a progress bar.

Called by a scenario's session, or by `kept_trials.resume`, with trials and what performs one; knows neither. Every
trial runs in a fresh process (spawned, one BLAS thread) even with one job: sums then come in the same order, and the
figures do not depend on how many processes there were, nor on which trial came first (`pace`).
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from eml.evaluate.errors import EvaluationError
from eml.evaluate.pace import Labelled, Pace, Trial

__all__ = ["Labelled", "run"]

_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

Outcome = TypeVar("Outcome")
Finished = Callable[[Trial, Outcome, float], None]  # told of each trial as it comes, with its seconds


def run(
    trials: Sequence[Trial],
    perform: Callable[[Trial], Outcome],
    jobs: int,
    console: Console,
    *,
    finished: Finished[Trial, Outcome] | None = None,
    lengths: Mapping[str, float] | None = None,
) -> list[Outcome]:
    """Return the outcome of each trial, in the order of `trials`; `lengths`: seconds by label, where known."""
    if not trials:
        return []
    pace = Pace(trials, lengths or {}, time.monotonic)
    outcomes: dict[Trial, Outcome] = {}
    with _single_threaded_blas(), _bar(console, lambda: pace.left(jobs)) as bar:
        shown = bar.add_task("starting", total=len(trials))
        for trial, outcome, seconds in _outcomes(pace, perform, min(jobs, len(trials))):
            outcomes[trial] = outcome
            if finished is not None:
                finished(trial, outcome, seconds)
            bar.update(shown, advance=1, description=trial.label)
    return [outcomes[trial] for trial in trials]


def _outcomes(
    pace: Pace[Trial], perform: Callable[[Trial], Outcome], jobs: int
) -> Iterator[tuple[Trial, Outcome, float]]:
    """Yield outcomes as they come; the first failure stops the rest."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_end_with_parent)
    running: dict[Future[tuple[Outcome, float]], Trial] = {}
    try:
        while True:
            while len(running) < jobs and (trial := pace.start()) is not None:
                running[pool.submit(_timed, perform, trial)] = trial
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                trial = running.pop(future)
                outcome, seconds = _result(future, trial)
                pace.finish(trial, seconds)
                yield trial, outcome, seconds
    finally:
        pool.shutdown(cancel_futures=True)


def _timed(perform: Callable[[Trial], Outcome], trial: Trial) -> tuple[Outcome, float]:
    """Perform a trial, in a worker; its outcome, and seconds by the wall clock."""
    start = time.monotonic()
    return perform(trial), time.monotonic() - start


def _end_with_parent() -> None:
    """Let no worker outlive the command: one that was killed cannot tell its workers."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _result(future: Future[tuple[Outcome, float]], trial: Trial) -> tuple[Outcome, float]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise EvaluationError("a worker process died, of too little memory perhaps: try fewer --jobs") from error
    except Exception as error:
        error.add_note(f"in this trial: {trial}")
        raise


@contextmanager
def _single_threaded_blas() -> Iterator[None]:
    """Let processes started meanwhile use one BLAS thread: it is read where numpy is first imported."""
    before = {name: os.environ.get(name) for name in _BLAS_THREADS}
    os.environ.update(dict.fromkeys(_BLAS_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _TimeLeft(ProgressColumn):
    """The time left, counted anew whenever the bar is drawn."""

    def __init__(self, left: Callable[[], float | None]) -> None:
        super().__init__()
        self._left = left

    def render(self, task: Task) -> Text:
        """Return it in the unit that suits it."""
        seconds = self._left()
        if seconds is None or task.finished:
            return Text("")
        return Text(f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left")


def _bar(console: Console, left: Callable[[], float | None]) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, _TimeLeft(left), console=console, transient=True, disable=not console.is_terminal)

"""All trials of a table, spread over processes, with a progress bar.

Called by a scenario's session with its trials and what performs one; knows neither. Every trial runs in a fresh
process (spawned, one BLAS thread) even with one job: sums then come in the same order, and the figures do not
depend on how many processes there were.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from eml.evaluate.errors import EvaluationError

_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Labelled(Hashable, Protocol):
    """A trial: hashable, and small enough to be sent to a worker."""

    @property
    def label(self) -> str:
        """What the progress bar says of it."""


Trial = TypeVar("Trial", bound=Labelled)
Outcome = TypeVar("Outcome")


def run(trials: Sequence[Trial], perform: Callable[[Trial], Outcome], jobs: int, console: Console) -> list[Outcome]:
    """Return the outcome of each trial, in the order of `trials`."""
    with _single_threaded_blas(), _bar(console) as bar:
        shown = bar.add_task("starting", total=len(trials))
        outcomes: dict[Trial, Outcome] = {}
        for trial, outcome in _outcomes(trials, perform, jobs):
            outcomes[trial] = outcome
            bar.update(shown, advance=1, description=trial.label)
    return [outcomes[trial] for trial in trials]


def _outcomes(
    trials: Sequence[Trial], perform: Callable[[Trial], Outcome], jobs: int
) -> Iterator[tuple[Trial, Outcome]]:
    """Yield outcomes as they come; the first failure stops the rest."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(trials)), mp_context=context, initializer=_end_with_parent)
    try:
        waiting: dict[Future[Outcome], Trial] = {pool.submit(perform, trial): trial for trial in trials}
        for future in as_completed(waiting):
            yield waiting[future], _result(future, waiting[future])
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Let no worker outlive the command: one that was killed cannot tell its workers."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _result(future: Future[Outcome], trial: Trial) -> Outcome:
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


def _bar(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)

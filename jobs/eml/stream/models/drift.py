"""Drift without evolution: the features stay the same, what they mean changes, and the errors of a key rise.

Called by `scoring` with every prediction whose label is known; calls River's ADWIN [1], which grows its window while
nothing in it shows two different error rates. Knows no learner; `learning.drift` says how the learner reacts.

A detector's state is no pickle of River's: it is the errors since it started, one bit each; a detector that reads them
again is the same. When they reach `MOST` the older half goes and the detector reads the rest again, also where
nothing is restored, so that a job that was stopped and one that was not detect the same.

References
----------
[1] Bifet, Gavaldà, Learning from time-changing data with adaptive windowing, SIAM Data Mining 2007.
"""

from base64 import b64decode, b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from eml.stream.output.events import Drift

MOST = 2048  # errors a detector knows; with half of it, small drifts slip through now and then. 344 characters of state

Counts = NDArray[np.int64]


class DriftDetector:
    """Detects when a key's error rate has risen; `sensitivity` is ADWIN's delta, 0 turns it off."""

    def __init__(self, sensitivity: float) -> None:
        self._sensitivity = sensitivity
        self._wrong = bytearray()  # since the start, 0 or 1 each
        self._adwin: Any = None  # made when it is asked: most restored keys wait for their next label

    def update(self, wrong: bool) -> Drift | None:  # noqa: FBT001  the one thing there is to say
        """Take in whether a prediction was wrong; the drift if that makes it sure. It starts anew then."""
        if not self._sensitivity:
            return None
        if self._adwin is None:
            self._adwin = self._rebuilt()
        self._wrong.append(wrong)
        if len(self._wrong) < MOST:
            self._adwin.update(wrong)
        else:
            del self._wrong[: MOST // 2]
            self._adwin = self._rebuilt()
        return self._changed() if self._adwin.drift_detected else None

    def _changed(self) -> Drift | None:
        """The error rate has changed: a drift if it rose."""
        wrong = np.frombuffer(bytes(self._wrong), np.uint8)
        self.reset()
        start = _likeliest_cut(wrong)
        before, after = wrong[:start], wrong[start:]
        drift = Drift(float(before.mean()), float(after.mean()), len(before), len(after))
        return drift if drift.error_after > drift.error_before else None

    def _rebuilt(self) -> Any:  # noqa: ANN401  River's types are not read
        from river.drift import ADWIN  # noqa: PLC0415  brings pandas, which only the job has loaded anyway

        adwin = ADWIN(delta=self._sensitivity)
        for wrong in self._wrong:
            adwin.update(wrong)
        return adwin

    def reset(self) -> None:
        """Start anew: after an evolution errors are no longer comparable."""
        self._wrong, self._adwin = bytearray(), None

    def dump(self) -> list[int | str]:
        """The state, small and fit for JSON: how many errors are known, and their bits."""
        bits = np.packbits(np.frombuffer(self._wrong, np.uint8))
        return [len(self._wrong), b64encode(bits.tobytes()).decode()]

    @classmethod
    def load(cls, sensitivity: float, state: list[int | str]) -> "DriftDetector":
        """The detector that was dumped."""
        loaded, (count, bits) = cls(sensitivity), state
        packed = np.frombuffer(b64decode(str(bits)), np.uint8)
        loaded._wrong = bytearray(np.unpackbits(packed, count=int(count)).tobytes())
        return loaded


def _likeliest_cut(wrong: NDArray[np.uint8]) -> int:
    """Where the second of two error rates most likely began: ADWIN's own window still has much of the first."""
    before = np.arange(1, len(wrong))
    after = len(wrong) - before
    errors = np.cumsum(wrong, dtype=np.int64)
    likelihood = _log_likelihood(errors[:-1], before) + _log_likelihood(errors[-1] - errors[:-1], after)
    return int(likelihood.argmax()) + 1


def _log_likelihood(errors: Counts, count: Counts) -> NDArray[np.float64]:
    """Of so many errors in so many records under the rate that fits them best."""
    right = count - errors
    return np.asarray(xlogy(errors, errors / count) + xlogy(right, right / count))

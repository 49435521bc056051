"""How a client asks the registry: one question after the other, and none for a while after a failure.

Used by `client`. Calls `http_client`; `rate_limits.Backoff` says when to ask again. Knows nothing of schemas.
"""

import logging
import math
from collections.abc import Callable
from typing import TypeVar

from eml.settings import RegistrySettings
from eml.stream.errors import RegistryUnavailableError
from eml.stream.registry.http_client import Answer, AnswerError, RegistryHttp
from eml.stream.registry.rate_limits import Backoff, whole_ms

log = logging.getLogger(__name__)

LOG_EVERY_S = 60.0
_T = TypeVar("_T")


class RegistryConnection:
    """The connection to a registry, with a backoff after failures."""

    def __init__(self, settings: RegistrySettings, longest_body: int, clock: Callable[[], float]) -> None:
        self._http = RegistryHttp(settings, longest_body)
        self._clock = clock
        self._backoff = Backoff(settings.retry_ms / 1000, settings.longest_retry_ms / 1000)
        self._failure: tuple[type[RegistryUnavailableError], str] = RegistryUnavailableError, ""  # the last
        self._logged = -math.inf

    @property
    def url(self) -> str:
        """The registry's address, without a password."""
        return self._http.url

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def check_backoff(self, more_s: float = 0.0) -> None:
        """Raise the last failure again while it is too early to ask, `more_s` longer for those who wait for others."""
        wait_s = self._backoff.wait_s(self._clock(), more_s)
        if wait_s:
            kind, why = self._failure
            raise kind(why, whole_ms(wait_s))

    def ask(
        self, method: str, path: str, read: Callable[[Answer], _T], body: object = None, *, logged: bool = True
    ) -> _T:
        """Ask, unless a failure is too recent; an answer that `read` does not understand is a failure, too."""
        self.check_backoff()
        try:
            found = read(self._http.ask(method, path, body))
        except AnswerError as error:
            raise self.failed(RegistryUnavailableError, f"{self.url}: {error}", logged=logged) from None
        self._backoff.succeeded()
        return found

    def failed(
        self, kind: type[RegistryUnavailableError], why: str, *, logged: bool = True
    ) -> RegistryUnavailableError:
        """Ask for nothing for a while; the error to raise."""
        self._failure = kind, why
        self._backoff.failed(self._clock())
        if logged:
            self.log_failure(why)
        return kind(why, whole_ms(self._backoff.wait_s(self._clock())))

    def log_failure(self, why: str) -> None:
        """Log now and then that records wait; a line for each failed question would be too much."""
        now = self._clock()
        if now >= self._logged + LOG_EVERY_S:
            self._logged = now
            log.warning("%s. Records with cached schemas continue, others wait.", why)

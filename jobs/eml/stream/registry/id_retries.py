"""Schema ids that could not be had: when each may be asked for again, and for how long a 404 is not believed.

Used by `client`, which passes the time in seconds. Each id has waits of its own, so that an id the registry does not
know, or may not tell us, delays no other. Bounded; asks nothing itself.
"""

from collections import OrderedDict
from dataclasses import dataclass

from eml.settings import RegistrySettings
from eml.stream.errors import RegistryUnavailableError
from eml.stream.registry.rate_limits import Backoff, whole_ms
from eml.stream.wire import SchemaRef


@dataclass(slots=True)
class _Retry:
    backoff: Backoff
    missing_since: float | None = None  # the first 404 in a row
    kind: type[RegistryUnavailableError] = RegistryUnavailableError
    message: str = ""


class IdRetries:
    """Failed look-ups by id; the oldest is forgotten where there are too many."""

    def __init__(self, settings: RegistrySettings) -> None:
        self._first_s = settings.retry_ms / 1000
        self._longest_s = settings.longest_retry_ms / 1000
        self._patience_s = settings.unknown_id_patience_ms / 1000
        self._most = settings.unknown_ids
        self._ids: OrderedDict[SchemaRef, _Retry] = OrderedDict()

    def __contains__(self, schema_id: SchemaRef) -> bool:
        return schema_id in self._ids

    def check(self, schema_id: SchemaRef, now: float) -> None:
        """Raise the last error again, while it is too early to ask."""
        retry = self._ids.get(schema_id)
        wait_s = retry.backoff.wait_s(now) if retry is not None else 0.0
        if retry is not None and wait_s:
            raise retry.kind(retry.message, whole_ms(wait_s))

    def is_patient(self, schema_id: SchemaRef, now: float) -> bool:
        """Whether a 404 for this id may still mean that the registry lags behind, counted from the first one."""
        retry = self._of(schema_id)
        if retry.missing_since is None:
            retry.missing_since = now
        return now < retry.missing_since + self._patience_s

    def pause(
        self, schema_id: SchemaRef, now: float, kind: type[RegistryUnavailableError], message: str
    ) -> RegistryUnavailableError:
        """Do not ask for this id for a while, longer from time to time; the error to raise."""
        retry = self._of(schema_id)
        retry.kind, retry.message = kind, message
        retry.backoff.failed(now)
        wait_s = retry.backoff.wait_s(now)
        return kind(message, whole_ms(wait_s))

    def outage(self, schema_id: SchemaRef) -> None:
        """The registry failed at this id: patience begins again when it is back."""
        self._of(schema_id).missing_since = None

    def forget(self, schema_id: SchemaRef) -> None:
        """It is known now, or known to be unknown."""
        self._ids.pop(schema_id, None)

    def _of(self, schema_id: SchemaRef) -> _Retry:
        retry = self._ids.get(schema_id)
        if retry is None:
            retry = self._ids[schema_id] = _Retry(Backoff(self._first_s, self._longest_s))
            if len(self._ids) > self._most:
                self._ids.popitem(last=False)
        return retry

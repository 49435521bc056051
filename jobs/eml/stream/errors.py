"""What can go wrong with a record, and what becomes of it.

    EmlError
    ├── BadRecordError              dead-letter the record
    │   └── BadSchemaError          so is every record written with this schema
    ├── RegistryUnavailableError    keep the record, ask again later
    │   ├── LookupRateError         the key, or the task, has asked for too many unknown ids
    │   ├── SchemaNotYetKnownError  the registry does not know the id; it may be a moment behind
    │   └── CredentialsRefusedError the registry does not let a running job in
    ├── RegistryRefusedError        do not start the job: the registry does not let us in
    └── IncompatibleSchemaError     change the schema, or the subject's compatibility rule

Anything else becomes a dead letter with reason `internal`, or stops the task (job.on_internal_error).
"""

from eml.core.errors import EmlError


class BadRecordError(EmlError, ValueError):
    """A record that cannot be used; `reason` is a short stable word for headers and counters."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class BadSchemaError(BadRecordError):
    """A writer schema that the registry does not know or that breaks the rules."""


class RegistryUnavailableError(EmlError):
    """The registry does not answer, or answers that it is at fault; `retry_after_ms` is the least time to wait."""

    exit_status = 3  # eml.terminal.UNREACHABLE
    reason = "outage"  # a short stable word for counters

    def __init__(self, message: str, retry_after_ms: int) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class LookupRateError(RegistryUnavailableError):
    """More look-ups than the settings allow, so the registry was not asked; it may be available."""

    reason = "rate-limit"


class SchemaNotYetKnownError(RegistryUnavailableError):
    """404 for an id that may just have been registered: a replica of the registry may lag behind."""

    reason = "not-yet-known"


class CredentialsRefusedError(RegistryUnavailableError):
    """401 or 403 while the job runs: a rotated secret may arrive late."""

    reason = "refused"


class RegistryRefusedError(EmlError):
    """The registry refuses our credentials (401, 403), or they cannot even be sent.

    `forbidden` (403): they are valid, but do not allow this request.
    """

    exit_status = 3  # eml.terminal.UNREACHABLE

    def __init__(self, message: str, *, forbidden: bool = False) -> None:
        super().__init__(message)
        self.forbidden = forbidden


class IncompatibleSchemaError(EmlError):
    """The registry refused to register a schema under its rule for the subject (409)."""

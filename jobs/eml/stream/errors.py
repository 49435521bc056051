"""What can go wrong with a record, and what becomes of it.

    EmlError
    ├── BadRecordError              dead-letter the record
    │   └── BadSchemaError          so is every record written with this schema
    ├── RegistryUnavailableError    keep the record, ask again later
    ├── RegistryRefusedError        stop the job: the registry does not let us in
    └── IncompatibleSchemaError     change the schema, or the subject's compatibility rule

Anything else stops the task.
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
    """No answer, or an answer that blames the registry; `retry_after_ms` is the least time to wait."""

    def __init__(self, message: str, retry_after_ms: int) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class RegistryRefusedError(EmlError):
    """The registry refuses our credentials (401, 403), or they cannot even be sent."""


class IncompatibleSchemaError(EmlError):
    """The registry refused to register a schema under its rule for the subject (409)."""

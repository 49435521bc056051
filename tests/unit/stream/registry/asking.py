"""A clock, a schema and assertions for the tests of the registry's client."""

import pytest

from eml.settings import RecordSettings
from eml.stream.errors import (
    BadSchemaError,
    RegistryUnavailableError,
)
from tests.unit.stream.avro.encoding import field, record

SCHEMA = record(field("x", "double"))
RECORD = RecordSettings()
SECRET = "hunter2-secret"  # noqa: S105  of nobody
NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens


class Clock:
    """A time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def unavailable(ask, *args: object) -> RegistryUnavailableError:
    with pytest.raises(RegistryUnavailableError) as error:
        ask(*args)
    assert error.value.retry_after_ms > 0
    return error.value


def refused(ask, *args: object) -> BadSchemaError:
    with pytest.raises(BadSchemaError) as error:
        ask(*args)
    return error.value

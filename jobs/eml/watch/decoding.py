"""Records of the job's topics as fields, whichever release of the job wrote them.

Called by `reader` for every record; asks `registry` once for each id of a schema. fastavro reads all of a record in
less time than Python skips half of it. Where the registry cannot be had, the schema of this release is taken.
"""

from collections.abc import Callable, Mapping
from typing import Any

from eml.stream.errors import BadRecordError
from eml.stream.output import schemas
from eml.stream.wire import unframe

NAMES = ("prediction", "score", "evolution")
SCHEMAS = 200  # kept
Text = Callable[[int], str | None]  # of a schema, by its id; None: it cannot be had now
Read = Callable[[bytes], dict[str, Any]]


class UnreadableError(Exception):
    """Bytes that no release of the job has written."""


class Decoder:
    """Reads records by the schemas that wrote them."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._readers: dict[tuple[str, int], Read] = {}
        self._own = {name: schemas.reader(name, schemas.schema_text(name)) for name in NAMES}

    def read(self, name: str, value: bytes | None) -> Mapping[str, Any]:
        """The fields of a `prediction`, a `score` or an `evolution`; what is none raises UnreadableError."""
        try:
            schema_id = unframe(value)
            reader = self._readers.get((name, schema_id)) or self._reader(name, schema_id)
            return reader(value or b"")
        except BadRecordError as error:
            raise UnreadableError(str(error)) from None
        except Exception as error:  # noqa: BLE001  fastavro raises of all kinds
            raise UnreadableError(f"{type(error).__name__}: {error}"[:200]) from None

    def prediction(self, value: bytes) -> Mapping[str, Any]:
        """The fields of a prediction that was read before."""
        return self.read("prediction", value)

    def _reader(self, name: str, schema_id: int) -> Read:
        text = self._text(schema_id)
        if text is None:
            return self._own[name]  # and ask again
        if len(self._readers) >= SCHEMAS:
            self._readers.clear()
        reader = self._readers[name, schema_id] = schemas.reader(name, text)
        return reader

"""Whether the job would take a record now: the same checks, with the same settings and registry.

Called by `dead_letter_replay` before anything is sent again; calls what the operator calls first: the name of the key
and `record_reader`. What only a key's own state tells (too many classes, an error of our own) is not known here.
"""

from dataclasses import replace
from typing import Self

from eml.local.errors import UnreachableError
from eml.settings import Settings
from eml.stream.avro.micro_batch import decode
from eml.stream.errors import BadRecordError, RegistryUnavailableError
from eml.stream.keys import names_of
from eml.stream.models.reading_batch import Results
from eml.stream.models.record_reader import LabelGroup, RecordReader
from eml.stream.records import Raw
from eml.stream.registry.client import SchemaRegistry
from eml.stream.registry.subjects import Subjects
from eml.stream.wire import PREFIXES

TIMEOUT_MS = 15_000  # a registry's first answers are slow, and nothing waits behind us
AT_ONCE = 1e6  # look-ups per second: the limits are for what devices invent


class RecordCheck:
    """Looks at records as the job does."""

    def __init__(self, settings: Settings) -> None:
        patient = replace(
            settings.registry,
            timeout_ms=max(settings.registry.timeout_ms, TIMEOUT_MS),
            lookups_per_second=AT_ONCE,
            lookups_per_key_per_second=AT_ONCE,
            unknown_id_patience_ms=0,
        )
        self._registry = SchemaRegistry(patient, settings.record, subjects=Subjects.of(settings))
        self._reader = RecordReader(settings)
        prefix = PREFIXES[settings.record.schema_id_format]
        self._name = names_of(settings.record.key_format, settings.limits, self._registry.key_schema, prefix)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._registry.close()

    def problem(self, raw: Raw) -> str:
        """Why it would be a dead letter; empty where nothing is seen."""
        try:
            self._name(raw.key, raw.headers)
            return self._of_value(raw)
        except BadRecordError as error:
            return f"{error.reason}: {error}"
        except RegistryUnavailableError as error:
            raise UnreachableError(f"{error}. Look at registry.url.") from None

    def _of_value(self, raw: Raw) -> str:
        results = Results()
        for group in self._reader.read([raw], self._registry.reading_schema, decode, results):
            if isinstance(group, LabelGroup) and None in (*group.decoded.event_ids, *group.decoded.labels):
                return "no-label: a label names its event and its class: neither may be null"
        if results.waiting:
            raise UnreachableError(f"The registry does not answer ({results.wait_reason}). Look at registry.url.")
        return "; ".join(f"{letter.reason}: {letter.message}" for letter in results.dead_letters)

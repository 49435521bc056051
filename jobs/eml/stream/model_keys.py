"""Which model a record belongs to (`model.by`), and what that model is called.

Called by the operator for the names, and by tools without Flink for both; the job itself finds a record's model in
SQL (`flink.pipeline`), before it reaches Python. A model's key has the form of a Kafka key.
"""

import re
from collections.abc import Mapping

from eml.settings import ModelSettings, Settings
from eml.stream.errors import BadRecordError
from eml.stream.keys import Headers, KafkaKey, KeyName, LookUpKey, NameOf, names_of
from eml.stream.wire import PREFIXES

ALL = KafkaKey("all")  # the one model's key
HEADER = "header:"
NO_MODEL = "no-model"


def model_names(settings: Settings, look_up: LookUpKey) -> NameOf:
    """The function from a model's key to its name, with the errors of `keys.names_of`."""
    model = settings.model
    if model.by == "key":
        prefix = PREFIXES[settings.record.schema_id_format]
        return names_of(settings.record.key_format, settings.limits, look_up, prefix)
    named = names_of("text", settings.limits, look_up)

    def name(key: KafkaKey, headers: Headers | None = None) -> KeyName:
        if not key:
            raise BadRecordError(NO_MODEL, _no_model(model))
        return named(key, headers)

    return name


def model_of(model: ModelSettings, key: KafkaKey, headers: Mapping[str, bytes | None]) -> KafkaKey:
    """The key of a record's model, as the job's SQL picks it; empty where there is none."""
    if model.by == "key":
        return key
    if model.by == ALL:
        return ALL
    if model.by.startswith(HEADER):
        return KafkaKey((headers.get(model.by.removeprefix(HEADER)) or b"").decode("latin-1"))
    found = re.search(model.key_pattern, key)
    return KafkaKey((found[1] or "") if found else "")


def _no_model(model: ModelSettings) -> str:
    if model.by.startswith(HEADER):
        header = model.by.removeprefix(HEADER)
        return f"the record has no header {header!r}, which says whose model it is for (model.by): send it with one"
    return (
        "the record's key does not match model.key_pattern, so it belongs to no model: send it with another key, or"
        " correct the pattern"
    )

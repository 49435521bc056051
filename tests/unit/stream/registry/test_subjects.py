"""Which subjects hold a topic's schemas: by the naming strategies, by settings, and in contexts."""

from dataclasses import replace

import pytest

from eml.settings import KafkaSettings, RecordSettings, Settings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.errors import BadSchemaError
from eml.stream.registry.subjects import Subjects
from tests.unit.stream.avro.encoding import compiled, field, record

SETTINGS = Settings(kafka=KafkaSettings(readings_topic="fleet", labels_topic="classes"))
SCHEMA = compiled({**record(field("x", "double"), field("inner", record(name="Inner"))), "namespace": "acme.plant"})


def placed(*subjects: str, listed: tuple[str, ...] = (), schema: ReadingSchema = SCHEMA) -> ReadingSchema:
    settings = replace(SETTINGS, record=RecordSettings(subjects=listed))
    places = [(subject, version) for version, subject in enumerate(subjects, start=1)]
    return Subjects.of(settings).resolve(replace(schema, subject="", version=0), places)


def test_a_schema_has_the_full_name_of_its_record():
    assert SCHEMA.name == "acme.plant.Reading"
    assert compiled(record(field("x", "double"))).name == "Reading"


@pytest.mark.parametrize(
    "subject",
    ["fleet-value", "fleet-acme.plant.Reading", "acme.plant.Reading", ":.plant:fleet-value", ":.:fleet-value"],
)
def test_the_subjects_of_every_naming_strategy_are_readings(subject):
    schema = placed("other-value", subject)
    schema.check_reading()
    schema.check_label()
    assert (schema.subject, schema.version) == (subject, 2)


@pytest.mark.parametrize(
    "subject",
    [
        "fleet-key",
        "fleet",
        "other-value",
        "Reading",
        "fleet-Reading",
        "acme.plant.Inner",
        ":.plant:other-value",
        "-value",
    ],
)
def test_other_subjects_are_foreign_and_the_message_says_what_to_set(subject):
    schema = placed(subject)
    for check in (schema.check_reading, schema.check_label):
        with pytest.raises(BadSchemaError, match=r"record\.(label_)?subjects") as error:
            check()
        assert error.value.reason == "foreign-subject"
        assert subject in str(error.value)
    assert schema.subject == subject


def test_labels_are_labels_and_no_readings():
    schema = placed("classes-value")
    schema.check_label()
    with pytest.raises(BadSchemaError, match="classes-value"):
        schema.check_reading()


def test_subjects_that_are_listed_replace_the_naming_strategies():
    placed(":.plant:a", listed=("a", "b")).check_reading()
    assert placed("b", "a", "fleet-value", listed=("a", "b")).subject == "a"
    with pytest.raises(BadSchemaError):
        placed("fleet-value", listed=("a", "b")).check_reading()
    with pytest.raises(BadSchemaError):
        placed(":.other:a", listed=(":.plant:a",)).check_reading()


def test_a_schema_without_a_subject_may_be_used():
    placed().check_reading()
    placed().check_label()


def test_a_message_is_short_whatever_the_subjects_are():
    with pytest.raises(BadSchemaError) as error:
        placed(*(f"{number}-{'x' * 1000}" for number in range(1000))).check_reading()
    assert "997 more" in str(error.value)
    assert len(str(error.value)) < 600

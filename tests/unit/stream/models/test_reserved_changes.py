"""What a new schema version may change of labels, event ids and times: never an evolution, and a text stays a text."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.unit.stream.avro.encoding import EVENT_TIME, field
from tests.unit.stream.models.changes import NEW, OLD, PLAIN, A, B, C, Version, answers, run, switched

STATES = ("off", "on")
ENUM = {"type": "enum", "name": "State", "symbols": list(STATES)}
NUMBERS = {"int": "int", "long": "long", "nullable int": ["null", "int"], "string": "string"}


def labelled(type_: Any) -> Version:
    return Version((field("label", type_), A, B, C))


TEXT = labelled("string")


@pytest.mark.parametrize("new", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("old", NUMBERS.values(), ids=NUMBERS)
def test_a_label_is_its_text_whatever_its_type(old, new):
    results = run((labelled(old), OLD), (labelled(new), NEW))
    assert not switched(results)
    assert {scored.truth for scored in results.predictions} == {"0", "1"}
    assert answers(results) == answers(run((TEXT, OLD + NEW)))


class InWords(Version):
    """A version whose labels are the states' names, as those of an enum are."""

    def write(self, schema_id: int, signal: Mapping[str, Any]) -> bytes:
        return super().write(schema_id, {**signal, "label": STATES[signal["label"]]})


WORDS = {
    "enum": labelled(ENUM),
    "nullable enum": labelled(["null", ENUM]),
    "enum with more symbols": labelled({**ENUM, "symbols": [*STATES, "broken"]}),
    "string": InWords((field("label", "string"), A, B, C)),
    "nullable string": InWords((field("label", ["string", "null"]), A, B, C)),
}


@pytest.mark.parametrize("new", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("old", WORDS.values(), ids=WORDS)
def test_an_enums_symbol_is_the_same_label_as_its_text(old, new):
    results = run((old, OLD), (new, NEW))
    assert not switched(results)
    assert {scored.truth for scored in results.predictions} == set(STATES)
    assert answers(results) == answers(run((WORDS["string"], OLD + NEW)))


def test_a_label_that_becomes_a_boolean_is_another_label():
    results = run((labelled("int"), OLD), (labelled("boolean"), NEW))
    assert not switched(results)
    assert set(results.predictions[-1].scores) == {"0", "1", "false", "true"}


@pytest.mark.parametrize("new", ["long", "int", ["null", "long"], "string"])
def test_an_events_id_is_its_text_whatever_its_type(new):
    old = Version((field("event_id", "string"), *PLAIN))
    results = run((old, OLD), (Version((field("event_id", new), *PLAIN)), NEW))
    assert not switched(results)
    assert [scored.event_id for scored in results.predictions] == [str(number) for number in range(OLD + NEW)]


def test_a_reserved_field_that_goes_is_no_evolution():
    results = run((Version((field("event_id", "long"), EVENT_TIME, *PLAIN)), OLD), (Version((A, B, C)), NEW))
    assert not switched(results)
    last = results.predictions[-1]
    assert (last.event_id, last.event_time, last.truth) == (None, None, None)
    assert last.label is not None

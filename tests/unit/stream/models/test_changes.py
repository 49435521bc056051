"""What a new schema version may change, and what each change means: an evolution, or nothing at all.

Every row sends the same readings of three signals through two versions. What is no evolution must leave the predictions
as they are without the change; an evolution must name what vanished and what is new.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as member
from typing import Any

import pytest

from eml.stream.models.reading_batch import Results
from tests.unit.stream.avro.encoding import EVENT_TIME, field, record
from tests.unit.stream.models.changes import (
    FIRST,
    LABEL,
    NEW,
    OLD,
    PLAIN,
    A,
    B,
    C,
    Version,
    answers,
    nested,
    run,
    switched,
)

CATEGORY = {"eml.category": True}


def mode(*symbols: str, meant: Sequence[str] = (), name: str = "Mode", **more: object) -> dict[str, Any]:
    """The signal `a` as an enum; `meant` are the symbols of 0 and 1."""
    return field("a", {"type": "enum", "name": name, "symbols": symbols, "meant": meant or symbols, **more})


# -- changes that are no evolution -------------------------------------------------------------------------------------


SAME: dict[str, tuple[Version, Version]] = {
    "a doc": (FIRST, Version((LABEL, {**A, "doc": "Volts."}, B, C), more={"doc": "All."})),
    "a default": (FIRST, Version((LABEL, {**A, "default": 1.0}, B, C))),
    "another default": (
        Version((LABEL, {**A, "default": 0.0}, B, C)),
        Version((LABEL, {**A, "default": 1.0}, B, C)),
    ),
    "a sort order": (FIRST, Version((LABEL, {**A, "order": "ignore"}, B, C))),
    "a property of one's own": (FIRST, Version((LABEL, {**A, "unit": "V"}, B, C))),
    "the record's name": (FIRST, Version(PLAIN, name="Measurement")),
    "the namespace": (FIRST, Version(PLAIN, more={"namespace": "plant.north"})),
    "the name of a nested record": (
        Version((LABEL, A, field("in", record(B, C, name="In")))),
        Version((LABEL, A, field("in", record(B, C, name="Inner")))),
    ),
    "nullable": (FIRST, Version((LABEL, field("a", ["null", "double"]), B, C))),
    "nullable, null last": (FIRST, Version((LABEL, field("a", ["double", "null"]), B, C))),
    "nullable no more": (Version((LABEL, field("a", ["null", "double"]), B, C)), FIRST),
    "the other branch first": (
        Version((LABEL, field("a", ["null", "double"]), B, C)),
        Version((LABEL, field("a", ["double", "null"]), B, C)),
    ),
    "nullable and of another type": (
        Version((LABEL, field("a", "int"), B, C)),
        Version((LABEL, field("a", ["null", "float"]), B, C)),
    ),
    "a logical type that says nothing of time": (
        Version((LABEL, field("a", "int"), B, C)),
        Version((LABEL, field("a", {"type": "int", "logicalType": "celsius"}), B, C)),
    ),
    "a field of text": (FIRST, Version((*PLAIN, field("note", "string")), {"note": "a"})),
    "a field of text less": (Version((*PLAIN, field("note", "string")), {"note": "a"}), FIRST),
    "a field of time": (
        FIRST,
        Version((*PLAIN, field("at", {"type": "long", "logicalType": "timestamp-micros"})), {"at": "event_time"}),
    ),
    "a date": (FIRST, Version((field("day", {"type": "int", "logicalType": "date"}), *PLAIN), {"day": "a"})),
    "text that becomes a time": (
        Version((*PLAIN, field("at", "string")), {"at": "event_time"}),
        Version((*PLAIN, field("at", {"type": "long", "logicalType": "timestamp-millis"})), {"at": "event_time"}),
    ),
    "an event's id": (FIRST, Version((field("event_id", "string"), *PLAIN))),
    "an event's time": (FIRST, Version((*PLAIN, EVENT_TIME))),
    "a place for reserved fields": (FIRST, Version((A, B, C, LABEL))),
    "a rename": (FIRST, Version((LABEL, field("volts", "double", aliases=["a"]), B, C), {"volts": "a"})),
    "a rename with two former names": (
        FIRST,
        Version((LABEL, field("volts", "double", aliases=["tension", "a"]), B, C), {"volts": "a"}),
    ),
    "a rename into another type": (
        Version((LABEL, field("a", "int"), B, C)),
        Version((LABEL, field("volts", ["null", "float"], aliases=["a"]), B, C), {"volts": "a"}),
    ),
    "a rename of all": (
        FIRST,
        Version((LABEL, *(field(f"{name}2", "double", aliases=[name]) for name in "abc")), {f"{n}2": n for n in "abc"}),
    ),
    "a rename inside a nested record": (
        Version((LABEL, A, nested("in", B, C))),
        Version((LABEL, A, nested("in", field("hum", "double", aliases=["b"]), C)), {"in.hum": "b"}),
    ),
    "a rename of a nested record": (
        Version((LABEL, A, nested("motor", B, C))),
        Version((LABEL, A, nested("engine", B, C, aliases=["motor"]))),
    ),
    "a rename of a nested record and of its field": (
        Version((LABEL, A, nested("motor", B, C))),
        Version(
            (LABEL, A, nested("engine", field("hum", "double", aliases=["b"]), C, aliases=["motor"])),
            {"engine.hum": "b"},
        ),
    ),
    "an enum's symbols in another order, and more of them": (
        Version((LABEL, mode("off", "on"), B, C)),
        Version((LABEL, mode("idle", "on", "off", "fail", meant=("off", "on")), B, C)),
    ),
    "an enum's name, doc and default": (
        Version((LABEL, mode("off", "on"), B, C)),
        Version((LABEL, {**mode("off", "on", name="Regime", doc="How it runs."), "default": "off"}, B, C)),
    ),
    "an enum that becomes nullable": (
        Version((LABEL, mode("off", "on"), B, C)),
        Version((LABEL, {**A, "type": ["null", mode("off", "on")["type"]]}, B, C)),
    ),
    "a category of whole numbers that becomes wider and nullable": (
        Version((LABEL, field("a", "int", **CATEGORY), B, C)),
        Version((LABEL, field("a", ["null", "long"], **CATEGORY), B, C)),
    ),
    "an alias of nobody": (FIRST, Version((LABEL, {**A, "aliases": ["nobody"]}, B, C))),
    "an alias that is another field's name": (
        # That field has its name still: a name of its own wins over an alias that was left behind.
        FIRST,
        Version((LABEL, A, {**B, "aliases": ["a"]}, C)),
    ),
}


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_what_is_no_evolution_changes_no_prediction(old, new):
    results = run((old, OLD), (new, NEW))
    assert not switched(results)
    assert {scored.schema_version for scored in results.predictions[OLD:]} == {2}
    assert not any(scored.late for scored in results.predictions)
    assert answers(results) == answers(run((old, OLD + NEW)))


ORDERS: dict[str, tuple[Version, Version]] = {
    "the order of fields": (FIRST, Version((LABEL, C, A, B))),
    "the order, with a rename": (
        FIRST,
        Version((C, B, LABEL, field("volts", "double", aliases=["a"])), {"volts": "a"}),
    ),
    "two names with each other's alias and place: nothing moves": (
        FIRST,
        Version((LABEL, {**B, "aliases": ["a"]}, {**A, "aliases": ["b"]}, C), {"a": "b", "b": "a"}),
    ),
    "crossed renames": (
        FIRST,
        Version((LABEL, {**A, "aliases": ["b"]}, {**B, "aliases": ["a"]}, C), {"a": "b", "b": "a"}),
    ),
    "a chain of renames": (
        FIRST,
        Version((LABEL, {**B, "aliases": ["a"]}, field("d", "double", aliases=["b"]), C), {"b": "a", "d": "b"}),
    ),
    "the order in and of nested records": (
        Version((LABEL, A, nested("in", B, C))),
        Version((nested("in", C, B), LABEL, A)),
    ),
    # Its symbols have columns of their own, and these stand together from then on.
    "a rename of a category": (
        Version((LABEL, mode("off", "on"), B, C)),
        Version(
            (LABEL, {**mode("on", "off", meant=("off", "on")), "name": "mode", "aliases": ["a"]}, B, C), {"mode": "a"}
        ),
    ),
}


def assert_alike(got: Results, want: Results) -> None:
    """The same but for rounding; what is learnt of it later, step upon step, may make more of it."""
    known = want.predictions[OLD].model_revision
    for one, other in zip(got.predictions, want.predictions, strict=True):
        assert one.model_revision == other.model_revision
        rounding = 1e-4 if other.model_revision <= known else 0.01
        assert one.scores == pytest.approx(other.scores, abs=rounding)


@pytest.mark.parametrize(("old", "new"), ORDERS.values(), ids=ORDERS)
def test_an_order_is_no_evolution_and_changes_only_rounding(old, new):
    results = run((old, OLD), (new, NEW))
    assert not switched(results)
    assert not results.dead_letters
    assert_alike(results, run((old, OLD + NEW)))


def test_crossed_renames_move_the_columns_once_though_later_versions_keep_the_aliases():
    crossed = Version((LABEL, {**A, "aliases": ["b"]}, {**B, "aliases": ["a"]}, C), {"a": "b", "b": "a"})
    later = Version((*crossed.fields, field("note", "string")), {**crossed.holds, "note": "a"})
    results = run((FIRST, OLD), (crossed, 20), (later, 20), (FIRST, 40))
    assert not switched(results)
    assert_alike(results, run((FIRST, OLD + 80)))


def test_a_feature_of_any_numeric_type_is_the_same_feature():
    kinds = ("int", "long", "float", "double", "boolean", "int", "boolean", "double")
    versions = [Version((LABEL, field("a", kind), B, C)) for kind in kinds]
    results = run(*((version, 20) for version in versions))
    assert not switched(results)
    assert [scored.schema_version for scored in results.predictions] == [n for n in range(1, 9) for _ in range(20)]
    assert answers(results) == answers(run((FIRST, 160)))


@pytest.mark.parametrize("kind", ["int", "long", "float", "boolean"])
@pytest.mark.parametrize("back", [False, True], ids=["to double", "from double"])
def test_a_type_for_another_is_no_evolution(kind, back):
    pair = [Version((LABEL, field("a", kind), B, C)), FIRST]
    old, new = pair[::-1] if back else pair
    results = run((old, OLD), (new, NEW))
    assert not switched(results)
    assert answers(results) == answers(run((FIRST, OLD + NEW)))


# -- changes that are an evolution -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """Two versions, and what is different."""

    old: Version
    new: Version
    vanished: tuple[str, ...] = ()
    augmented: tuple[str, ...] = ()
    renamed: Mapping[str, str] = member(default_factory=dict)


TIME = {"type": "long", "logicalType": "timestamp-millis"}
CHANGES = {
    "a feature goes": Change(FIRST, Version((LABEL, A, B)), ("c",)),
    "a feature comes": Change(Version((LABEL, A, B)), FIRST, (), ("c",)),
    "one goes, one comes": Change(Version((LABEL, A, B)), Version((LABEL, A, C)), ("b",), ("c",)),
    "a rename without alias": Change(
        FIRST, Version((LABEL, field("volts", "double"), B, C), {"volts": "a"}), ("a",), ("volts",)
    ),
    "a rename beside an evolution": Change(
        FIRST,
        Version((LABEL, field("volts", "double", aliases=["a"]), B), {"volts": "a"}),
        ("c",),
        renamed={"volts": "a"},
    ),
    "a number becomes text": Change(FIRST, Version((LABEL, field("a", "string"), B, C)), ("a",)),
    "text becomes a number": Change(Version((LABEL, field("a", "string"), B, C)), FIRST, (), ("a",)),
    "a number becomes an enum": Change(FIRST, Version((LABEL, mode("x", "y"), B, C)), ("a",), ("a",)),
    "an enum becomes a number": Change(Version((LABEL, mode("x", "y"), B, C)), FIRST, ("a",), ("a",)),
    "a number is declared as a category": Change(
        Version((LABEL, field("a", "int"), B, C)),
        Version((LABEL, field("a", "int", **CATEGORY), B, C)),
        ("a",),
        ("a",),
    ),
    "an enum goes": Change(Version((LABEL, mode("x", "y"), B, C)), Version((LABEL, B, C)), ("a",)),
    "an enum comes": Change(Version((LABEL, B, C)), Version((LABEL, mode("x", "y"), B, C)), (), ("a",)),
    "an enum is renamed, and a feature goes": Change(
        Version((LABEL, mode("x", "y"), B, C)),
        Version((LABEL, {**mode("x", "y"), "name": "mode", "aliases": ["a"]}, B), {"mode": "a"}),
        ("c",),
        renamed={"mode": "a"},
    ),
    "a number becomes a time": Change(
        Version((LABEL, field("a", "long"), B, C)), Version((LABEL, field("a", TIME), B, C)), ("a",)
    ),
    "a time becomes a number": Change(
        Version((LABEL, field("a", TIME), B, C)), Version((LABEL, field("a", "long"), B, C)), (), ("a",)
    ),
    "a number becomes one of two kinds": Change(FIRST, Version((LABEL, field("a", ["int", "double"]), B, C)), ("a",)),
    "a rename into text": Change(
        FIRST, Version((LABEL, field("volts", "string", aliases=["a"]), B, C), {"volts": "a"}), ("a",)
    ),
    "a rename from text": Change(
        Version((LABEL, field("a", "string"), B, C)),
        Version((LABEL, field("volts", "double", aliases=["a"]), B, C), {"volts": "a"}),
        (),
        ("volts",),
    ),
    "a field moves into a nested record": Change(FIRST, Version((LABEL, A, nested("in", B), C)), ("b",), ("in.b",)),
    "a field moves out of a nested record": Change(Version((LABEL, A, nested("in", B), C)), FIRST, ("in.b",), ("b",)),
    "a nested record is renamed without alias": Change(
        Version((LABEL, A, nested("motor", B, C))),
        Version((LABEL, A, nested("engine", B, C))),
        ("motor.b", "motor.c"),
        ("engine.b", "engine.c"),
    ),
    "a field comes into a nested record": Change(
        Version((LABEL, A, nested("in", B))), Version((LABEL, A, nested("in", B, C))), (), ("in.c",)
    ),
    "a nested record becomes nullable": Change(
        Version((LABEL, A, nested("in", B, C))),
        Version((LABEL, A, field("in", ["null", record(B, C, name="In")]))),
        ("in.b", "in.c"),
    ),
    "a new feature under a name that another left": Change(
        # What is called `a` now is not what was: but two fields claim it, and the one with its name wins.
        Version((LABEL, A, B)),
        Version((LABEL, A, B, field("volts", "double", aliases=["a"])), {"volts": "a", "a": "c"}),
        (),
        ("volts",),
    ),
    "an alias that names the label": Change(
        FIRST,
        Version((*PLAIN, field("label2", "double", aliases=["label"])), {"label2": "a"}),
        (),
        ("label2",),
    ),
}


def test_an_evolution_tells_the_fields_that_are_ignored_and_those_that_look_like_a_mistake():
    new = Version((A, B, field("Label", "string"), field("note", "string")), {"Label": "label", "note": "a"})
    (event,) = switched(run((FIRST, OLD), (new, NEW)))
    assert [name for name, _ in event.ignored] == ["Label", "note"]
    assert all("record.categories" in reason for _, reason in event.ignored)
    assert len(event.warnings) == 1
    assert "did you mean record.label_field = 'Label'?" in event.warnings[0]


def test_an_evolution_tells_which_features_are_categories():
    zone = field("zone", "string", **CATEGORY)
    (event,) = switched(run((FIRST, OLD), (Version((LABEL, zone, mode("x", "y"), B), {"zone": "c"}), NEW)))
    assert event.categories == ("zone", "a")
    assert event.ignored == ()


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_evolution_says_what_changed_and_predictions_go_on(change):
    results = run((change.old, OLD), (change.new, NEW))
    (event,) = switched(results)
    said = event.report.change
    assert (said.vanished, said.augmented) == (change.vanished, change.augmented)
    assert said.renamed == change.renamed
    assert event.position.offset == OLD
    assert (event.old_version, event.new_version) == (1, 2)
    assert event.report.warm
    assert not results.dead_letters
    assert len(results.predictions) == OLD + NEW
    assert all(scored.label is not None for scored in results.predictions[OLD:])

"""Writer schemas: what becomes a feature, what is reserved, and which schemas are refused."""

import json
import time
from dataclasses import replace

import pytest

from eml.settings import RecordSettings
from eml.stream.avro import schema_warnings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.errors import BadSchemaError
from eml.stream.wire import SchemaId
from tests.unit.stream.avro.encoding import (
    EVENT_ID,
    EVENT_TIME,
    FEATURES,
    KEY,
    LABEL,
    SETTINGS,
    compiled,
    encoded,
    field,
    record,
)

DOUBLE = field("x", "double")
A_WHILE_S = 2.0  # a refusal takes milliseconds; a busy machine more; an expanded schema minutes and gigabytes


def refusal(schema: object, settings: RecordSettings = SETTINGS) -> str:
    """The message with which a schema is refused."""
    started = time.monotonic()
    with pytest.raises(BadSchemaError) as error:
        compile_schema(schema if isinstance(schema, str) else json.dumps(schema), SchemaId(7), "s", 1, settings)
    assert time.monotonic() - started < A_WHILE_S
    assert error.value.reason == "unsupported-schema"
    assert len(str(error.value)) < 400
    return str(error.value)


# -- features ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FEATURES)
def test_every_number_and_boolean_is_a_feature_nullable_or_not(kind):
    schema = compiled(record(field("a", kind), field("b", ["null", kind]), field("c", [kind, "null"])))
    assert schema.space.names == ("a", "b", "c")
    assert schema.ignored == ()


def test_fields_of_nested_records_are_features_with_dotted_names():
    inner = record(field("temp", "float"), field("deep", record(field("rpm", "int"), name="Deep")), name="Engine")
    schema = compiled(record(DOUBLE, field("engine", inner), field("y", "double")))
    assert schema.space.names == ("x", "engine.temp", "engine.deep.rpm", "y")


def test_a_named_type_is_written_out_where_it_is_used():
    axis = record(field("x", "double"), field("y", "double"), name="Axis")
    schema = compiled({**record(field("left", axis), field("right", "org.Axis")), "namespace": "org"})
    assert schema.space.names == ("left.x", "left.y", "right.x", "right.y")


def test_reserved_names_are_reserved_at_the_top_only():
    schema = compiled(record(KEY, EVENT_ID, EVENT_TIME, LABEL, field("in", record(field("label", "int"), name="In"))))
    assert schema.space.names == ("in.label",)
    assert schema.ignored == ()


@pytest.mark.parametrize(
    "type_",
    [
        "string",
        "bytes",
        "null",
        {"type": "fixed", "name": "F", "size": 4},
        {"type": "array", "items": "double"},
        {"type": "map", "values": "double"},
        ["null", "double", "int"],
        ["null", "string"],
        ["null", record(field("y", "double"), name="In")],
        {"type": "int", "logicalType": "date"},
        {"type": "int", "logicalType": "time-millis"},
        {"type": "long", "logicalType": "timestamp-millis"},
        {"type": "long", "logicalType": "local-timestamp-micros"},
        ["null", {"type": "long", "logicalType": "timestamp-millis"}],
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    ],
)
def test_other_types_are_ignored_and_told_by_name_and_reason(type_):
    schema = compiled(record(field("other", type_), DOUBLE))
    ((name, reason),) = schema.ignored
    assert name == "other"
    assert reason
    assert schema.space.names == ("x",)


ENUM = {"type": "enum", "name": "Mode", "symbols": ["off", "on"]}


@pytest.mark.parametrize("type_", [ENUM, ["null", ENUM], [ENUM, "null"]])
def test_an_enum_is_a_category_nullable_or_not(type_):
    schema = compiled(record(DOUBLE, field("mode", type_)))
    assert schema.space.names == ("x", "mode")
    assert schema.space.categories == {"mode"}
    assert schema.ignored == ()


def test_an_enum_that_is_declared_as_none_is_ignored_and_says_so():
    schema = compiled(record(DOUBLE, field("mode", ENUM, **{"eml.category": False})))
    assert schema.space.names == ("x",)
    assert schema.ignored == (("mode", 'enum: "eml.category" says that it is none'),)


@pytest.mark.parametrize(
    "type_", ["string", "int", ["null", "long"], ["boolean", "null"], {"type": "int", "logicalType": "date"}]
)
def test_a_field_is_a_category_where_schema_or_settings_say_so(type_):
    marked = compiled(record(DOUBLE, field("zone", type_, **{"eml.category": True})))
    assert marked.space.categories == {"zone"}
    nested = record(DOUBLE, field("site", record(field("zone", type_), name="Site")))
    listed = compiled(nested, replace(SETTINGS, categories=("site.zone",)))
    assert listed.space.categories == {"site.zone"}
    assert listed.ignored == ()
    assert listed.warnings == ()
    assert not compiled(nested).space.categories


def test_a_category_in_the_settings_is_one_under_its_new_name_too_and_wins_over_the_schema():
    settings = replace(SETTINGS, categories=("zone", "mode"))
    renamed = field("area", "string", aliases=["zone"])
    schema = compiled(record(DOUBLE, renamed, field("mode", ENUM, **{"eml.category": False})), settings)
    assert schema.space.categories == {"area", "mode"}
    assert schema.space.aliases == {"area": ("zone",)}


@pytest.mark.parametrize(("type_", "use"), [("double", "amount"), ("bytes", "ignored"), (["null", "float"], "amount")])
def test_what_cannot_be_a_category_is_reported(type_, use):
    schema = compiled(record(field("y", "int"), field("x", type_, **{"eml.category": True})))
    assert not schema.space.categories
    assert ("x" in schema.space.names) == (use == "amount")
    (warning,) = schema.warnings
    assert warning.startswith("field 'x': declared as a category, which a ")


def test_a_mark_that_is_no_truth_value_says_nothing():
    schema = compiled(record(field("x", "int", **{"eml.category": "yes"}), field("m", ENUM, **{"eml.category": 0})))
    assert schema.space.categories == {"m"}


def test_a_category_alone_makes_a_reading():
    compiled(record(field("mode", ENUM))).check_reading()


def test_two_categories_with_the_same_alias_are_refused():
    zones = [field(name, "string", aliases=["zone"], **{"eml.category": True}) for name in ("a", "b")]
    assert "the same alias 'zone'" in refusal(record(*zones))
    compiled(record(DOUBLE, *({**zone, "eml.category": False} for zone in zones)))  # ignored: no harm


def test_a_logical_type_nobody_knows_leaves_a_number_a_feature():
    assert compiled(record(field("a", {"type": "int", "logicalType": "celsius"}))).space.names == ("a",)


@pytest.mark.parametrize(
    ("found", "type_", "use"),
    [
        ("Label", "string", "ignored"),
        ("LABEL", ["null", "string"], "ignored"),
        ("labels", "int", "a feature"),
        ("lable", "string", "ignored"),
        ("abel", ["null", "int"], "a feature"),
        ("labell", {"type": "enum", "name": "L", "symbols": ["x"]}, "a feature"),
    ],
)
def test_a_field_that_is_almost_the_label_is_reported(found, type_, use):
    schema = compiled(record(field(found, type_), DOUBLE))
    said = f"field {found!r} is {use}, and there is no field 'label': did you mean record.label_field = {found!r}?"
    assert schema.warnings == (said,)


def test_other_reserved_fields_that_are_almost_there_are_reported():
    fields = [field("eventId", "long"), field("at", "long", aliases=["event_time"]), field("sensor_ids", "string")]
    warnings = compiled(record(*fields, LABEL, DOUBLE)).warnings
    assert [warning.partition("did you mean ")[2] for warning in warnings] == [
        "record.event_id_field = 'eventId'?",
        "record.event_time_field = 'at'?",
        "record.key_field = 'sensor_ids'?",
    ]


def test_a_label_inside_a_nested_record_is_reported():
    (warning,) = compiled(record(field("meta", record(field("label", "int"), name="Meta")), DOUBLE)).warnings
    assert warning.startswith("field 'meta.label' is a feature: record.label_field is looked for outside of nested")


def test_names_that_only_resemble_nothing_and_reserved_fields_that_are_there_are_not_warned_of():
    fields = [LABEL, field("labels", "int"), field("table", "string"), field("temperature", "double")]
    assert compiled(record(*fields)).warnings == ()


def test_what_is_ignored_is_logged_once_per_schema(caplog):
    schema_warnings.log_once.cache_clear()
    text = record(field("Label", "string"), field("note", "bytes"), DOUBLE)
    with caplog.at_level("INFO"):
        for schema in (compiled(text), compiled(text)):
            schema_warnings.log_once(schema.id, schema.ignored, schema.warnings)
    told = [one.getMessage() for one in caplog.records if one.name == "eml.stream.avro.schema_warnings"]
    assert len(told) == 2
    assert 'Label: string: a category if it is declared as one ("eml.category": true' in told[0]
    assert "record.categories); note: bytes: no number, boolean or category" in told[0]
    assert "did you mean record.label_field = 'Label'?" in told[1]


def test_two_fields_with_the_same_alias_are_refused_by_name():
    said = refusal(record(field("left", "double", aliases=["a"]), field("right", "int", aliases=["x", "a"])))
    assert "'left' and 'right' have the same alias 'a'" in said
    assert "take the alias out of one of them" in said
    inner = record(field("l", "double", aliases=["a"]), field("r", "double", aliases=["a"]), name="In")
    assert "'l' and 'r'" in refusal(record(field("in", inner)))
    motors = [field(name, record(DOUBLE, name=name), aliases=["motor"]) for name in ("one", "two")]
    assert "'one' and 'two'" in refusal(record(*motors))


def test_an_alias_may_be_shared_with_a_field_that_is_no_feature():
    schema = compiled(record(field("code", "int", aliases=["status"]), field("text", "string", aliases=["status"])))
    assert schema.space.aliases == {"code": ("status",)}


def test_aliases_are_former_names_also_of_the_records_around():
    inner = record(field("temp", "double", aliases=["t"]), name="Engine")
    schema = compiled(record(field("x", "double", aliases=["old", "x"]), field("engine", inner, aliases=["motor"])))
    assert schema.space.aliases == {"x": ("old",), "engine.temp": ("engine.t", "motor.temp", "motor.t")}


def test_retiring_features_are_collected_also_below_a_record():
    inner = record(field("a", "double"), field("name", "string"), name="In")
    schema = compiled(
        record(
            field("gone", "double", **{"eml.retiring": True}),
            field("stays", "double", **{"eml.retiring": "no"}),
            field("in", inner, **{"eml.retiring": True}),
        )
    )
    assert schema.retiring == {"gone", "in.a"}


def test_a_schema_keeps_its_identity():
    schema = compiled(record(DOUBLE))
    assert (schema.id, schema.subject, schema.version) == (7, "readings-value", 3)


def test_docs_defaults_and_orders_change_nothing():
    plain = compiled(record(DOUBLE, field("y", ["null", "int"])))
    dressed = compiled(
        record(field("x", "double", doc="d", default=0.5, order="ignore"), field("y", ["null", "int"], default=None))
    )
    assert dressed.space == plain.space


# -- reserved fields ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("sensor_id", ["int", "bytes", ["null", "int"], {"type": "array", "items": "string"}]),
        ("event_id", ["double", {"type": "fixed", "name": "F", "size": 16}, ["null", "string", "int"]]),
        ("event_time", ["string", "long", "int", {"type": "long", "logicalType": "time-micros"}]),
        ("label", ["double", ["null", "float"], {"type": "array", "items": "string"}, record(DOUBLE, name="L")]),
    ],
)
def test_a_reserved_field_of_an_unusable_type_is_refused_with_advice(name, types):
    for type_ in types:
        message = refusal(record(field(name, type_), DOUBLE))
        assert f"'{name}' is reserved" in message
        assert "make it" in message
        assert "_field)" in message


def test_the_settings_name_the_reserved_fields():
    settings = replace(SETTINGS, label_field="state", key_field="machine")
    schema = record(field("state", "string"), field("machine", "string"), field("label", "int"))
    found = compiled(schema, settings)
    assert found.space.names == ("label",)
    decoded = found.decode(encoded(schema, {"state": "worn", "machine": "m1", "label": 4}))
    assert (decoded.labels, decoded.keys) == (["worn"], ["m1"])


# -- hostile schemas ---------------------------------------------------------------------------------------------------


def test_recursion_is_refused():
    inside = field("next", ["null", "Reading"])
    assert "contains itself" in refusal(record(DOUBLE, inside))
    assert "contains itself" in refusal(record(DOUBLE, field("all", {"type": "array", "items": "Reading"})))


def test_six_thousand_levels_are_refused():
    schema = '{"type": "array", "items": ' * 6_000 + '"int"' + "}" * 6_000
    refusal(f'{{"type": "record", "name": "R", "fields": [{{"name": "x", "type": {schema}}}]}}')


@pytest.mark.parametrize("opening", ["[", '{"type": ', '{"a": ['])
def test_deep_json_does_not_blow_the_stack(opening):
    refusal(opening * 100_000)


def test_nesting_is_limited():
    def nested(levels):
        inner: object = "double"
        for level in range(levels):
            inner = record(field("x", inner), name=f"R{level}")
        return inner

    assert compiled(nested(SETTINGS.max_depth)).space.names == (".".join("x" * SETTINGS.max_depth),)
    assert "max_depth" in refusal(nested(SETTINGS.max_depth + 1))


def test_a_generous_limit_on_nesting_does_not_blow_the_stack():
    schema = '{"type": "array", "items": ' * 450 + '"int"' + "}" * 450
    text = f'{{"type": "record", "name": "R", "fields": [{{"name": "x", "type": {schema}}}]}}'
    refusal(text, replace(SETTINGS, max_depth=10_000))


def test_nesting_is_limited_through_names():
    settings = replace(SETTINGS, max_depth=3)
    inner = record(field("a", record(DOUBLE, name="B")), name="A")
    fields = [field("a", inner), field("list", {"type": "array", "items": "A"})]
    assert "max_depth" in refusal(record(*fields), settings)


def test_named_types_that_double_are_counted_and_not_made():
    settings = replace(SETTINGS, max_depth=100)
    inner = record(DOUBLE, field("y", "double"), name="R0")
    for level in range(1, 60):
        inner = record(field("a", inner), field("b", f"R{level - 1}"), name=f"R{level}")
    assert "max_nodes" in refusal(inner, settings)


def test_defaults_that_would_expand_are_never_looked_at():
    schema = record(DOUBLE)
    for level in range(60):  # each default would hold the one below twice
        schema["fields"].append(field(f"f{level}", "double", default={"a": f"f{level - 1}", "b": f"f{level - 1}"}))
    assert len(compiled(schema).space) == 61


@pytest.mark.parametrize(
    "items",
    ["null", record(name="Empty"), record(field("n", "null"), name="Null"), {"type": "fixed", "name": "F", "size": 0}],
)
@pytest.mark.parametrize("kind", ["array", "map"])
def test_items_that_take_no_bytes_are_refused(kind, items):
    type_ = {"type": kind, "items" if kind == "array" else "values": items}
    assert "take no bytes" in refusal(record(DOUBLE, field("many", type_)))


def test_huge_decimals_are_ignored_and_not_computed():
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 10**9, "scale": 10**9}
    schema = record(DOUBLE, field("d", decimal))
    decoded = compiled(schema).decode([bytes(8) + b"\xd0\x0f" + b"\xff" * 1000])
    assert decoded.rows == [0]


def test_twenty_thousand_fields_are_refused():
    assert "max_nodes" in refusal(record(*(field(f"f{n}", "double") for n in range(20_000))))
    settings = replace(SETTINGS, max_features=10)
    assert "max_features" in refusal(record(*(field(f"f{n}", "double") for n in range(11))), settings)
    assert len(compiled(record(*(field(f"f{n}", "double") for n in range(10))), settings).space) == 10


def test_a_long_text_is_refused_before_it_is_read():
    settings = replace(SETTINGS, max_schema_bytes=200)
    assert "max_schema_bytes" in refusal(record(DOUBLE, field("y", "double", doc="d" * 200)), settings)
    assert "max_schema_bytes" in refusal(" " + "ü" * 120, settings)


def test_duplicate_field_names_are_refused():
    assert "differ" in refusal(record(DOUBLE, DOUBLE))


@pytest.mark.parametrize("name", ["../../x", "a.b", "", "1a", "x y", "ü", "a\n", "x" * 513, None, 5, ["x"]])
def test_names_outside_avros_rule_are_refused(name):
    refusal(record(field(name, "double")))
    refusal(record(field("x", "double", aliases=[name])))
    refusal(record(DOUBLE, field("e", {"type": "enum", "name": "E", "symbols": [name]})))
    if name != "a.b":
        refusal(record(DOUBLE, name=name))


def test_a_long_namespace_is_not_copied_into_every_name():
    refusal({**record(DOUBLE), "namespace": "n" * 100 + ".n" * 100_000})


def test_long_names_do_not_multiply():
    inner = record(*(field("x" * 400 + str(n), "double") for n in range(10)), name="In")
    assert "longer" in refusal(record(field("y" * 400, inner)))


def test_aliases_of_nested_records_do_not_multiply():
    inner: object = "double"
    for level in range(SETTINGS.max_depth):
        inner = record(field("x", inner, aliases=[f"a{n}" for n in range(20)]), name=f"R{level}")
    assert "former names" in refusal(inner)


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "no JSON",
        "9" * 5_000,  # Python refuses such a number
        '"double"',
        "null",
        "[]",
        {"type": "array", "items": "double"},
        {"type": "enum", "name": "E", "symbols": ["a"]},
        [record(DOUBLE)],
        {"type": "record", "name": "R"},
        {"type": "record", "fields": [DOUBLE]},
        {"type": {"type": "record"}, "name": "R", "fields": [DOUBLE]},
        {"type": "error", "name": "R", "fields": [DOUBLE]},
        {"type": "record", "name": "int", "fields": [DOUBLE]},
        {"type": "record", "name": "R", "namespace": ["n"], "fields": [DOUBLE]},
        {"type": "record", "name": "R", "fields": {"x": "double"}},
        {"type": "record", "name": "R", "fields": ["x"]},
        record(field("x", "Other")),
        record(field("x", {"type": "array"})),
        record(field("x", None)),
        record(field("x", [])),
        record(field("x", ["null", ["int"]])),
        record(field("x", ["int", "int"])),
        record(field("x", "double", aliases="old")),
        record(DOUBLE, field("e", {"type": "enum", "name": "E", "symbols": []})),
        record(DOUBLE, field("e", {"type": "enum", "name": "E", "symbols": ["a", "a"]})),
        record(DOUBLE, field("f", {"type": "fixed", "name": "F", "size": -1})),
        record(DOUBLE, field("f", {"type": "fixed", "name": "F", "size": True})),
        record(DOUBLE, field("f", {"type": "fixed", "name": "Reading", "size": 1})),
    ],
)
def test_what_is_no_avro_record_is_refused(schema):
    refusal(schema)


@pytest.mark.parametrize("fields", [[], [KEY, LABEL], [field("name", "string")]])
def test_a_schema_without_a_feature_is_none_of_readings(fields):
    schema = compile_schema(json.dumps(record(*fields)), SchemaId(7), "s", 1, SETTINGS)
    with pytest.raises(BadSchemaError, match="feature") as error:
        schema.check_reading()
    assert error.value.reason == "unsupported-schema"

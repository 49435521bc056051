"""The matrix of features and versions: what each version has of each, as the learner compares versions."""

import json

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eml.settings import RecordSettings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.errors import BadSchemaError
from eml.stream.wire import SchemaId
from eml.watch import feature_matrix
from eml.watch.fleet_view import FleetView
from tests.watched import BEGIN_MS, evolution


def schema(version, *fields):
    text = json.dumps({"type": "record", "name": "R", "fields": list(fields)})
    return compile_schema(text, SchemaId(version), "readings-value", version, RecordSettings())


def field(name, **more):
    return {"name": name, "type": "double", **more}


MATRIX = feature_matrix.of_versions(
    "readings-value",
    [
        schema(1, field("temp"), field("rpm"), field("oil", **{"eml.retiring": True})),
        schema(2, field("temperature", aliases=["temp"]), field("rpm"), field("acoustic")),
        schema(3, field("temperature", aliases=["temp"]), field("oil"), field("acoustic")),
    ],
)


def test_each_cell_says_what_a_version_has_of_a_feature():
    cells = dict(zip(MATRIX.features, MATRIX.cells, strict=True))
    assert MATRIX.versions == [1, 2, 3]
    assert cells == {
        "temperature": ["survived", "renamed", "survived"],
        "rpm": ["survived", "survived", "vanished"],
        "oil": ["retiring", "vanished", "returned"],
        "acoustic": ["absent", "augmented", "survived"],
    }
    assert MATRIX.notes == {"temperature": "was temp"}


def test_a_feature_that_is_gone_for_long_is_absent():
    schemas = [schema(1, field("a"), field("b")), schema(2, field("a")), schema(3, field("a"))]
    matrix = feature_matrix.of_versions("s", schemas)
    assert dict(zip(matrix.features, matrix.cells, strict=True))["b"] == ["survived", "vanished", "absent"]


def test_swapped_names_are_renames_of_both():
    old = schema(1, field("a"), field("b"))
    new = schema(2, field("a", aliases=["b"]), field("b", aliases=["a"]))
    matrix = feature_matrix.of_versions("s", [old, new])
    assert matrix.features == ["b", "a"]
    assert matrix.cells == [["survived", "renamed"]] * 2


FIELDS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from("abcd"), max_size=2, unique=True), st.booleans()),
    min_size=1,
    unique_by=lambda drawn: drawn[0],
)


def test_a_name_of_a_feature_that_is_gone_may_be_given_to_another():
    schemas = [schema(1, field("b"), field("a")), schema(2, field("b")), schema(3, field("a", aliases=["b"]))]
    matrix = feature_matrix.of_versions("s", [*schemas, schema(4, field("a"), field("c"))])
    assert matrix.cells == [
        ["survived", "survived", "renamed", "survived"],
        ["survived", "vanished", "absent", "absent"],
        ["absent", "absent", "absent", "augmented"],
    ]


@settings(max_examples=30)
@given(st.lists(FIELDS, min_size=1, max_size=6))
def test_columns_are_what_the_learner_sees_of_each_version(drawn):
    schemas = []
    for version, fields in enumerate(drawn, start=1):
        try:
            made = [field(name, aliases=aliases, **{"eml.retiring": mark}) for name, aliases, mark in fields]
            schemas.append(schema(version, *made))
        except BadSchemaError:  # two fields with one alias
            assume(False)  # noqa: FBT003
    matrix = feature_matrix.of_versions("s", schemas)
    old = None
    for column, new in enumerate(schemas):
        cells = [row[column] for row in matrix.cells]
        assert sum(cell not in ("absent", "vanished") for cell in cells) == len(new.space)
        assert cells.count("retiring") == len(new.retiring)
        if old is not None:
            change = old.space.diff(new.space)
            assert cells.count("vanished") == len(change.vanished)
            if not new.retiring:
                assert cells.count("renamed") == len(change.renamed)
                assert cells.count("augmented") + cells.count("returned") == len(change.augmented)
        old = new


def test_notes_say_what_survivors_took_over():
    view = FleetView()
    view.set_matrices([MATRIX])
    taken = {"oil": {"share": 0.5, "by": "temperature"}}
    for number, share in enumerate((0.5, 0.9)):
        taken = {"oil": {"share": share, "by": "temperature"}}
        view.add_evolutions([(evolution(key=f"pump-{number}", takeovers=taken), BEGIN_MS)])
    (matrix,) = view.features()
    assert matrix.notes["oil"] == "v1 to v2: survivors kept 70%, most by temperature (2 devices)"
    assert matrix.notes["temperature"] == "was temp"

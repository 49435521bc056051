"""Results as bytes: the hand-written encoder writes what fastavro writes, and what is written can be read."""

import json
import math
import struct
from dataclasses import replace
from io import BytesIO
from typing import Any, cast, get_args

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eml.core import Evolution, FeatureSpace, Stage
from eml.stream.errors import BadRecordError
from eml.stream.keys import KeyName
from eml.stream.output.encoder import Encoder, OutputIds, read_evolution, read_prediction, read_score
from eml.stream.output.predictions import Prediction
from eml.stream.output.schemas import schema_text
from eml.stream.output.scores import Score
from eml.stream.records import Position
from tests.unit.stream.output.examples import ENCODER, EVOLVED, KEY, OUTCOME, SCORED

PREDICTION = fastavro.parse_schema(json.loads(schema_text("prediction")))
SCORE = fastavro.parse_schema(json.loads(schema_text("score")))
INT = st.integers(-(2**31), 2**31 - 1)
LONG = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-8193, -8192, 8191, 8192, 2**63 - 1, -(2**63)])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)  # no halves of characters: they are no text
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def scored() -> st.SearchStrategy[Prediction]:
    return st.builds(
        Prediction,
        event_id=st.none() | TEXT,
        event_time=st.none() | LONG,
        label=st.none() | TEXT,
        reason=st.none() | TEXT,
        scores=st.dictionaries(TEXT, st.floats(), max_size=80),
        margin=st.none() | FINITE,
        novelty=st.none() | FINITE,
        stage=st.sampled_from(get_args(Stage)),
        schema_id=INT,
        schema_version=INT,
        model_revision=LONG,
        truth=st.none() | TEXT,
        late=st.booleans(),
        position=st.builds(Position, TEXT, INT, LONG, LONG),
        device=TEXT,
    )


def fields(key: str, said: Prediction) -> dict[str, Any]:
    """The record of a prediction, field by field."""
    names = [field["name"] for field in json.loads(schema_text("prediction"))["fields"]]
    position = said.position
    apart = {
        "key": said.device or key,
        "model": key,
        "source_topic": position.topic,
        "source_partition": position.partition,
        "source_offset": position.offset,
        "source_timestamp": position.timestamp_ms,
    }
    return {name: apart[name] if name in apart else getattr(said, name) for name in names}


@given(TEXT, scored())
def test_a_prediction_is_byte_for_byte_what_fastavro_writes(key, said):
    expected = BytesIO()
    fastavro.schemaless_writer(expected, PREDICTION, fields(key, said))
    assert ENCODER.prediction(key, said) == b"\x00" + struct.pack(">I", 300) + expected.getvalue()


def test_a_prediction_can_be_read():
    assert read_prediction(ENCODER.prediction(KeyName(KEY), SCORED)) == fields(KEY, SCORED)


CLASS = st.sampled_from(["ok", "bad"]) | TEXT  # so that a prediction may be right
POSITIONS = st.builds(Position, TEXT, INT, LONG, st.integers(-(2**62), 2**62))  # a wait must be a long, too


def outcomes() -> st.SearchStrategy[Score]:
    return st.builds(
        Score,
        event_id=st.none() | TEXT,
        event_time=st.none() | LONG,
        label=st.none() | CLASS,
        truth=CLASS,
        cold_label=st.none() | CLASS,
        compared=st.booleans(),
        schema_id=INT,
        schema_version=INT,
        model_revision=LONG,
        position=POSITIONS,
        known_at=POSITIONS,
        device=TEXT,
    )


def score_fields(model: str, score: Score) -> dict[str, Any]:
    """The record of a score, field by field."""
    position = score.position
    return {
        "key": score.device or model,
        "model": model,
        "event_id": score.event_id,
        "event_time": score.event_time,
        "label": score.label,
        "truth": score.truth,
        "right": score.label == score.truth,
        "cold_label": score.cold_label,
        "cold_right": score.cold_label == score.truth if score.compared else None,
        "wait_ms": max(0, score.known_at.timestamp_ms - position.timestamp_ms),
        "schema_id": score.schema_id,
        "schema_version": score.schema_version,
        "model_revision": score.model_revision,
        "source_topic": position.topic,
        "source_partition": position.partition,
        "source_offset": position.offset,
        "source_timestamp": position.timestamp_ms,
    }


@given(TEXT, outcomes())
def test_a_score_is_byte_for_byte_what_fastavro_writes(model, score):
    expected = BytesIO()
    fastavro.schemaless_writer(expected, SCORE, score_fields(model, score))
    assert ENCODER.score(model, score) == b"\x00" + struct.pack(">I", 5) + expected.getvalue()


def test_a_score_can_be_read():
    seen = read_score(ENCODER.score(KeyName(KEY), OUTCOME))
    assert seen == score_fields(KEY, OUTCOME)
    assert (seen["right"], seen["cold_right"], seen["wait_ms"]) == (False, True, 90_000)


def test_a_label_that_was_sent_before_its_reading_was_not_waited_for():
    early = replace(OUTCOME, known_at=replace(OUTCOME.position, timestamp_ms=0))
    assert read_score(ENCODER.score(KeyName(KEY), early))["wait_ms"] == 0


def test_before_any_label_there_is_a_reason_and_no_score():
    nothing = replace(SCORED, label=None, reason="nothing learnt yet", scores={}, margin=None, novelty=None)
    seen = read_prediction(ENCODER.prediction(KeyName(KEY), nothing))
    assert (seen["label"], seen["reason"], seen["scores"], seen["margin"]) == (None, "nothing learnt yet", {}, None)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_null(number):
    seen = read_prediction(ENCODER.prediction(KeyName(KEY), replace(SCORED, margin=number, novelty=number)))
    assert (seen["margin"], seen["novelty"]) == (None, None)


def test_a_time_beyond_all_calendars_can_be_read():
    late = replace(SCORED, event_time=2**63 - 1)
    assert read_prediction(ENCODER.prediction(KeyName(KEY), late))["event_time"] == 2**63 - 1


def test_more_keys_and_classes_than_the_caches_hold_are_still_themselves():
    many = [(f"key-{i}", replace(SCORED, label=f"class-{i}", scores={f"class-{i}": i / 500})) for i in range(500)]
    for _ in range(2):
        assert all(read_prediction(ENCODER.prediction(KeyName(key), said)) == fields(key, said) for key, said in many)


def test_an_evolution_can_be_read():
    seen = read_evolution(ENCODER.evolution(KeyName(KEY), EVOLVED))
    assert (seen["key"], seen["kind"], seen["old_version"], seen["new_version"]) == (KEY, "evolution", 2, 3)
    assert seen["vanished"] == ["vibration_y", "current"]
    assert seen["renamed"] == {"vibration_radial": "vibration_x"}
    assert seen["takeovers"] == {
        "vibration_y": {"share": 0.75, "by": "vibration_radial"},
        "current": {"share": 0.0, "by": None},
    }
    assert (seen["warm"], seen["announced"], seen["transform_steps"], seen["batches"]) == (True, False, 8, 120)
    assert (seen["source_topic"], seen["source_partition"], seen["source_offset"]) == ("readings", 3, 1_234_567)


def test_an_evolution_of_nothing_into_nothing_known_can_be_read():
    change = FeatureSpace(("a",)).diff(FeatureSpace(("b",)))
    report = Evolution(change, announced=True, transform_steps=0, warm=False, returned=(), takeovers={})
    seen = read_evolution(ENCODER.evolution(KeyName(KEY), replace(EVOLVED, report=report, event_time=None)))
    assert (seen["vanished"], seen["survived"], seen["augmented"], seen["takeovers"]) == (["a"], [], ["b"], {})


def test_each_kind_has_its_own_schema_id_in_front():
    assert ENCODER.prediction(KeyName(KEY), SCORED)[:5] == b"\x00\x00\x00\x01\x2c"
    assert ENCODER.evolution(KeyName(KEY), EVOLVED)[:5] == b"\x00\x00\x01\x11\x70"
    with pytest.raises(ValueError, match="schema id"):
        Encoder(OutputIds(-1, 2))


def test_an_event_that_names_more_features_than_fit_is_shortened_and_says_so():
    names = tuple(f"{number}-{'n' * 500}" for number in range(3_000))
    change = FeatureSpace(names).diff(FeatureSpace(tuple(f"new-{name}" for name in names)))
    evolved = replace(EVOLVED, report=replace(EVOLVED.report, change=change))
    whole, short = Encoder(OutputIds(300, 2), 10_000_000), Encoder(OutputIds(300, 2))
    assert not read_evolution(whole.evolution(KeyName(KEY), evolved))["shortened"]
    assert len(short.evolution(KeyName(KEY), evolved)) < 524_288
    seen = read_evolution(short.evolution(KeyName(KEY), evolved))
    assert seen["shortened"]
    assert seen["vanished"] == list(names[: len(cast("list[str]", seen["vanished"]))])
    assert len(cast("list[str]", seen["vanished"])) > 100


def test_bytes_without_a_frame_are_refused():
    with pytest.raises(BadRecordError):
        read_prediction(b"\x01\x00\x00\x00\x07rest")


@pytest.mark.parametrize("name", ["prediction", "evolution", "label", "readings/v1", "readings/v3"])
def test_the_text_of_a_schema_is_its_file(name):
    assert json.loads(schema_text(name))["type"] == "record"


def test_a_schema_that_is_not_there_is_an_error():
    with pytest.raises(FileNotFoundError):
        schema_text("nothing")

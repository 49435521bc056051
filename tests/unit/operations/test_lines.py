"""What the job wrote, on a line each; nothing that a device sent moves a terminal."""

from dataclasses import replace

import pytest

from eml.operations import lines
from eml.operations.text import key_text, percent, plain, time_of
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.output import schemas
from eml.stream.output.dead_letter_reader import read
from eml.stream.output.encoder import read_evolution, read_prediction
from eml.stream.output.events import Drift, RecoveryFigures
from tests.unit.stream.output.examples import ENCODER, EVOLVED, KEY, SCORED

BAD = "press\x1b[2J\n7"


def test_a_prediction_says_whose_what_and_whether_it_is_right():
    line = lines.prediction_line(read_prediction(ENCODER.prediction(KeyName(KEY), SCORED)))
    for part in ("2025-11-16T05:13:20.000Z", KEY, "bearing 75 %", "12 %", "right", "late", "version 2", "steady"):
        assert part in line
    wrong = replace(SCORED, truth="healthy", late=False)
    line = lines.prediction_line(read_prediction(ENCODER.prediction(KeyName(KEY), wrong)))
    assert "wrong: it is healthy" in line
    assert "late" not in line


def test_a_prediction_without_a_label_says_why():
    nothing = replace(SCORED, label=None, reason="no labelled sample has been learnt yet", scores={}, truth=None)
    line = lines.prediction_line(read_prediction(ENCODER.prediction(KeyName(KEY), nothing)))
    assert "no label: no labelled sample has been learnt yet" in line


def test_an_evolution_says_what_came_and_went_and_what_survivors_know():
    line = lines.evolution_line(read_evolution(ENCODER.evolution(KeyName(KEY), EVOLVED)))
    assert "version 2 to 3" in line
    assert "vibration_y (75 % known from others, most from vibration_radial)" in line
    assert "back: coolant_flow" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (replace(EVOLVED, kind="announced"), "announced version 3: vanished"),
        (replace(EVOLVED, kind="resumed"), "version 2 to 3, whose model was kept"),
        (
            replace(EVOLVED, kind="drift", drift=Drift(0.1, 0.3, 200, 40)),
            "10 % of predictions were wrong, now 30 %",
        ),
        (replace(EVOLVED, kind="warm-start", donor="press-1"), "began with the model of press-1"),
        (
            replace(EVOLVED, kind="recovery", recovery=RecoveryFigures(500, 0.95, 100, 0.9, 0.94, 130, 0.6, -70)),
            "95 % right before, 90 % of the first 100 after, 94 % of all 500, back after 130, regret",
        ),
        (replace(EVOLVED, kind="of a later release"), "of a later release vanished"),
    ],
)
def test_each_kind_of_event_is_in_words(event, said):
    assert said in lines.evolution_line(read_evolution(ENCODER.evolution(KeyName(KEY), event)))


def test_a_score_says_what_was_predicted_and_how_late_the_label_was():
    fields = {
        "key": KEY,
        "model": KEY,
        "event_id": "1",
        "event_time": None,
        "label": "healthy",
        "truth": "bearing",
        "right": False,
        "cold_label": "bearing",
        "cold_right": True,
        "wait_ms": 3_200,
        "schema_id": 7,
        "schema_version": 2,
        "model_revision": 9,
        "source_topic": "readings",
        "source_partition": 0,
        "source_offset": 5,
        "source_timestamp": 1_763_270_000_000,
    }
    line = lines.score_line(fields)
    assert "wrong: healthy was predicted, it is bearing  a cold restart is right  label after 3.2 s" in line
    assert schemas.write("score", fields)  # these are the fields of the schema


def test_nothing_that_a_device_sent_moves_the_terminal():
    dead = read({"eml.errors.reason": BAD.encode(), "__connect.errors.exception.message": b"\x1b]0;x\x07 \xff"})
    said = lines.dead_letter_line("0/3", BAD, dead)
    named = lines.prediction_line(read_prediction(ENCODER.prediction(KeyName(BAD), replace(SCORED, truth=BAD))))
    for line in (said, named):
        assert line.isprintable(), line
        assert "press\\x1b[2J\\n7" in line


def test_text_is_cut_and_kept_otherwise():
    assert plain("pumpe-ü") == "pumpe-ü"
    assert plain("x" * 300) == "x" * 200 + "..."
    assert plain("\udcff\u202e") == "\\udcff\\u202e"


def test_times_and_shares():
    assert time_of(0) == "1970-01-01T00:00:00.000Z"
    assert [time_of(each) for each in (-1, 10**18, None)] == ["-1", str(10**18), "None"]
    assert [percent(each) for each in (0.0, 0.5, 0.999, 1.0)] == ["0 %", "50 %", "99 %", "100 %"]


def test_a_key_is_named_as_far_as_that_goes():
    assert key_text(KafkaKey("pump"), "text") == "pump"
    assert key_text(KafkaKey("\0\0\0\7"), "int") == "7"
    assert key_text(KafkaKey("\xff\xfe"), "text") == "0xfffe"
    assert key_text(KafkaKey("\0\0\0\0\7ab"), "avro") == "0x00000000076162"
    assert key_text(KafkaKey(""), "text") == ""

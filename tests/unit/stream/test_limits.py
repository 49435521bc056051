"""What one device sends beyond the limits is its own trouble: a dead letter, and what we write always fits."""

from dataclasses import replace

import pytest

from eml.settings import LimitsSettings
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.output.encoder import Encoder, OutputIds
from eml.stream.output.predictions import Prediction
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from tests.synthetic import Device, label_value
from tests.unit.stream.models.test_key_model import SETTINGS as PLAIN
from tests.unit.stream.models.test_key_model import look_up, records, run
from tests.unit.stream.models.test_late_labels import LABEL, NAMES, SCHEMAS, SETTINGS, TEXTS, Stream

FITS = 1_048_576 - 10_000  # what a producer sends by default, without the frame around it


def labelled(labels: list[str]) -> list[Raw]:
    """Readings of a device that calls every one another thing."""
    device = Device()
    values = [device.value(1, TEXTS[1], NAMES[1], state=label)[0] for label in labels]
    return [Raw(value, Position("readings", 0, n, 1000 * n), {}) for n, value in enumerate(values)]


def reasons(results) -> list[str]:
    return [letter.reason for letter in results.dead_letters]


def test_a_value_too_long_is_a_dead_letter():
    (good,) = records([1])
    long = replace(good, value=(good.value or b"") + bytes(300_000))
    results = run([good, long, good])
    assert (len(results.predictions), reasons(results)) == (2, ["too-large"])
    assert "limits.value_bytes" in results.dead_letters[0].message


def test_headers_too_long_are_a_dead_letter():
    (good,) = records([1])
    results = run([replace(good, headers={"h": bytes(70_000)}), replace(good, headers={"h": None, "i": bytes(60_000)})])
    assert (len(results.predictions), reasons(results)) == (1, ["too-large"])


@pytest.mark.parametrize("long", ["x" * 257, "é" * 129, "x" * 600_000])
def test_a_label_too_long_is_a_dead_letter(long):
    raws = labelled(["ok", long[:200_000], "broken"])
    results = KeyModel(KeyName("pump"), PLAIN).step(raws, SCHEMAS.__getitem__)
    assert (len(results.predictions), reasons(results)) == (2, ["too-large"])
    label = label_value(LABEL, schema_text("label"), "0", long[:200_000])
    results = KeyModel(KeyName("pump"), SETTINGS).step(
        [Raw(label, Position("labels", 0, 0, 0), {})], SCHEMAS.__getitem__
    )
    assert reasons(results) == ["too-large"]


@pytest.mark.parametrize("cut", [1, 7, 400])
def test_so_many_distinct_labels_end_at_the_limit_and_predictions_fit(cut):
    settings = replace(PLAIN, limits=LimitsSettings(classes=20))
    raws = labelled([f"class {n % 35}" for n in range(105)])
    model, dead = KeyModel(KeyName("pump"), settings), list[DeadLetter]()
    predicted = list[Prediction]()
    for start in range(0, len(raws), cut):
        results = model.step(raws[start : start + cut], SCHEMAS.__getitem__)
        predicted += results.predictions
        dead += results.dead_letters
    assert [letter.raw.position.offset for letter in dead] == [n for n in range(105) if n % 35 >= 20]
    assert {letter.reason for letter in dead} == {"too-many-classes"}
    assert len(predicted) == 60
    assert max(len(said.scores) for said in predicted) == 20


def test_the_largest_prediction_fits_into_a_request():
    limits = LimitsSettings()
    names = [f"{n:0{limits.label_bytes}d}" for n in range(limits.classes)]
    said = run(records([1] * 60)).predictions[-1]
    largest = replace(
        said,
        scores=dict.fromkeys(names, 0.1),
        label=names[0],
        truth=names[0],
        event_id="e" * limits.event_id_bytes,
    )
    key = "k" * limits.key_bytes
    assert len(Encoder(OutputIds(1, 2)).prediction(KeyName(key), largest)) + len(key) < FITS


def test_a_label_of_too_many_classes_is_refused_on_its_own_topic_too():
    settings = replace(SETTINGS, limits=LimitsSettings(classes=3))
    stream = Stream()
    ids = stream.readings(1, 40)
    for number, event_id in enumerate(ids):
        stream.labels([event_id], f"class {number % 5}")
    results = KeyModel(KeyName("pump"), settings).step(stream.raws, SCHEMAS.__getitem__)
    assert len(results.predictions) == 40
    assert reasons(results) == ["too-many-classes"] * 16


def test_tombstones_are_counted_not_written():
    raws = records([1] * 3)
    results = KeyModel(KeyName("pump"), PLAIN).step([raws[0], replace(raws[1], value=None), raws[2]], look_up)
    assert (len(results.predictions), results.dead_letters, results.tombstones) == (2, [], 1)

"""The scores of a key: exactly one for each reading whose label is known, with what was predicted when it came."""

from collections import Counter
from dataclasses import replace

from eml.settings import KafkaSettings, ModelSettings
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from tests.synthetic import label_value
from tests.unit.stream.models.test_late_labels import LABEL, SCHEMAS, SETTINGS, Stream, mixed, run


def place(position: Position) -> tuple[str, int]:
    return position.topic, position.offset


def test_there_is_one_for_each_reading_whose_label_is_known_with_what_was_predicted_then():
    stream = mixed()
    results = run(stream.raws)
    said = {place(one.position): one for one in results.predictions}
    scored = Counter(place(score.position) for score in results.scores)
    assert set(scored.values()) == {1}
    known = results.labels.joined + sum(one.truth is not None for one in results.predictions)  # type: ignore[union-attr]
    assert len(scored) == known > 90
    for score in results.scores:
        then = said[place(score.position)]
        assert (score.label, score.event_id, score.event_time) == (then.label, then.event_id, then.event_time)
        assert (score.schema_id, score.schema_version) == (then.schema_id, then.schema_version)
        assert (score.model_revision, score.position) == (then.model_revision, then.position)
    counted = [score for score in results.scores if score.label is not None]
    assert sum(score.label == score.truth for score in counted) == results.right


def test_the_first_label_stands():
    stream = Stream()
    ids = stream.readings(1, 3)
    stream.labels(ids, "busy")
    stream.labels(ids, "idle")
    stream.readings(1, 2, labelled=True)
    stream.raws.append(replace(stream.raws[-1], position=Position("readings", 0, 99, 99_000)))  # comes again
    scores = run(stream.raws).scores
    assert [score.truth for score in scores[:3]] == ["busy"] * 3
    assert len(scores) == 5


def test_it_says_how_long_its_label_was_waited_for():
    stream, ahead = Stream(), Stream()
    late = stream.readings(1, 1)
    stream.readings(1, 1, labelled=True)
    stream.labels(late)
    ahead.readings(1, 4)
    stream.labels([list(ahead.states)[2]], "busy")  # of the reading that comes next
    stream.readings(1, 1)
    assert [(score.position.offset, score.wait_ms) for score in run(stream.raws).scores] == [(1, 0), (0, 2000), (4, 0)]


def test_what_the_cold_restart_said_stands_beside_it():
    stream = Stream()
    stream.readings(1, 100, labelled=True)
    stream.readings(2, 12, labelled=True)
    stream.labels(stream.readings(2, 18))
    results = run(stream.raws)
    before, after = results.scores[:100], results.scores[100:]
    assert not any(score.compared or score.cold_label for score in before), "nothing has evolved yet"
    assert all(score.compared for score in after)
    assert after[0].cold_label is None, "it has no answer yet, and that is not right"
    assert all(score.cold_label for score in after[12:])
    own = sum(score.label == score.truth for score in after)
    cold = sum(score.cold_label == score.truth for score in after)
    (figures,) = (event.recovery for event in results.evolutions if event.recovery is not None)
    assert (figures.scored, figures.regret) == (30, cold - own)


def test_a_model_of_many_keys_says_whose_reading_it_was():
    stream = Stream()
    for number, event_id in enumerate(stream.readings(1, 2)):
        value = label_value(LABEL, schema_text("label"), event_id, "busy", f"pump-{number}")
        stream.raws.append(Raw(value, Position("labels", 0, number, 9000), {}))
    stream.readings(1, 1, labelled=True)
    for number, raw in enumerate(stream.raws):
        raw.key = KafkaKey(f"pump-{number % 2}")
    settings = replace(SETTINGS, model=ModelSettings(by="all"))
    scores = KeyModel(KeyName("all"), settings).step(stream.raws, SCHEMAS.__getitem__).scores
    assert [(score.position.offset, score.device, score.kafka_key) for score in scores] == [
        (0, "pump-0", "pump-0"),
        (1, "pump-1", "pump-1"),
        (4, "pump-0", "pump-0"),
    ]
    assert [bool(score.event_id and "\0" in score.event_id) for score in scores] == [False] * 3


def test_without_a_topic_there_are_none():
    settings = replace(SETTINGS, kafka=KafkaSettings(labels_topic="labels", scores_topic=""))
    results = run(mixed().raws, settings=settings)
    assert not results.scores
    assert results.scored

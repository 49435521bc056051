"""Labels on a topic of their own, through a key: late, early, twice, never, contradicting, across an evolution."""

from collections.abc import Sequence
from dataclasses import fields, replace

import pytest

from eml.settings import KafkaSettings, LearningSettings, RecordSettings, Settings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.keys import KeyName
from eml.stream.labels.label_join import LabelCounts
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId
from tests.synthetic import Device, label_value, reading_schema
from tests.unit.stream.models.test_key_model import SETTINGS as PLAIN
from tests.unit.stream.models.test_key_model import keep

NAMES = {1: ("a", "b", "c", "d"), 2: ("b", "c", "d", "e")}
TEXTS = {version: reading_schema(names) for version, names in NAMES.items()}
LABEL = 9
SCHEMAS = {
    **{
        version: compile_schema(text, SchemaId(version), "r-value", version, RecordSettings())
        for version, text in TEXTS.items()
    },
    LABEL: compile_schema(schema_text("label"), SchemaId(LABEL), "l-value", 1, RecordSettings()),
}
SETTINGS = replace(PLAIN, kafka=KafkaSettings(labels_topic="labels"), learning=LearningSettings(recovery_records=30))


class Stream:
    """Records of one device in their order, and the truth about them."""

    def __init__(self) -> None:
        self.raws: list[Raw] = []
        self.device = Device()
        self.states: dict[str, str] = {}

    def readings(self, version: int, count: int, *, labelled: bool = False) -> list[str]:
        ids = []
        for _ in range(count):
            value, event_id, state = self.device.value(version, TEXTS[version], NAMES[version], labelled=labelled)
            self._add("readings", value)
            self.states[event_id] = state
            ids.append(event_id)
        return ids

    def labels(self, ids: Sequence[str], said: str | None = None) -> None:
        for event_id in ids:
            self._add("labels", label_value(LABEL, schema_text("label"), event_id, said or self.states[event_id]))

    def _add(self, topic: str, value: bytes) -> None:
        self.raws.append(Raw(value, Position(topic, 0, len(self.raws), 1000 * len(self.raws)), {}))


def run(raws: Sequence[Raw], cut: int = 1000, settings: Settings = SETTINGS, *, reload: bool = False) -> Results:
    model, parts, together = (
        KeyModel(KeyName("pump"), settings),
        state_codec.StateParts(),
        Results(labels=LabelCounts()),
    )
    for start in range(0, len(raws), cut):
        results = model.step(raws[start : start + cut], SCHEMAS.__getitem__)
        for name in ("predictions", "scores", "evolutions", "dead_letters"):
            getattr(together, name).extend(getattr(results, name))
        together.scored += results.scored
        together.right += results.right
        assert results.labels is not None
        assert together.labels is not None
        for field in fields(LabelCounts):
            total = getattr(together.labels, field.name) + getattr(results.labels, field.name)
            setattr(together.labels, field.name, total)
        keep(parts, model)
        if reload:
            model = state_codec.load(KeyName("pump"), settings, parts)
    return together


def accuracy(results: Results, stream: Stream, last: int) -> float:
    said = results.predictions[-last:]
    return sum(one.label == stream.states[str(one.event_id)] for one in said) / last


def mixed() -> Stream:
    """Everything at once."""
    stream = Stream()
    first = stream.readings(1, 40)
    stream.labels(first[:30])
    stream.readings(1, 20, labelled=True)
    second = stream.readings(2, 30)
    stream.labels(first[30:] + second)
    stream.labels(second[:5])
    stream.labels(second[5:8], "broken")
    stream.labels(["0-90", "0-91", "never"], "busy")
    stream.readings(2, 40)
    stream.readings(1, 10)
    stream.labels(["0-95", "0-131"], "idle")
    return stream


@pytest.fixture(scope="module")
def unbroken() -> Results:
    return run(mixed().raws)


@pytest.mark.parametrize("cut", [1, 7, 64])
@pytest.mark.parametrize("reload", [False, True])
def test_results_depend_neither_on_the_cut_nor_on_reloads(unbroken, cut, reload):
    assert run(mixed().raws, cut, reload=reload) == unbroken


def test_labels_that_come_late_teach_and_score_when_they_come():
    stream = Stream()
    ids = stream.readings(1, 60)
    waiting = run(stream.raws)
    assert len(waiting.predictions) == 60
    assert all(said.label is None for said in waiting.predictions), "predictions never wait"
    stream.labels(ids)
    more = stream.readings(1, 60)
    stream.labels(more)
    results = run(stream.raws)
    assert results.labels == LabelCounts(joined=120)
    assert results.scored == 60, "what could not be predicted then is not scored now"
    assert accuracy(results, stream, 60) > 0.8
    assert results.right == round(60 * accuracy(results, stream, 60))


def test_labels_that_come_early_teach_with_their_reading():
    stream, ahead = Stream(), Stream()
    ids = ahead.readings(1, 60)
    stream.states = ahead.states
    stream.labels(ids)
    stream.readings(1, 60)
    results = run(stream.raws)
    assert results.labels == LabelCounts(joined=60, early=60)
    inside = Stream()
    inside.readings(1, 60, labelled=True)
    assert [said.scores for said in results.predictions] == [said.scores for said in run(inside.raws).predictions]


def test_labels_that_come_twice_count_once_and_contradictions_change_nothing():
    stream, plain = Stream(), Stream()
    ids = stream.readings(1, 60)
    plain.readings(1, 60)
    stream.labels(ids)
    plain.labels(ids)
    stream.labels(ids)
    stream.labels(ids[:10], "idle")
    stream.readings(1, 20)
    plain.readings(1, 20)
    patient = replace(SETTINGS, learning=LearningSettings(window_ms=10**9))
    results, expected = run(stream.raws, settings=patient), run(plain.raws, settings=patient)
    same = sum(stream.states[event_id] == "idle" for event_id in ids[:10])
    assert results.labels == LabelCounts(joined=60, duplicates=60 + same, contradictions=10 - same)
    assert [said.scores for said in results.predictions] == [said.scores for said in expected.predictions]


def test_readings_whose_label_never_comes_are_let_go():
    stream = Stream()
    ids = stream.readings(1, 50)
    settings = replace(SETTINGS, learning=LearningSettings(labels_kept=20))
    stream.labels(ids)
    results = run(stream.raws, settings=settings)
    assert results.labels == LabelCounts(joined=20, early=30, unlabelled=30, unmatched=10)
    short = replace(SETTINGS, learning=LearningSettings(label_wait_ms=10_000))
    assert run(stream.raws, settings=short).labels.joined < 20  # type: ignore[union-attr]


def test_a_label_from_before_the_switch_teaches_the_new_version_what_they_share():
    stream = Stream()
    stream.readings(1, 100, labelled=True)
    late = stream.readings(1, 64)
    stream.readings(2, 1)
    unlabelled = list(stream.raws)
    stream.labels(late)
    stream.readings(2, 1)
    revision = run(stream.raws).predictions[-1].model_revision
    assert revision >= run(unlabelled).predictions[-1].model_revision + 2


def test_recovery_counts_when_labels_come():
    stream = Stream()
    stream.readings(1, 100, labelled=True)
    ids = stream.readings(2, 40)
    stream.labels(ids)
    told = run(stream.raws).evolutions
    assert [event.kind for event in told] == ["evolution", "recovery"]
    assert told[1].position.topic == "labels"
    assert told[1].recovery is not None
    assert told[1].recovery.cold_accuracy_first == 0.0


@pytest.mark.parametrize("cut", [1, 7])
def test_regret_is_the_same_through_restarts_amid_a_recovery(cut):
    stream = Stream()
    stream.readings(1, 100, labelled=True)
    for _ in range(3):
        stream.labels(stream.readings(2, 12))
    told = run(stream.raws).evolutions
    assert run(stream.raws, cut, reload=True).evolutions == told
    assert told[1].recovery is not None
    assert told[1].recovery.accuracy == 1.0
    assert told[1].recovery.regret == -12, "it has an answer to all but the first twelve, which came before any label"


def test_a_label_whose_own_key_is_not_its_kafka_key_is_a_dead_letter():
    stream, plain = Stream(), Stream()
    ids = stream.readings(1, 3)
    plain.readings(1, 3)
    stray = label_value(LABEL, schema_text("label"), ids[0], "broken", key="press")
    wrong = Raw(stray, Position("labels", 0, 99, 3000), {})
    results = KeyModel(KeyName("pump"), SETTINGS).step([*stream.raws, wrong], SCHEMAS.__getitem__)
    (letter,) = results.dead_letters
    assert (letter.reason, letter.raw, letter.schema_id) == ("wrong-key", wrong, LABEL)
    assert "Kafka key of its reading" in letter.message
    assert results.labels == LabelCounts(), "nothing was taught"
    assert results.predictions == run(plain.raws).predictions


def test_a_label_without_a_name_or_a_class_is_a_dead_letter():
    nothing = reading_schema([])
    schemas = {**SCHEMAS, 8: compile_schema(nothing, SchemaId(8), "x-value", 1, RecordSettings())}
    stream = Stream()
    stream.readings(1, 3)
    value, _, _ = Device().value(8, nothing, [], labelled=False)
    bad = Raw(value, Position("labels", 0, 99, 0), {})
    results = KeyModel(KeyName("pump"), SETTINGS).step([*stream.raws, bad], schemas.__getitem__)
    assert [(letter.reason, letter.raw) for letter in results.dead_letters] == [("no-label", bad)]
    reading = replace(bad, position=Position("readings", 0, 99, 0))
    results = KeyModel(KeyName("pump"), SETTINGS).step([reading], schemas.__getitem__)
    assert [letter.reason for letter in results.dead_letters] == ["unsupported-schema"]

"""A key whose readings have categories, from bytes to predictions: versions, late labels, state, too many symbols."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import fastavro
import numpy as np
import pytest

from eml.core.category_detection import MAX_SYMBOLS
from eml.settings import KafkaSettings, LearningSettings, RecordSettings, Settings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.keys import KeyName
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.output.encoder import Encoder, OutputIds, read_evolution
from eml.stream.output.events import EVOLUTION
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId, frame
from tests.synthetic import label_value
from tests.unit.stream.avro.encoding import EVENT_ID, LABEL, field, record
from tests.unit.stream.models.test_key_model import SETTINGS, keep

STATES = {"ok": ("idle", "run"), "worn": ("jog", "boost"), "broken": ("halt", "fault")}
RECORD = RecordSettings(categories=("site.zone",))
LABELS = 9


def mode(name: str, symbols: Sequence[str], **more: object) -> dict[str, Any]:
    return field(name, ["null", {"type": "enum", "name": "Mode", "symbols": symbols}], **more)


KNOWN = [symbol for symbols in STATES.values() for symbol in symbols]
SITE = field("site", record(field("zone", "string"), name="Site"))
VERSIONS = {
    1: record(EVENT_ID, LABEL, field("temp", "double"), mode("mode", KNOWN)),
    2: record(
        EVENT_ID, LABEL, mode("mode", ["new", *reversed(KNOWN)]), field("temp", "float")
    ),  # nothing to learnt ones
    3: record(EVENT_ID, LABEL, SITE, mode("regime", [*KNOWN, "more"], aliases=["mode"]), field("temp", "double")),
    4: record(EVENT_ID, LABEL, SITE, field("temp", "double")),
}
SCHEMAS = {
    number: compile_schema(json.dumps(schema), SchemaId(number), "readings-value", number, RECORD)
    for number, schema in VERSIONS.items()
} | {LABELS: compile_schema(schema_text("label"), SchemaId(LABELS), "labels-value", 1, RECORD)}


class Stream:
    """Readings whose mode tells the class nine times out of ten, and is null one time out of ten."""

    def __init__(self, seed: int = 0) -> None:
        self.raws: list[Raw] = []
        self.truth: list[str] = []
        self._dice = np.random.default_rng(seed)

    def readings(self, version: int, count: int, *, zone: str | None = None, labelled: bool = True) -> "Stream":
        for _ in range(count):
            state = str(self._dice.choice(list(STATES)))
            shown = state if self._dice.random() < 0.9 else str(self._dice.choice(list(STATES)))
            symbol = None if self._dice.random() < 0.1 else str(self._dice.choice(STATES[shown]))
            values = {
                "event_id": f"e{len(self.truth)}",
                "label": state if labelled else None,
                "temp": float(np.float32(self._dice.normal())),
                "mode": symbol,
                "regime": symbol,
                "site": {"zone": zone or str(self._dice.choice(STATES[state]))},
            }
            names = [each["name"] for each in VERSIONS[version]["fields"]]
            self._add("readings", written(version, {name: values[name] for name in names}))
            self.truth.append(state)
        return self

    def labels(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._add("labels", label_value(LABELS, schema_text("label"), f"e{number}", self.truth[number]))

    def _add(self, topic: str, value: bytes) -> None:
        self.raws.append(Raw(value, Position(topic, 0, len(self.raws), 1000 * len(self.raws)), {}))


def written(version: int, values: Mapping[str, object]) -> bytes:
    payload = io.BytesIO()
    fastavro.schemaless_writer(payload, fastavro.parse_schema(VERSIONS[version]), dict(values))
    return frame(version, payload.getvalue())


def run(stream: Stream, cut: int = 1000, settings: Settings = SETTINGS, *, reload: bool = False) -> Results:
    model, parts, together = KeyModel(KeyName("pump"), settings), state_codec.StateParts(), Results()
    for start in range(0, len(stream.raws), cut):
        results = model.step(stream.raws[start : start + cut], SCHEMAS.__getitem__)
        for name in ("predictions", "evolutions", "dead_letters"):
            getattr(together, name).extend(getattr(results, name))
        keep(parts, model)
        if reload:
            model = state_codec.load(KeyName("pump"), settings, parts)
    assert not together.dead_letters
    return together


def hits(results: Results, stream: Stream, start: int) -> float:
    pairs = list(zip(results.predictions, stream.truth, strict=True))[start:]
    return float(np.mean([scored.label == truth for scored, truth in pairs]))


def through_all() -> Stream:
    stream = Stream().readings(1, 120).readings(2, 60).readings(3, 60).readings(4, 40)
    return stream.readings(3, 40).readings(1, 40)


def test_a_mode_that_tells_the_class_is_learnt_and_other_symbols_are_no_evolution():
    stream = Stream().readings(1, 200).readings(2, 100)
    results = run(stream)
    assert not results.evolutions
    assert hits(results, stream, 100) > 0.75
    assert hits(results, stream, 200) > 0.75


@pytest.fixture(scope="module")
def unbroken() -> Results:
    return run(through_all())


def test_versions_with_categories_come_and_go(unbroken):
    evolutions = [event for event in unbroken.evolutions if event.kind == EVOLUTION]
    told = [(each.new_version, each.report.change.vanished, each.report.change.augmented) for each in evolutions[:2]]
    assert told == [(3, (), ("site.zone",)), (4, ("regime",), ())]
    assert [each.categories for each in evolutions[:2]] == [("site.zone", "regime"), ("site.zone",)]
    assert evolutions[0].report.change.renamed == {"regime": "mode"}
    event = read_evolution(Encoder(OutputIds(1, 2)).evolution(KeyName("pump"), evolutions[0]))
    assert event["categories"] == ["site.zone", "regime"]


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 13])
@pytest.mark.parametrize("reload", [False, True])
def test_results_depend_neither_on_the_cut_nor_on_reloads(unbroken, cut, reload):
    assert run(through_all(), cut, reload=reload) == unbroken


@pytest.mark.parametrize("reload", [False, True])
def test_late_labels_teach_what_the_category_was(reload):
    settings = replace(
        SETTINGS, kafka=KafkaSettings(labels_topic="labels"), learning=LearningSettings(recovery_records=0)
    )
    stream = Stream().readings(1, 100, labelled=False)
    stream.labels(range(100))  # of a version that is no more the key's when they come
    stream.readings(3, 60, labelled=False)
    stream.labels(range(100, 160))
    stream.readings(3, 100, labelled=False)
    results = run(stream, 7, settings, reload=reload)
    assert hits(results, stream, 160) > 0.75


def test_a_stranger_with_a_symbol_for_every_record_makes_no_state_grow():
    def size(count: int) -> int:
        stream = Stream()
        for number in range(count):
            stream.readings(4, 1, zone=f"{number}-" + "long " * 100)
        model = KeyModel(KeyName("pump"), SETTINGS)
        model.step(stream.raws, SCHEMAS.__getitem__)
        assert model.state.models is not None
        state = model.state.models.current.learner._state
        assert len(state.encoder.categories["site.zone"]) == MAX_SYMBOLS
        return len(state_codec.take_all(model).model or b"")

    assert size(1_500) < 1.05 * size(300)

"""What the operator counts: predictions by version, of a bounded number of versions."""

from eml.flink.metrics import MOST_VERSIONS, Metrics
from eml.settings import Settings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.records import Position, Raw
from eml.stream.wire import SchemaId
from tests.operator.fakes import FakeRuntime
from tests.synthetic import Device, reading_schema

NAMES = ("a", "b")
TEXT = reading_schema(NAMES)


def count(metrics: Metrics, version: int, readings: int) -> None:
    schema = compile_schema(TEXT, SchemaId(1), "r-value", version, Settings().record)
    values = [Device().value(1, TEXT, NAMES, labelled=False)[0] for _ in range(readings)]
    raws = [Raw(value, Position("readings", 0, offset, 1000), {}) for offset, value in enumerate(values)]
    metrics.count(KeyModel(KeyName("pump"), Settings()).step(raws, lambda _: schema))


def test_predictions_are_counted_by_version_and_many_versions_together():
    runtime = FakeRuntime()
    metrics = Metrics(runtime.get_metrics_group())
    for version in (3, 1, 3):
        count(metrics, version, 2)
    metrics.flush()
    for version in range(1, MOST_VERSIONS + 9):
        count(metrics, version, 1)
    metrics.flush()
    by_version = {
        name.removeprefix("predictions_version_"): counter.count
        for name, counter in runtime.counters.items()
        if name.startswith("predictions_version_")
    }
    assert (by_version["3"], by_version["1"], by_version["2"], by_version["other"]) == (5, 3, 1, 8)
    assert len(by_version) == MOST_VERSIONS + 1
    assert sum(by_version.values()) == runtime.counters["predictions"].count

"""What of the benchmark needs no broker: its options, its input, its rates and its table."""

import argparse
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from eml.bench import beforehand, command, report, table
from eml.bench.comparison import COPY, EMPTY, JOB, Options, Result, Rival
from eml.bench.latency import Delay, Stamp, after, delays, keeps_up, percentile
from eml.bench.learner import exponent
from eml.bench.load import CLASSES, FEATURES, Load
from eml.bench.measure import rate
from eml.bench.paced import highest
from eml.bench.sizing import CHECKS, FULL, POINTS, Cost, Model, fit, needs, of_model
from eml.bench.stream import least_ms
from eml.core import EvolvingMetricLearner
from eml.local.errors import LocalError
from eml.settings import RecordSettings, Settings
from eml.stream.avro.reading_schema import compile_schema
from eml.stream.keys import KeyName
from eml.stream.models.key_model import KeyModel
from eml.stream.records import Position, Raw
from eml.stream.wire import HEADER_SIZE, SchemaId, unframe


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    return parser.parse_args(["bench", "stream", *arguments])


def test_options_have_defaults_and_take_lists():
    options = parsed("--keys", "10,20,10", "--micro-batch-ms", "100,500")
    assert options.keys == (10, 20)
    assert options.micro_batch_ms == (100, 500)
    assert (options.parallelism, options.delivery) == (1, "exactly-once")


@pytest.mark.parametrize(
    "wrong",
    [
        ("--keys", "0"),
        ("--records", "many"),
        ("--labelled", "1.5"),
        ("--delivery", "?"),
        ("--peers", "x"),
        ("--exemplars", "3"),
    ],
)
def test_wrong_options_are_refused(wrong, capsys):
    with pytest.raises(SystemExit):
        parsed(*wrong)
    assert wrong[0] in capsys.readouterr().err


def test_a_rate_counts_what_came_after_the_warm_up():
    times = [0] * 220 + [1000 * second for second in range(1, 101) for _ in range(9)]
    assert rate(times) == pytest.approx(9.0)


def test_a_rate_needs_more_than_one_moment():
    with pytest.raises(LocalError, match="measure more"):
        rate([5] * 100)


def test_a_rate_of_less_than_a_bundle_is_refused():
    flushed = list(range(0, 600, 3))  # long work, then all of it written in 0.6 s
    assert rate(flushed) > 300
    with pytest.raises(LocalError, match="10000 ms are needed"):
        rate(flushed, least_ms=10_000)


def test_python_operators_are_measured_for_several_bundles():
    options = Options(1000, (10,), 0.05, 1, 1, "exactly-once", 5000, (200,))
    assert [least_ms(rival, options) for rival in options.rivals()] == [0, 10_000, 10_000]
    assert least_ms(Rival(JOB, 200), replace(options, delivery="at-least-once")) == 400


def test_the_readings_are_what_the_job_reads():
    load = Load(keys=3, records=1000, labelled=0.1)
    sent = list(load.readings(schema_id=7))
    assert len(sent) == 1000
    assert {key for key, _ in sent} == {b"device-0", b"device-1", b"device-2"}
    schema = compile_schema(load.schema, SchemaId(7), "readings-value", 1, RecordSettings())
    decoded = schema.decode([value for _, value in sent], HEADER_SIZE)
    assert not decoded.bad
    assert decoded.values.shape == (1000, FEATURES)
    assert {unframe(value) for _, value in sent} == {7}
    labels = [label for label in decoded.labels if label]
    assert 0.03 < len(labels) / 1000 < 0.2
    assert len(set(labels)) == CLASSES


def test_every_taught_device_has_learnt_a_label_of_its_own_after_two_readings():
    load = Load(keys=3, records=9, labelled=0.0, taught=True)
    schema = compile_schema(load.schema, SchemaId(7), "readings-value", 1, RecordSettings())
    sent = list(enumerate(load.readings(schema_id=7)))
    for device in range(3):
        raws = [
            Raw(value, Position("readings", 0, number, load.timestamp_ms(number)), {})
            for number, (_, value) in sent[device::3]
        ]
        said = KeyModel(KeyName("device"), Settings()).step(raws, lambda _: schema).predictions
        assert [one.model_revision for one in said] == [0, 1, 1]


def test_the_table_has_the_ratios_of_one_run():
    options = Options(1000, (10,), 0.05, 1, 1, "exactly-once", 5000, (200,))
    ours = Rival(JOB, 200)
    result = Result(10, {Rival(COPY): [900.0], Rival(EMPTY): [100.0], ours: [150.0]}, {ours: 990})
    output = io.StringIO()
    table.show(options, [result], Console(file=output, width=120))
    said = output.getvalue()
    assert "1.50" in said
    assert "990" in said
    assert "10 keys: 1.50 times the empty operator, above it" in said


def test_missing_values_are_nulls_of_the_schema():
    load = Load(keys=3, records=500, labelled=0.1, nulls=0.1)
    schema = compile_schema(load.schema, SchemaId(7), "readings-value", 1, RecordSettings())
    decoded = schema.decode([value for _, value in load.readings(7)], HEADER_SIZE)
    assert not decoded.bad
    assert 0.08 < np.isnan(decoded.values).mean() < 0.12


def test_the_model_made_beforehand_knows_the_readings_and_is_full():
    load = Load(keys=3, records=0, labelled=0.1)
    learner = EvolvingMetricLearner.restore(beforehand.snapshot(load, 256))
    values, classes = load.draw(np.random.default_rng(9), 200)
    said = learner.predict_many(values).labels
    assert np.mean([label == f"state-{c}" for label, c in zip(said, classes, strict=True)]) > 0.8
    assert learner.config.memory_size == 256


# -- delays --------------------------------------------------------------------------------------------------------


def test_answers_belong_to_readings_by_key_and_order():
    readings = [Stamp(b"a", 0), Stamp(b"b", 5), Stamp(b"a", 10), Stamp(b"c", 20)]
    answers = [Stamp(b"b", 8), Stamp(b"a", 30), Stamp(b"a", 31)]
    assert delays(readings, answers) == [Delay(0, 30), Delay(5, 3), Delay(10, 21)]


def test_percentiles_are_of_what_came_after_the_settle_time():
    found = [Delay(10 * i, 5000 if i < 100 else i % 100) for i in range(1000)]
    settled = after(found, 1.0)
    assert len(settled) == 900
    assert percentile(settled, 0.5) == pytest.approx(49.5)
    assert percentile(settled, 0.99) == pytest.approx(98, abs=1)
    with pytest.raises(LocalError, match="--seconds"):
        after(found, 100.0)


def test_a_growing_delay_does_not_keep_up():
    assert keeps_up([Delay(i, 300 + i % 50) for i in range(400)])
    assert not keeps_up([Delay(10 * i, 10 * i) for i in range(1000)])


@pytest.mark.parametrize(("limit", "low"), [(1000, 875), (100, 0), (99_000, 64_000)])
def test_the_highest_rate_is_found_in_few_tries(limit, low):
    tried = []

    def keeps(rate: int) -> bool:
        tried.append(rate)
        return bool(rate <= limit)

    found = highest(keeps, 250)
    assert low <= found <= limit
    assert len(tried) < 13


# -- figures -------------------------------------------------------------------------------------------------------


def test_a_baseline_names_what_got_slower(tmp_path):
    options = Options(1000, (10,), 0.05, 1, 1, "exactly-once", 5000, (200,))
    ours = Rival(JOB, 200)

    def figures(rate: float) -> report.Figures:
        rates = {Rival(COPY): [900.0], Rival(EMPTY): [100.0], ours: [rate]}
        return report.of_results(options, [Result(10, rates)])

    report.write(tmp_path / "now.json", "stream", options, figures(150.0))
    assert json.loads((tmp_path / "now.json").read_text())["options"]["records"] == 1000
    before = report.read(tmp_path / "now.json")
    assert report.slower(before, figures(140.0)) == []
    assert "10 keys: job heap 200 ms, times empty: 0.50, was 1.50" in report.slower(before, figures(50.0))
    with pytest.raises(LocalError, match="got slower"):
        report.compare(before, figures(50.0), Console(file=io.StringIO()))


def test_a_longer_delay_is_slower_too():
    before, now = report.Figures(worse={"p99": 2.0}), report.Figures(worse={"p99": 4.0})
    assert report.slower(before, now) == ["p99: 4.00, was 2.00"]
    assert report.slower(now, before) == []


def test_a_file_that_is_no_baseline_is_refused(tmp_path):
    (tmp_path / "other.json").write_text("[]")
    for name in ("other.json", "missing.json"):
        with pytest.raises(LocalError, match="--json has written"):
            report.read(tmp_path / name)


def test_growth_is_the_slope_of_the_logarithms():
    assert exponent([1, 10, 100], [5, 500, 50_000]) == pytest.approx(2.0)


def test_the_cost_of_a_record_goes_through_its_points_and_says_what_others_cost():
    true = Cost(fixed=20e-6, slope=2e-10, label=300e-6)
    found = fit([true.record(*point) for point in POINTS])
    assert [found.record(*check) for check in CHECKS] == pytest.approx([true.record(*check) for check in CHECKS])


def test_a_fleet_needs_tasks_for_its_records_and_memory_for_its_models():
    cost, model = Cost(fixed=60e-6, slope=0.0, label=0.0), Model(live=1_000_000, state=100_000, window=32_000)
    found = needs(cost, model, devices=100_000, models=100_000, labels_per_day=86.4)
    assert found == pytest.approx((10, 10.0, 10.0, 0.1)), "tasks, GB a task, GB of state, MB/s"


def test_what_a_model_takes_is_counted_on_a_learner_with_a_full_memory():
    model = of_model()
    exemplars = FULL * FEATURES * np.dtype(np.float32).itemsize
    assert model.window < model.state < exemplars < model.live

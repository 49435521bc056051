"""What of the benchmark needs no broker: its options, its input, its rates and its table."""

import argparse
import io

import pytest
from rich.console import Console

from eml.bench import command, table
from eml.bench.comparison import COPY, EMPTY, JOB, Options, Result, Rival
from eml.bench.load import CLASSES, FEATURES, Load
from eml.bench.measure import rate
from eml.local.errors import LocalError
from eml.settings import RecordSettings
from eml.stream.schema import compile_schema
from eml.stream.wire import HEADER_SIZE, unframe


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    return parser.parse_args(["bench", "stream", *arguments])


def test_options_have_defaults_and_take_lists():
    options = parsed("--keys", "10,20,10", "--micro-batch-ms", "100,500")
    assert options.keys == (10, 20)
    assert options.micro_batch_ms == (100, 500)
    assert (options.parallelism, options.delivery) == (1, "exactly-once")


@pytest.mark.parametrize("wrong", [("--keys", "0"), ("--records", "many"), ("--labelled", "1.5"), ("--delivery", "?")])
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


def test_the_readings_are_what_the_job_reads():
    load = Load(keys=3, records=1000, labelled=0.1)
    sent = list(load.readings(schema_id=7))
    assert len(sent) == 1000
    assert {key for key, _ in sent} == {b"device-0", b"device-1", b"device-2"}
    schema = compile_schema(load.schema, 7, "readings-value", 1, RecordSettings())
    decoded = schema.decode([value for _, value in sent], HEADER_SIZE)
    assert not decoded.bad
    assert decoded.values.shape == (1000, FEATURES)
    assert {unframe(value) for _, value in sent} == {7}
    labels = [label for label in decoded.labels if label]
    assert 0.03 < len(labels) / 1000 < 0.2
    assert len(set(labels)) == CLASSES


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

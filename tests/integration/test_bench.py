"""The benchmark's three pipelines on the real stack, with few records: each delivers every one exactly once."""

import io

import pytest
from rich.console import Console

from eml.bench.comparison import Options
from eml.bench.stream import Bench
from eml.local.stack import Stack

pytestmark = pytest.mark.slow

RECORDS = 3_000


def test_every_pipeline_delivers_every_record_once(stack: Stack):
    options = Options(RECORDS, (4,), 0.05, 1, 1, "exactly-once", 1_000, (200,))
    bench = Bench(options, stack, Console(file=io.StringIO()))
    with bench.readings(4) as readings:
        for rival in options.rivals():
            with bench.at_work(rival, readings) as output:
                seen = {message.value() for message in output.read(RECORDS)}  # all differ, by their event ids
            assert len(seen) == RECORDS, rival

"""The benchmark's pipelines on the real stack, with few records: each delivers every one exactly once."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from eml.bench.comparison import COPY, EMPTY, RIVER, ROCKSDB, Options
from eml.bench.stream import Bench
from eml.local.stack import Stack

pytestmark = pytest.mark.slow

RECORDS = 3_000


def test_every_pipeline_delivers_every_record_once(stack: Stack, tmp_path: Path):
    options = Options(
        RECORDS,
        (4,),
        0.05,
        1,
        1,
        "exactly-once",
        1_000,
        (200,),
        exemplars=64,
        peers=(COPY, EMPTY, RIVER),
        backend=(ROCKSDB,),
    )
    bench = Bench(options, stack, Console(file=io.StringIO()), tmp_path)
    with bench.readings(4, nulls=0.1) as readings:
        for rival in options.rivals():
            with bench.at_work(rival, readings) as output:
                seen = {message.value() for message in output.read(RECORDS)}  # all differ, by their event ids
            assert len(seen) == RECORDS, rival

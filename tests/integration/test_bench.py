"""The benchmark's pipelines on the real stack, with few records: each delivers every one exactly once."""

import io
import time
from pathlib import Path

import pytest
from rich.console import Console

from eml.bench.comparison import COPY, EMPTY, QUIX, RIVER, ROCKSDB, Options, Rival
from eml.bench.sending import send
from eml.bench.stream import Bench
from eml.evaluate.prequential.peers import VARIABLE
from eml.local import topics
from eml.local.stack import Stack
from eml.stream.output.encoder import read_prediction

pytestmark = pytest.mark.slow

RECORDS = 3_000
PEERS_PYTHON = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"


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


@pytest.mark.skipif(not PEERS_PYTHON.exists(), reason="needs the peers' environment")
def test_quix_streams_goes_on_where_it_was_stopped(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(VARIABLE, str(PEERS_PYTHON))
    window = 8
    options = Options(
        600,
        (4,),
        0.2,
        1,
        1,
        "exactly-once",
        1_000,
        (200,),
        exemplars=64,
        peers=(QUIX,),
        copies=True,  # windows then close by count alone
        settings=(("learning.window_records", str(window)),),
    )
    bench = Bench(options, stack, Console(file=io.StringIO()), tmp_path)
    with bench.readings(4) as readings, bench.started(Rival(QUIX), readings) as (pipeline, output):
        output.wait(600, pipeline.check)
        pipeline.stop()
        load = bench.load(4, 400)
        send(stack.bootstrap_servers, readings, load.readings(bench.register(readings, load)))
        pipeline.start()
        output.wait(1_000, pipeline.check)
        said = [read_prediction(message.value() or b"") for message in output.read(1_000)]
    assert [one["source_offset"] for one in said] == list(range(1_000))
    assert all(one["label"] is not None for one in said)
    for device in {one["key"] for one in said}:
        own = [one for one in said if one["key"] == device]
        assert len(own) == 250
        # A window that was begun before the stop is closed after it: no label was lost, and none learnt twice.
        labels = [one["truth"] is not None for one in own]
        learnt = [int(str(one["model_revision"])) - int(str(own[0]["model_revision"])) for one in own]
        assert learnt == [sum(labels[:number]) // window for number in range(len(own))]
        assert learnt[-1] > learnt[150]
    end = time.monotonic() + 20  # a broker may name a topic for a moment after it was removed
    while left := [
        name for name in topics.names(stack.bootstrap_servers) if readings.rpartition("-readings-")[0] in name
    ]:
        assert time.monotonic() < end, left
        time.sleep(0.2)

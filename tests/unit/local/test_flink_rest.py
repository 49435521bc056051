"""Flink's REST interface as it answered in a run of the demo: what is read of it."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest

from eml.local.errors import FlinkPageError
from eml.local.flink_rest import FlinkJob, FlinkPage
from eml.local.process import LOOPBACK, free_port

JOB = "0941349a295dc8fd84985933ba812e01"
OVERVIEW = {
    "jid": JOB,
    "name": "eml-demo",
    "start-time": 1795062619966,
    "end-time": -1,
    "duration": 13145,
    "state": "RUNNING",
    "tasks": {"running": 3, "canceling": 0, "total": 3, "failed": 0},
}
METRICS = {
    "a": {
        "Source__readings[1].numRecordsIn": 540.0,
        "Calc[2].numRecordsIn": 540.0,
        "numRecordsIn": 540.0,
        "Source__readings[1].pendingRecords": 7.0,
        "Source__labels[1].pendingRecords": float("nan"),
        "Source__readings[1].KafkaSourceReader.KafkaConsumer.fetch-rate": 0.5,
    },
    "b": {
        "evolving_metric_learning.predictions": 530.0,
        "evolving_metric_learning.scored": 500.0,
        "evolving_metric_learning.right": 400.0,
        "evolving_metric_learning.dead_letters": 3.0,
        "evolving_metric_learning.dead_letters_unknown_schema": 2.0,
        "evolving_metric_learning.dead_letters_no_key": 1.0,
        "evolving_metric_learning.numRecordsOut": 60.0,
        "evolving_metric_learning.recovery_regret": 1.0,
        "predictions_sink[10]__Committer.failedCommittables": 1.0,
        "evolutions_sink[13]__Committer.failedCommittables": 1.0,
        **{f"Calc[{number}].numRecordsIn": 1.0 for number in range(200)},
    },
}
CHECKPOINT = {
    "id": 7,
    "latest_ack_timestamp": 1795062632583,
    "state_size": 131988,
    "end_to_end_duration": 34,
    "external_path": "file:/tmp/checkpoints/chk-7",
}
ANSWERS: dict[str, object] = {
    "/flink/jobs/overview": {"jobs": [{**OVERVIEW, "jid": "old", "start-time": 1, "state": "FAILED"}, OVERVIEW]},
    f"/flink/jobs/{JOB}": {"vertices": [{"id": name} for name in METRICS]},
    f"/flink/jobs/{JOB}/checkpoints": {"latest": {"completed": CHECKPOINT}},
    "/flink/jobs/old/checkpoints": {"latest": {"completed": None}},
    f"/flink/jobs/{JOB}/exceptions": {"exceptionHistory": {"entries": [{"timestamp": 2}, {"timestamp": 1}]}},
    "/flink/jobs/strange": ["no object"],
    "/flink/jobs/strange/checkpoints": {"errors": ["Unable to load requested file"]},
}


class Page(BaseHTTPRequestHandler):
    """Flink's page behind a proxy that puts /flink in front."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        body = json.dumps(ANSWERS.get(url.path) or _metrics(url.path, url.query)).encode()
        self.send_response(200 if "strange/checkpoints" not in url.path else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _metrics(path: str, query: str) -> object:
    """All names; with names, the sums of these."""
    values = METRICS.get(path.removesuffix("/subtasks/metrics").rpartition("/")[2], {})
    asked = parse_qs(query).get("get")
    if asked is None:
        return [{"id": name} for name in values]
    assert "agg=sum" in query
    return [{"id": name, "sum": values[name]} for name in asked[0].split(",")]


@pytest.fixture(scope="module")
def page() -> Iterator[FlinkPage]:
    with HTTPServer((LOOPBACK, 0), Page) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield FlinkPage(f"http://{LOOPBACK}:{server.server_port}/flink/")
        server.shutdown()
        thread.join()


def test_the_newest_job_is_the_first(page: FlinkPage):
    newest, old = page.jobs()
    assert newest == FlinkJob(JOB, "eml-demo", "RUNNING", 1795062619966, 3, 3)
    assert newest.runs
    assert not old.runs


def test_what_was_counted_is_summed_over_tasks_and_operators(page: FlinkPage):
    counted = page.counted(JOB)
    assert (counted.records, counted.lag, counted.failed_commits) == (540, 7, 2)
    assert counted.own == {
        "predictions": 530,
        "scored": 500,
        "right": 400,
        "dead_letters": 3,
        "dead_letters_unknown_schema": 2,
        "dead_letters_no_key": 1,
    }
    assert counted.dead_letters == {"unknown-schema": 2, "no-key": 1}


def test_a_checkpoint_is_there_or_not(page: FlinkPage):
    found = page.newest_checkpoint(JOB)
    assert found is not None
    assert (found.id, found.path, found.completed_ms) == (7, "file:/tmp/checkpoints/chk-7", 1795062632583)
    assert (found.took_ms, found.bytes) == (34, 131988)
    assert page.newest_checkpoint("old") is None


def test_failures_come_in_their_order(page: FlinkPage):
    assert [one["timestamp"] for one in page.failures(JOB)] == [1, 2]


def test_what_flink_does_not_know_is_nothing(page: FlinkPage):
    counted = page.counted("strange")
    assert (counted.records, counted.lag, counted.own) == (None, None, {})
    assert page.newest_checkpoint("strange") is None


def test_a_page_that_does_not_answer_is_an_error():
    with pytest.raises(FlinkPageError, match="does not answer"):
        FlinkPage(f"http://{LOOPBACK}:{free_port()}").jobs()

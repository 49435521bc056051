"""`eml status` where something has no answer: the rest is answered all the same, and it ends with 1."""

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from eml import cli
from eml.operations.status import ago

NOBODY = ("-S", "kafka.bootstrap_servers=127.0.0.1:9", "-S", "registry.url=http://127.0.0.1:9")


class Page(BaseHTTPRequestHandler):
    """Flink's page of a job that runs, without a checkpoint yet."""

    def do_GET(self) -> None:
        jobs = [{"jid": "1", "name": "eml", "state": "RUNNING", "start-time": 0, "tasks": {"total": 2, "running": 2}}]
        answer = {"/jobs/overview": {"jobs": jobs}, "/jobs/1": {"vertices": []}}.get(self.path, {})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in [name for name in os.environ if name.startswith("EML_")]:
        monkeypatch.delenv(name)


def test_no_answer_at_all_is_1_and_says_what_to_name(capsys):
    assert cli.main(["status", *NOBODY]) == 1
    out = capsys.readouterr().out
    assert "name Flink's page of a cluster with --flink URL" in out
    assert "correct kafka.bootstrap_servers" in out


def test_flink_is_asked_where_kafka_does_not_answer(capsys):
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{page.server_port}"
        assert cli.main(["status", *NOBODY, "--flink", url, "--json"]) == 1
        found = json.loads(capsys.readouterr().out)
        assert cli.main(["status", *NOBODY, "--flink", url, "-S", "job.name=other"]) == 1
        page.shutdown()
    assert (found["job"]["state"], found["job"]["runs"], found["checkpoint"]) == ("RUNNING", True, None)
    assert len(found["problems"]) == 1
    assert f"Flink at {url} knows no job 'other' (job.name)" in capsys.readouterr().out


@pytest.mark.parametrize(("seconds", "said"), [(0, "0 s"), (90, "1.5 min"), (7_200, "2.0 h"), (172_800, "2.0 d")])
def test_a_time_is_said_as_people_do(seconds, said):
    assert ago(int(1000 * (time.time() - seconds))) == said

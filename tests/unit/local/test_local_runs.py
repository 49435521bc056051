"""A local run is found while its process lives."""

import json

import pytest

from eml.local import local_runs


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_a_run_is_found_by_its_job_s_name():
    local_runs.note("a/fleet", "http://127.0.0.1:8081", "flink.log", "file:///state")
    found = local_runs.find("a/fleet")
    assert found is not None
    assert (found.page, found.log, found.state) == ("http://127.0.0.1:8081", "flink.log", "file:///state")
    assert local_runs.find("other") is None


@pytest.mark.parametrize("damage", ["{", "[]", json.dumps({"name": "eml", "process": {"pid": 1}})])
def test_what_is_gone_or_damaged_is_no_run(damage):
    local_runs.note("eml", "http://127.0.0.1:8081", "flink.log", "file:///state")
    (file,) = (local_runs.state_folder() / "runs").iterdir()
    noted = json.loads(file.read_text())
    file.write_text(json.dumps(noted | {"process": {"pid": 1, "started": "0"}}))
    assert local_runs.find("eml") is None
    file.write_text(damage)
    assert local_runs.find("eml") is None

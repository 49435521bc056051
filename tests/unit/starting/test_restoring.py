"""Which state a start takes, and when it must not begin."""

import os
from pathlib import Path

import pytest

from eml.settings import JobSettings, KafkaSettings, Settings
from eml.starting.restoring import Request, RestoreError, choose
from eml.starting.state_files import Found, JobIdentity, StateFolders, list_folder, newest

SETTINGS = Settings(kafka=KafkaSettings(group_id="g"), job=JobSettings(name="pumps"))
FOLDERS = StateFolders("file:///c", "file:///c/savepoints")
FOUND = Found("savepoint", "file:///c/savepoints/savepoint-1", 1.0)
BEFORE = "consumer group 'g' has committed offsets"


def finished(folder: Path, name: str, age_s: int) -> None:
    """A checkpoint or savepoint with its metadata."""
    (folder / name).mkdir(parents=True)
    (folder / name / "_metadata").touch()
    os.utime(folder / name / "_metadata", (1_000_000 - age_s, 1_000_000 - age_s))


def test_fault_4_the_newest_finished_state_of_this_job_is_found(tmp_path):
    own = StateFolders.of(JobIdentity.of(SETTINGS, "id-1"), tmp_path.as_uri(), "")
    other = StateFolders.of(JobIdentity.of(SETTINGS, "id-2"), str(tmp_path), "")
    assert own.checkpoints != other.checkpoints, "a topic made anew is another job's"
    folder = tmp_path / own.checkpoints.rpartition("/")[2]
    assert newest(own, list_folder) is None
    finished(folder, "0f0f/chk-7", 50)
    finished(folder, "0e0e/chk-99", 90)
    (folder / "0f0f/chk-8").mkdir()  # never finished
    finished(tmp_path / other.checkpoints.rpartition("/")[2], "0a0a/chk-9", 1)
    assert (newest(own, list_folder) or FOUND).path.endswith("/0f0f/chk-7")
    finished(folder, "savepoints/savepoint-1", 10)
    assert (newest(own, list_folder) or FOUND).kind == "savepoint"


def test_fault_4_a_job_that_ran_before_is_not_begun_anew():
    with pytest.raises(RestoreError, match=r"has run before .* no finished checkpoint in file:///c.*--fresh"):
        choose(Request(), FOLDERS, None, BEFORE)
    assert choose(Request(), FOLDERS, None, None).path is None
    assert choose(Request(), FOLDERS, FOUND, BEFORE).path == FOUND.path
    fresh = choose(Request(fresh=True), FOLDERS, FOUND, BEFORE)
    assert fresh.path is None
    assert FOUND.path in fresh.message
    assert choose(Request("s3://there"), None, None, BEFORE).path == "s3://there"
    with pytest.raises(RestoreError, match="--restore latest"):
        choose(Request("latest"), FOLDERS, None, None)

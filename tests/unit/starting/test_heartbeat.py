"""The heartbeat of a local run: what its line says, and when nothing is said."""

import logging
import threading

import pytest

from eml.local.errors import FlinkPageError
from eml.local.flink_rest import Checkpoint, Counted
from eml.starting.heartbeat import REPEAT_S, Heartbeat, Look, line

CHECKPOINT = Checkpoint(7, "file:/tmp/chk-7", 1_000_000, 34, 131_988)
FIRST = Counted(1_000, 250, 0, {"predictions": 1_000, "predictions_version_1": 1_000, "scored": 100, "right": 50})
LATER = Counted(
    13_340,
    0,
    0,
    {
        "predictions": 13_340,
        "predictions_version_1": 10_255,
        "predictions_version_2": 3_085,
        "scored": 500,
        "right": 430,
        "dead_letters": 12,
        "dead_letters_no_key": 2,
        "dead_letters_unknown_schema": 10,
    },
)


def test_a_line_says_what_happened_since_the_last():
    said = line(Look(50.0, FIRST, None), Look(60.0, LATER, CHECKPOINT), 1_004.0)
    assert said == (
        "1,234 records/s, lag 0, versions 1: 75% 2: 25%, right 95.0% of 400 labels,"
        " dead letters 12 (unknown-schema 10, no-key 2), checkpoint 7 4 s ago"
    )


def test_the_first_line_says_what_there_was_so_far():
    said = line(None, Look(50.0, FIRST, None), 1_000.0)
    assert said == (
        "1,000 records, lag 250, versions 1: 100%, right 50.0% of 100 labels, no dead letters, no checkpoint yet"
    )


def test_what_began_anew_with_a_restart_is_no_loss():
    said = line(Look(50.0, LATER, CHECKPOINT), Look(60.0, FIRST, CHECKPOINT), 1_000.0)
    assert said.startswith("100 records/s, lag 250, versions 1: 100%, right 50.0% of 100 labels, no dead letters")


class Page:
    """Flink's page, with what it says set by the test; None: it does not answer."""

    counted_now: Counted | None = FIRST

    def counted(self, _job_id: str) -> Counted:
        if self.counted_now is None:
            raise FlinkPageError("away")
        return self.counted_now

    def newest_checkpoint(self, _job_id: str) -> Checkpoint | None:
        return CHECKPOINT


@pytest.fixture
def beating(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> tuple[Heartbeat, Page]:
    caplog.set_level(logging.INFO, "eml.job")
    page = Page()
    monkeypatch.setattr("eml.starting.heartbeat.FlinkPage", lambda _url: page)
    return Heartbeat("http://127.0.0.1:1", "job", 10), page


def test_what_has_not_changed_is_said_once_a_minute(beating, monkeypatch, caplog):
    heartbeat, _ = beating
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    for _ in range(3):
        heartbeat.beat()
        now += 10.0
    assert len(caplog.records) == 1
    now += REPEAT_S
    heartbeat.beat()
    assert len(caplog.records) == 2


def test_before_anything_is_known_and_while_the_page_is_away_nothing_is_said(beating, caplog):
    heartbeat, page = beating
    page.counted_now = Counted(None, None, 0, {})
    heartbeat.beat()
    page.counted_now = None
    heartbeat.beat()
    assert not caplog.records


def test_a_lost_transaction_is_a_warning_each_time(beating, caplog):
    heartbeat, page = beating
    heartbeat.beat()
    for lost in (2, 2, 3):
        page.counted_now = Counted(2_000, 0, lost, {})
        heartbeat.beat()
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [said.partition(" ")[0] for said in warnings] == ["2", "1"]


def test_what_the_run_before_committed_is_no_loss(beating, caplog):
    heartbeat, page = beating
    page.counted_now = Counted(300, 0, 1, {})
    heartbeat.beat()
    assert [record.levelno for record in caplog.records] == [logging.INFO, logging.INFO]
    assert "1 transactions of the run before were closed already" in caplog.text


def test_none_is_wanted_or_its_thread_ends(beating):
    heartbeat, _ = beating
    heartbeat.start()
    heartbeat.end()
    Heartbeat("http://127.0.0.1:1", "job", 0).start()
    for thread in threading.enumerate():
        if thread.name == "eml-heartbeat":
            thread.join(5)
            assert not thread.is_alive()

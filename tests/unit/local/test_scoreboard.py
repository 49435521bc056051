"""What is known of a running demonstration."""

import pytest

from eml.local.scoreboard import Scoreboard
from tests.unit.local.demo_records import MACHINES, RECORDS, prediction


def test_the_scoreboard_counts_what_is_sent_predicted_and_right(board, sent):
    assert (board.predictions, board.right, board.missing) == (len(sent), len(sent) // 2, 0)
    assert board.balanced
    assert board.accuracy == pytest.approx(0.5, abs=0.05)
    device = board.devices["machine-1"]
    assert (device.sent, device.predicted, device.version, device.stage) == (3 * RECORDS, 3 * RECORDS, 3, "steady")
    assert [change.at_s for change in board.changes] == [3.0, 6.0] * MACHINES


def test_the_truth_is_the_simulators_also_for_records_without_label(sent):
    record = next(record for record in sent if not record.planned.reading.labelled)
    board = Scoreboard()
    board.add_sent([record])
    board.add_prediction(prediction(record, record.planned.reading.state))
    assert board.right == 1


def test_a_prediction_without_label_is_not_right(sent):
    board = Scoreboard()
    board.add_sent(sent[:1])
    assert board.accuracy is None
    board.add_prediction(prediction(sent[0], None))
    assert board.accuracy == 0.0


def test_a_dead_letter_accounts_for_its_record_and_a_repeated_prediction_for_none(sent):
    board = Scoreboard()
    board.add_sent(sent[:2])
    board.add_prediction(prediction(sent[0], "healthy"))
    assert (board.missing, board.balanced) == (1, False)
    board.add_prediction(prediction(sent[0], "healthy"))
    assert (board.missing, board.balanced) == (1, False)
    board.add_dead_letter("truncated")
    assert (board.missing, board.balanced) == (0, False)

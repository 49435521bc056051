"""The controls, and the figures that are made of their predictions and the job's."""

import numpy as np
import pytest

from eml.local.controls import DROPS, EML, RESTARTS, Contestant, Controls
from eml.local.results import results
from eml.stream.avro.reading_schema import ReadingSchema
from tests.unit.local.demo_records import SCHEMAS, all_sent


@pytest.mark.slow
def test_controls_predict_every_record_and_are_alike_before_the_first_upgrade(sent, labels):
    assert labels.keys() == {EML, DROPS, RESTARTS}
    for said in labels.values():
        assert len(said) == len(sent)
    first = [record.planned.event_id for record in sent if record.planned.version == 1]
    assert len({tuple(said[event_id] for event_id in first) for said in labels.values()}) == 1


@pytest.mark.slow
def test_eml_is_ahead_of_dropping_and_of_restarting_right_after_the_switches():
    """With as many records as the demo sends: with few, a restart, which knows the last states alone, guesses well.

    A machine keeps its state for a while.
    """
    sent = all_sent(4, 800)
    eml = Contestant(SCHEMAS.__getitem__)
    eml.feed(sent)
    with Controls(SCHEMAS.__getitem__) as controls:
        controls.feed(sent)
        others = controls.finish()
    shares = [
        np.mean([result.share(version, early=True) for version in (2, 3)])
        for result in results(sent, {EML: eml.labels, **others})
    ]
    assert shares[0] > max(shares[1:])
    assert shares[0] > shares[2] + 0.02


def test_an_error_of_a_control_is_reported_at_the_end(sent):
    schemas: dict[int, ReadingSchema] = {}
    with Controls(schemas.__getitem__) as controls:
        controls.feed(sent[:1])
        with pytest.raises(KeyError):
            controls.finish()


def test_shares_count_what_is_right_early_and_in_all(board, sent):
    (result,) = results(sent, {EML: board.labels})
    assert result.share(2, early=False) == pytest.approx(0.5, abs=0.05)
    times, shares = result.rolling()
    assert times[-1] == (sent[-1].timestamp_ms - sent[0].timestamp_ms) / 1000
    assert shares == pytest.approx(0.5, abs=0.05)
    (nothing,) = results(sent, {EML: {}})
    assert nothing.share(1, early=True) == 0.0


@pytest.mark.parametrize("few", [1, 7])
def test_a_curve_needs_but_one_record(sent, labels, few):
    for result in results(sent[:few], labels):
        times, shares = result.rolling()
        assert len(times) == len(shares) == few

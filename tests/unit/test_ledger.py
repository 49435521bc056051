"""The soak's account of every record: what it must notice."""

import random

from tests.hostile.ledger import TRIM, Ledger


def test_all_that_ends_once_is_done_in_any_order_and_the_marks_stay_few():
    ledger, dice = Ledger(), random.Random(1)  # noqa: S311  repeatable
    steps = [(offset // 100 + dice.random() * 3, kind, offset) for offset in range(100_000) for kind in ("sent", "end")]
    for _, kind, offset in sorted(steps):
        if kind == "sent":
            ledger.was_sent(0, offset, silent=False)
        else:
            ledger.has_ended(0, offset)
    assert (ledger.sent, ledger.ended, ledger.open, ledger.twice, ledger.unexpected) == (100_000, 100_000, 0, 0, 0)
    assert len(ledger.partitions[0].marks) <= 2 * TRIM


def test_what_is_lost_or_comes_twice_or_uncalled_for_is_counted():
    ledger = Ledger()
    for offset in range(30_000):
        ledger.was_sent(1, offset, silent=offset == 7)
        if offset not in (7, 20_001):
            ledger.has_ended(1, offset)
    ledger.has_ended(1, 5)  # long done
    ledger.has_ended(1, 29_999)
    ledger.has_ended(1, 20_002)
    assert (ledger.open, ledger.twice, ledger.under_way) == (1, 3, 1)
    ledger = Ledger()
    ledger.was_sent(0, 0, silent=True)
    ledger.has_ended(0, 0)
    ledger.has_ended(0, 1)
    ledger.was_sent(0, 1, silent=True)
    assert ledger.unexpected == 2

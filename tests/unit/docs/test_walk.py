"""What the walk through the tutorial takes for seen."""

from tests.integration.walk import unseen

SEEN = """\
broker    healthy    127.0.0.1:40123
2026-11-19 INFO readings of pumps-value, version 1 (schema 17): features: a
0.93 right
"""


def test_numbers_may_differ_and_three_dots_stand_for_anything_on_a_line():
    assert not unseen("broker   healthy   127.0.0.1:9092\n", SEEN)
    assert not unseen("readings of pumps-value... (schema 4): features: a", SEEN)
    assert not unseen("broker healthy 127.0.0.1:9092\n\n0.5 right", SEEN)


def test_another_word_another_order_and_another_line_are_not_seen():
    assert unseen("broker unhealthy", SEEN) == "broker unhealthy"
    assert unseen("0.5 right\nbroker healthy", SEEN) == "broker healthy"
    assert unseen("broker ... right", SEEN) == "broker ... right"
    assert unseen("7 wrong", SEEN) == "7 wrong"

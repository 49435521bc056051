"""Values as a person reads them; text from devices is harmless to look at."""

import pytest

from eml.watch import words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pump-7", "pump-7"),
        ("Größe 5 °C", "Größe 5 °C"),
        ("a\nb\tc\0", "a\\u{a}b\\u{9}c\\u{0}"),
        ("left\u202eright", "left\\u{202e}right"),  # would turn the rest of the line around
        ("\ud800", "\\u{d800}"),  # half a character, which no JSON can carry
        ("x" * 300, "x" * 200 + "…"),
    ],
)
def test_a_devices_text_is_one_visible_line(text, shown):
    assert words.plain(text) == shown
    assert words.plain(text).encode()


def test_numbers_have_units():
    said = [words.rate(12_345.6), words.rate(0.5), words.percent(0.9675), words.duration(40), words.duration(90_000)]
    assert [each.replace(words.THIN, " ") for each in said] == ["12,346 /s", "0.5 /s", "96.8 %", "40 ms", "90.0 s"]
    assert words.duration(7_200_000).startswith("2.0")
    assert (words.signed(-161), words.signed(3), words.number(None)) == ("\N{MINUS SIGN}161", "+3", "\N{EN DASH}")


@pytest.mark.parametrize("time_ms", [-(2**63), 2**63 - 1, 10**15])
def test_a_time_that_no_calendar_has_is_said_and_not_raised(time_ms):
    assert words.moment(time_ms)
    assert isinstance(words.iso(time_ms), str)


def test_a_time_is_in_utc():
    assert words.moment(1_763_270_000_000) == "16 Nov 05:13:20"
    assert words.iso(1_763_270_000_000) == "2025-11-16T05:13:20.000+00:00"

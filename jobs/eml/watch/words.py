"""Values as a person reads them: numbers with units, times, and text from devices made harmless.

Called by every screen and by the figures; knows no HTML. Text from a device is shown on one line, with every character
that is invisible, turns the direction of writing or breaks a line written as its code point.
"""

from datetime import UTC, datetime

LONGEST = 200  # characters of a device's text on the page; names are shorter, messages may not be
UNKNOWN = "\N{EN DASH}"
THIN = "\N{NARROW NO-BREAK SPACE}"


def plain(text: str, longest: int = LONGEST) -> str:
    """Text from a device, safe to look at: escaping for HTML is done by whoever draws it."""
    cut = text[:longest]
    shown = "".join(char if char.isprintable() else f"\\u{{{ord(char):x}}}" for char in cut)
    return f"{shown}\N{HORIZONTAL ELLIPSIS}" if len(text) > longest else shown


def number(value: float | None) -> str:
    """A count, in groups of three digits."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def signed(value: float | None) -> str:
    """A difference of counts, with its sign."""
    return UNKNOWN if value is None else f"{value:+,.0f}".replace("-", "\N{MINUS SIGN}")


def percent(value: float | None, digits: int = 1) -> str:
    """A share between 0 and 1."""
    return UNKNOWN if value is None else f"{100 * value:.{digits}f}{THIN}%"


def points(value: float) -> str:
    """A difference of two shares."""
    return f"{100 * value:.1f} points"


def score(value: float | None) -> str:
    """A score, margin or novelty."""
    return UNKNOWN if value is None else f"{value:.2f}"


def rate(value: float) -> str:
    """Records per second."""
    return f"{value:,.0f}{THIN}/s" if value >= 10 or value == 0 else f"{value:.1f}{THIN}/s"


def duration(milliseconds: float | None) -> str:
    """A span of time in the unit that suits it."""
    if milliseconds is None:
        return UNKNOWN
    if milliseconds < 1_000:
        return f"{milliseconds:.0f}{THIN}ms"
    seconds = milliseconds / 1_000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f}{THIN}{unit}"
    return f"{seconds:.1f}{THIN}s"


def moment(time_ms: int) -> str:
    """A time in UTC; devices may send any number, so also what no calendar has."""
    try:
        return datetime.fromtimestamp(time_ms / 1_000, UTC).strftime("%-d %b %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"no date ({time_ms})"


def iso(time_ms: int) -> str:
    """A time as machines read it; empty where there is no such date."""
    try:
        return datetime.fromtimestamp(time_ms / 1_000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return ""


def plural(count: int, one: str, many: str = "") -> str:
    """A count with its noun."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"

"""The command lines that the page offers: what to type to have exactly these records.

Called by the modules that open a device or a dead letter. Names from devices are quoted for a shell.
"""

import re
import shlex
from datetime import UTC, datetime

LONGEST_NAME = 60  # of a file


def capture(key: str, first_ms: int, last_ms: int, options: str) -> list[str]:
    """Have a device's records of this time in a file and run the job's logic over them."""
    file, device = shlex.quote(f"{_file_name(key)}.jsonl"), shlex.quote(key)
    return [
        _joined("eml capture", file, options, f"--key={device}", f"--from={utc(first_ms)}", f"--to={utc(last_ms)}"),
        _joined("eml replay", file, options),
    ]


def replay_dead_letter(place: str, options: str) -> str:
    """Send a record again."""
    return _joined("eml dead-letters replay", options, shlex.quote(place))


def utc(time_ms: int) -> str:
    """A time as `eml capture` takes it."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _file_name(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", key).strip("-.")[:LONGEST_NAME] or "records"

"""The golden file of records, and what its replay says.

The records are of format 1 of the file: written once, never again after its release; what is said of them may be
written anew where the logic changes on purpose. From the root of the project, both, or only what is said:

    .venv/bin/python -m tests.unit.local.replay_golden records
    .venv/bin/python -m tests.unit.local.replay_golden
"""

import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from eml.core import LearnerConfig
from eml.local import record_file
from eml.local.fleet import VERSIONS, Machine
from eml.local.messages import ReadingWriter
from eml.local.record_lines import Arrived, Registered
from eml.local.replay import Replay
from eml.local.replay_output import line_of
from eml.settings import RecordSettings, Settings
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.stream.wire import frame

FIXTURES = Path(__file__).parents[2] / "fixtures"
RECORDS, EXPECTED = FIXTURES / "replay-v1.jsonl", FIXTURES / "replay-v1.expected.jsonl"
SETTINGS = Settings(
    learner=LearnerConfig(memory_size=128, rank=8, warm_up=16), record=RecordSettings(tombstones="dead-letter")
)
KEYS = ("pump-1", "pump-2")
FIRST, BOTH, SECOND = 24, 14, 18  # records per key: before version 2 is registered, before it is used, of version 2
BEGIN_MS = 1_763_270_000_000
DIGITS = 9  # of what is said: floats may differ in the last ones between machines
BY_HAND = {
    "temperature": 61.5,
    "vibration_x": 2.25,
    "vibration_y": 2,
    "current": 12.5,
    "acoustic": 51,
    "rpm": 1480,
    "sensor_id": "pump-2",
    "event_id": "by hand",
    "event_time": BEGIN_MS,
}


def schema(version: int) -> Registered:
    """One of the fleet's."""
    plain = json.loads(schema_text(f"readings/v{version}"), object_hook=without_doc)  # it is most of the text
    return Registered(0, 10 * version, "readings-value", version, json.dumps(plain))


def without_doc(part: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in part.items() if name != "doc"}


class Pump:
    """A machine of the fleet, and its records."""

    def __init__(self, key: str, partition: int, offset: int = 0) -> None:
        self.key = key
        self._partition, self._offset = partition, offset
        self._machine = Machine(partition, 0.8)
        self._writers = {version: ReadingWriter(version, 10 * version) for version in (1, 2)}

    def readings(self, version: int, count: int) -> Iterator[Arrived]:
        """Its next readings, one per second."""
        for reading in self._machine.readings(VERSIONS[version - 1], count):
            now = BEGIN_MS + 1000 * self._offset
            yield self.arrived(self._writers[version].write(self.key, f"{self.key}/{self._offset}", now, reading))

    def arrived(self, value: bytes | None) -> Arrived:
        """Its next record."""
        place = Position("readings", self._partition, self._offset, BEGIN_MS + 1000 * self._offset)
        self._offset += 1
        return Arrived(0, self.key, Raw(value, place, {}))


def records() -> Iterator[str]:
    """Two pumps through an upgrade that is announced; bad records, stragglers, and one that was written by hand."""
    pumps = [Pump(key, partition) for partition, key in enumerate(KEYS)]

    def together(version: int, count: int) -> Iterator[str]:
        rounds = zip(*(pump.readings(version, count) for pump in pumps), strict=True)
        return map(record_file.text_of, chain.from_iterable(rounds))

    yield "# two pumps, one upgrade"
    yield record_file.text_of(schema(1))
    yield from together(1, FIRST)
    yield record_file.text_of(schema(2))
    yield from together(1, BOTH)
    yield ""
    yield "# bad: cut short, of a schema that nobody knows, a tombstone"
    for value in (frame(10, b"\x0cpump"), frame(99, b"abc"), None):
        yield record_file.text_of(pumps[0].arrived(value))
    yield from together(2, SECOND)
    yield from together(1, 1)
    yield json.dumps({"key": KEYS[1], "record": BY_HAND, "schema_id": 20, "partition": 1, "offset": 1000})


def said(cut: int = 1) -> list[Any]:
    """What the replay of the golden records says."""
    return [json.loads(line_of(each)) for each in Replay(SETTINGS, cut).run(record_file.read(RECORDS))]


def main() -> None:
    """Write the files."""
    if "records" in sys.argv[1:]:
        RECORDS.write_text("".join(f"{line}\n" for line in records()), encoding="utf-8")
    lines = [json.dumps(each) for each in rounded(said())]
    EXPECTED.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def rounded(part: Any) -> Any:
    """Floats with as many digits as are looked at."""
    if isinstance(part, float):
        return round(part, DIGITS)
    if isinstance(part, dict):
        return {name: rounded(value) for name, value in part.items()}
    return [rounded(value) for value in part] if isinstance(part, list) else part


if __name__ == "__main__":
    main()

"""The golden state of a key: its models, its windows and its waiting records, as each release wrote them.

What one release wrote, every later one reads: written once per version, never again after its release. To write them
anew while the version is not released yet, from the root of the project:

    .venv/bin/python -m tests.unit.stream.models.golden_state
"""

from pathlib import Path

from eml.settings import Settings
from eml.stream import waiting_records
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.models import state_codec
from eml.stream.models.key_model import KeyModel
from eml.stream.records import Position, Raw
from tests.unit.stream.models.test_key_model import SETTINGS, look_up, records

FIXTURES = Path(__file__).parents[3] / "fixtures"
FILES = ("key-v3.emlk", "key-v2.emlw", "key-v3.emll", "key-v2.emlq")
MODEL, SMALL, OTHERS, WAITING = (FIXTURES / name for name in FILES)
STREAM = [1] * 40 + [2] * 30
NEXT = [2] * 10
RAWS = [
    Raw(
        b"\x00\x00\x00\x00\x07abc",
        Position("readings", 3, 41, 1_763_270_000_123),
        {"trace": b"\xff\x00"},
        KafkaKey("pump"),
    ),
    Raw(None, Position("readings", 3, 42, 1_763_270_000_124), {}, KafkaKey("P\xfcmpe")),
]


def model(settings: Settings = SETTINGS) -> KeyModel:
    """A key in the middle of its second version, with labels pending and its first version's model asleep."""
    made = KeyModel(KeyName("pump"), settings)
    made.step(records(STREAM), look_up)
    return made


def parts() -> state_codec.StateParts:
    """As the files hold it."""
    return state_codec.StateParts(MODEL.read_bytes(), SMALL.read_bytes(), OTHERS.read_bytes())


def main() -> None:
    """Write the files of the newest versions."""
    changes = state_codec.take_changes(model(), everything=True)
    for file, content in ((MODEL, changes.model), (SMALL, changes.window), (OTHERS, changes.others)):
        file.write_bytes(content or b"")
    WAITING.write_bytes(waiting_records.dump(RAWS))


if __name__ == "__main__":
    main()

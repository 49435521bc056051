"""Results to encode: one of each, and their golden files.

What one release wrote, every later one reads: the golden files are written once per version, never again after its
release. To write them anew while the version is not released yet, from the root of the project:

    .venv/bin/python -m tests.unit.stream.output.examples
"""

import json
import shutil
from pathlib import Path

from eml.core import Evolution, Takeover
from eml.local.fleet import STATES, VERSIONS
from eml.stream.keys import KeyName
from eml.stream.output.encoder import Encoder, OutputIds, read_evolution, read_prediction, read_score
from eml.stream.output.events import EvolutionEvent
from eml.stream.output.predictions import Prediction
from eml.stream.output.scores import Score
from eml.stream.records import Position
from eml.stream.wire import SchemaId

FIXTURES = Path(__file__).parents[3] / "fixtures"
SCHEMAS = Path(__file__).parents[4] / "schemas"
KEY = "press-7"
POSITION = Position("readings", 3, 1_234_567, 1_763_270_000_123)
SCORED = Prediction(
    event_id="press-7/42",
    event_time=1_763_270_000_000,
    label="bearing",
    reason=None,
    scores=dict(zip(STATES, (0.125, 0.0625, 0.75, 0.0625), strict=True)),
    margin=0.625,
    novelty=1.5,
    stage="steady",
    schema_id=SchemaId(7),
    schema_version=2,
    model_revision=120,
    truth="bearing",
    late=True,
    position=POSITION,
)
OUTCOME = Score(
    event_id="press-7/42",
    event_time=1_763_270_000_000,
    label="healthy",
    truth="bearing",
    cold_label="bearing",
    compared=True,
    schema_id=SchemaId(7),
    schema_version=2,
    model_revision=120,
    position=POSITION,
    known_at=Position("labels", 1, 17, POSITION.timestamp_ms + 90_000),
)
EVOLVED = EvolutionEvent(
    event_time=1_763_270_000_000,
    old_schema_id=SchemaId(7),
    old_version=2,
    old_subject="readings-value",
    new_schema_id=SchemaId(9),
    new_version=3,
    new_subject="readings-value",
    report=Evolution(
        change=VERSIONS[1].diff(VERSIONS[2]),
        announced=False,
        transform_steps=8,
        warm=True,
        returned=("coolant_flow",),
        takeovers={"vibration_y": Takeover(0.75, "vibration_radial"), "current": Takeover(0.0, None)},
    ),
    stage="steady",
    batches=120,
    position=POSITION,
)
ENCODER = Encoder(OutputIds(300, 70_000, 5))
WRITTEN = {
    "prediction": (ENCODER.prediction(KeyName(KEY), SCORED), read_prediction),
    "score": (ENCODER.score(KeyName(KEY), OUTCOME), read_score),
    "evolution": (ENCODER.evolution(KeyName(KEY), EVOLVED), read_evolution),
}


def golden_schema(name: str) -> Path:
    """The schema as the first release had it."""
    return FIXTURES / f"{name}-v1.avsc"


def golden_record(name: str) -> Path:
    """The example as the first release wrote it (`framed`, in hexadecimal digits) and what it says (`fields`)."""
    return FIXTURES / f"{name}-v1.json"


def write() -> None:
    """Write the golden files anew."""
    for name, (framed, read) in WRITTEN.items():
        shutil.copyfile(SCHEMAS / f"{name}.avsc", golden_schema(name))
        record = {"framed": framed.hex(), "fields": read(framed)}
        golden_record(name).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()

"""Results as bytes for Kafka: predictions, scores and evolution events as framed Avro.

The last step in Python: `flink.rows` calls it with what `models.key_model` returned, and tools read with it what the
job wrote. It is given the ids of the schemas and knows neither the registry nor topics.
"""

from typing import NamedTuple

from eml.stream.keys import KeyName
from eml.stream.output import schemas
from eml.stream.output.events import EvolutionEvent, event_fields, shortened
from eml.stream.output.predictions import PredictedReadings, Prediction, payloads
from eml.stream.output.schemas import EVOLUTION, PREDICTION, SCORE
from eml.stream.output.scores import Score, score_payload
from eml.stream.wire import frame

EVENT_BYTES = 524_288  # of an event, unless limits.event_bytes says otherwise


class OutputIds(NamedTuple):
    """The registry's ids of the schemas of what we write; 0 where nothing is written under one."""

    prediction: int
    evolution: int
    score: int = 0


class Encoder:
    """Writes predictions, scores and evolution events under the ids that the registry gave their schemas."""

    def __init__(self, ids: OutputIds, event_bytes: int = EVENT_BYTES) -> None:
        self._prediction_frame = frame(ids.prediction, b"")
        self._score_frame = frame(ids.score, b"")
        self._evolution_schema_id = ids.evolution
        self._event_bytes = event_bytes

    def prediction(self, model: KeyName, prediction: Prediction) -> bytes:
        """One prediction of a model."""
        (written,) = self.predictions(model, PredictedReadings.of(prediction))
        return written

    def predictions(self, model: KeyName, predicted: PredictedReadings) -> list[bytes]:
        """What a model predicts of some readings."""
        begin = self._prediction_frame
        return [begin + payload for payload in payloads(model, predicted)]

    def score(self, model: KeyName, score: Score) -> bytes:
        """How one prediction of a model turned out."""
        return self._score_frame + score_payload(model, score)

    def evolution(self, model: KeyName, event: EvolutionEvent) -> bytes:
        """One evolution event; one that names more features than fit is shortened, and says so."""
        fields = event_fields(model, event)
        payload = schemas.write(EVOLUTION, fields)
        if len(payload) > self._event_bytes:
            payload = schemas.write(EVOLUTION, shortened(fields, self._event_bytes // 2))
        return frame(self._evolution_schema_id, payload)


def read_prediction(data: bytes) -> dict[str, object]:
    """The fields of a prediction that this release wrote; times in milliseconds."""
    return schemas.read(PREDICTION, data)


def read_score(data: bytes) -> dict[str, object]:
    """The fields of a score that this release wrote; times in milliseconds."""
    return schemas.read(SCORE, data)


def read_evolution(data: bytes) -> dict[str, object]:
    """The fields of an evolution event that this release wrote; times in milliseconds."""
    return schemas.read(EVOLUTION, data)

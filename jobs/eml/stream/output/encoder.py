"""Results as bytes for Kafka: predictions and evolution events as framed Avro.

The last step in Python: `flink.rows` calls it with what `models.key_model` returned, and tools read with it what the
job wrote. It is given the ids of the schemas and knows neither the registry nor topics.
"""

from eml.stream.keys import KeyName
from eml.stream.output import schemas
from eml.stream.output.events import EvolutionEvent, event_fields, shortened
from eml.stream.output.predictions import PredictedReadings, Prediction, payloads
from eml.stream.output.schemas import EVOLUTION, PREDICTION
from eml.stream.wire import frame

EVENT_BYTES = 524_288  # of an event, unless limits.event_bytes says otherwise


class Encoder:
    """Writes predictions and evolution events under the ids that the registry gave their schemas."""

    def __init__(self, prediction_schema_id: int, evolution_schema_id: int, event_bytes: int = EVENT_BYTES) -> None:
        self._prediction_frame = frame(prediction_schema_id, b"")
        self._evolution_schema_id = evolution_schema_id
        self._event_bytes = event_bytes

    def prediction(self, model: KeyName, prediction: Prediction) -> bytes:
        """One prediction of a model."""
        (written,) = self.predictions(model, PredictedReadings.of(prediction))
        return written

    def predictions(self, model: KeyName, predicted: PredictedReadings) -> list[bytes]:
        """What a model predicts of some readings."""
        begin = self._prediction_frame
        return [begin + payload for payload in payloads(model, predicted)]

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


def read_evolution(data: bytes) -> dict[str, object]:
    """The fields of an evolution event that this release wrote; times in milliseconds."""
    return schemas.read(EVOLUTION, data)

"""A peer: Quix Streams with the job's learner, a model for each key in its keyed state.

Run by `pipelines` as a process, `python -m eml.bench.quix_app --settings FILE`, by a Python that has Quix Streams. What
its user would write: one application whose stateful function is called record by record, with the job's delivery
guarantee, and a commit of offsets, state and changelog where the job makes a checkpoint. Readings are decoded by eml's
decoder and predictions written by eml's encoder, each alone: what differs from the job is what carries the records.
The readings have one schema; nothing evolves.
"""

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from quixstreams import Application, State, message_context

from eml.bench.plain import settings_from
from eml.bench.quix_models import Answer, Models
from eml.settings import Settings
from eml.stream.avro.decoder import Decoded
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.keys import KeyName
from eml.stream.output.encoder import Encoder, OutputIds
from eml.stream.output.predictions import Prediction
from eml.stream.output.schemas import PREDICTION, schema_text
from eml.stream.records import Position
from eml.stream.registry.client import SchemaRegistry
from eml.stream.wire import HEADER_SIZE, unframe


class Predictor:
    """From a reading's bytes to its prediction's."""

    def __init__(self, settings: Settings, registry: SchemaRegistry) -> None:
        self._models = Models(settings)
        self._registry = registry
        predictions = registry.register(f"{settings.kafka.predictions_topic}-value", schema_text(PREDICTION))
        self._encoder = Encoder(OutputIds(predictions, 0))  # there are no events

    def predict(self, value: bytes, key: bytes, timestamp: int, _headers: object, state: State) -> bytes:
        """Called by Quix Streams with every record."""
        schema = self._registry.reading_schema(unframe(value))
        decoded = schema.decode([value], HEADER_SIZE)
        for _, error in decoded.bad:
            raise error
        answer = self._models.serve(key, schema, decoded.values[0], decoded.labels[0], timestamp, state)
        return self._encoder.prediction(KeyName(key.decode()), prediction_of(answer, schema, decoded, timestamp))


def prediction_of(answer: Answer, schema: ReadingSchema, decoded: Decoded, timestamp: int) -> Prediction:
    """The fields of the prediction for the record that Quix Streams is at."""
    message, said = message_context(), answer.prediction
    return Prediction(
        event_id=decoded.event_ids[0],
        event_time=decoded.event_times[0],
        label=None if said.label is None else str(said.label),
        reason=said.reason,
        scores={str(label): score for label, score in said.scores.items()},
        margin=said.margin,
        novelty=said.novelty,
        stage=answer.stage,
        schema_id=schema.id,
        schema_version=schema.version,
        model_revision=answer.revision,
        truth=decoded.labels[0],
        late=False,
        position=Position(message.topic, message.partition, message.offset, timestamp),
    )


def run(settings: Settings) -> None:
    """Answer readings until the process is ended."""
    kafka = settings.kafka
    app = Application(
        broker_address=kafka.bootstrap_servers,
        consumer_group=kafka.group_id,
        auto_offset_reset="earliest",
        processing_guarantee=kafka.delivery,
        commit_interval=settings.job.checkpoint_interval_ms / 1000,
        state_dir=Path(url2pathname(urlparse(settings.job.checkpoint_dir).path)),
    )
    readings = app.topic(kafka.readings_topic, value_deserializer="bytes")
    predictions = app.topic(kafka.predictions_topic, value_serializer="bytes")
    with closing(SchemaRegistry(settings.registry, settings.record)) as registry:
        predictor = Predictor(settings, registry)
        answers = app.dataframe(readings).apply(predictor.predict, stateful=True, metadata=True)
        answers.to_topic(predictions)
        app.run()


def main(argv: Sequence[str] | None = None) -> int:
    """The command line, which is the job's."""
    run(settings_from(argv, "eml.bench.quix_app"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Scores of the scores topic: how one prediction turned out, and its bytes.

Made by `models.key_model`, exactly one for each reading whose label is known, and written by `encoder`: by hand
(`avro_parts`), because a fleet that labels its readings has as many scores as predictions.
"""

from dataclasses import dataclass

from eml.stream.keys import KafkaKey, KeyName
from eml.stream.output.avro_parts import (
    FALSE,
    NULL,
    SOME,
    TRUE,
    write_class,
    write_long,
    write_maybe_long,
    write_maybe_text,
    write_name,
    write_partition,
    write_text,
)
from eml.stream.records import NO_KAFKA_KEY, NO_KEY_NAME, Position
from eml.stream.wire import SchemaId


@dataclass(slots=True)
class Score:
    """What one score says; most of the fields of `schemas/score.avsc`. Not frozen, as `Prediction` is not."""

    event_id: str | None
    event_time: int | None
    label: str | None  # that was predicted
    truth: str
    cold_label: str | None
    compared: bool  # with a model that was restarted cold
    schema_id: SchemaId
    schema_version: int
    model_revision: int
    position: Position  # of the reading
    known_at: Position  # of the record with which its label came, or the reading's own
    kafka_key: KafkaKey = NO_KAFKA_KEY  # of the reading
    device: KeyName = NO_KEY_NAME  # whose reading it is; empty: the model's own

    @property
    def wait_ms(self) -> int:
        """How much later than the reading its label was sent."""
        return max(0, self.known_at.timestamp_ms - self.position.timestamp_ms)


def score_payload(model: KeyName, score: Score) -> bytes:
    """One score of a model, byte for byte what fastavro writes."""
    position = score.position
    return b"".join(
        (
            write_name(score.device or model),
            write_name(model),
            write_maybe_text(score.event_id),
            write_maybe_long(score.event_time),
            write_class(score.label),
            write_text(score.truth),
            _boolean(score.label == score.truth),
            write_class(score.cold_label),
            SOME + _boolean(score.cold_label == score.truth) if score.compared else NULL,
            write_long(score.wait_ms),
            write_long(score.schema_id),
            write_long(score.schema_version),
            write_long(score.model_revision),
            write_partition(position.topic, position.partition),
            write_long(position.offset),
            write_long(position.timestamp_ms),
        )
    )


def _boolean(yes: bool) -> bytes:  # noqa: FBT001  what is written
    return TRUE if yes else FALSE

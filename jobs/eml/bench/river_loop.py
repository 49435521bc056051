"""A peer: a plain loop over Kafka with River's logistic regression, a model for each key in a dict.

Run by `pipelines` as a process, `python -m eml.bench.river_loop --settings FILE`. What a user writes in an afternoon:
one process, models in memory and lost with it, offsets committed every few seconds (at least once).
"""

import pickle
import sys
import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Consumer, Producer
from river import linear_model, multiclass, preprocessing

from eml.bench import beforehand
from eml.bench.load import NAMES, Load
from eml.bench.plain import Values, answer, decoder, settings_from, values_of
from eml.settings import Settings

AT_ONCE = 1_000  # records per call
TAUGHT = 512  # samples that every key's model begins with


class Models:
    """A model for each key; a new one begins with a copy of one made beforehand, as the job's do."""

    def __init__(self) -> None:
        model: Any = preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
        for row, label in zip(*beforehand.samples(Load(1, 0, 0.0), TAUGHT), strict=True):
            model.learn_one(dict(zip(NAMES, row.tolist(), strict=True)), label)
        self._first = pickle.dumps(model)
        self._models: dict[bytes, Any] = {}

    def serve(self, key: bytes, values: Values, label: str | None) -> object:
        """Predict, then learn."""
        model = self._models.get(key)
        if model is None:
            model = self._models[key] = pickle.loads(self._first)  # noqa: S301  our own
        said: object = model.predict_one(values)
        if label is not None:
            model.learn_one(values, label)
        return said


def run(settings: Settings) -> None:
    """Answer readings until the process is ended."""
    kafka = settings.kafka
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": kafka.group_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "linger.ms": 5, "log_level": 0})
    models, decode = Models(), decoder(settings.registry.url)
    consumer.subscribe([kafka.readings_topic])
    committed = time.monotonic()
    while True:
        for message in consumer.consume(AT_ONCE, 0.05):
            if message.error() is None:
                reading = decode(message.value() or b"")
                key = message.key() or b""
                said = models.serve(key, values_of(reading), reading["label"])
                producer.produce(kafka.predictions_topic, answer(reading, said), key)
                producer.poll(0)
        if time.monotonic() - committed > settings.job.checkpoint_interval_ms / 1000:
            producer.flush()
            committed = time.monotonic()
            if consumer.assignment():
                consumer.commit(asynchronous=True)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line, which is the job's."""
    run(settings_from(argv, "eml.bench.river_loop"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

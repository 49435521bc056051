"""The models of the Quix Streams peer: live ones in memory, and in each key's state what a restart goes on from.

Called by `quix_app` for every reading, with the state that Quix Streams keeps for its key; calls the learner. Windows
close as the job's do (`stream.models.window`). Knows no Kafka and no Quix Streams.
"""

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from eml.core import EvolvingMetricLearner, Prediction, Stage
from eml.core.arrays import Array
from eml.settings import Settings
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.models.version_model import Version, VersionModel
from eml.stream.models.window import Window
from eml.stream.state_format import pack, unpack

MODEL, WINDOW, WRITES = "model", "window", "writes"  # names in a key's state; the last one counts them
WINDOW_MAGIC, WINDOW_VERSION = b"QXSW", 1


class State(Protocol):
    """What is used of `quixstreams.State`."""

    def get(self, key: str, default: Any = None, /) -> Any:  # noqa: ANN401  any JSON
        """A value."""

    def set(self, key: str, value: Any, /) -> None:  # noqa: ANN401
        """Keep a value."""

    def get_bytes(self, key: str, /) -> bytes | None:
        """The same for bytes."""

    def set_bytes(self, key: str, value: bytes, /) -> None:
        """Keep bytes."""


@dataclass(slots=True)
class Live:
    """A model in memory."""

    model: VersionModel
    writes: int  # of it to the state
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a key's model says of a reading, and what it was before it learnt the reading's label."""

    prediction: Prediction
    stage: Stage
    revision: int


class Models:
    """A model for each key, which begins with a copy of the one made beforehand.

    To read a model from the state with every record would take milliseconds, so live ones are kept, as many as fit
    into `limits.cached_bytes`. All that changes is written at once: the state needs no model that is forgotten here.
    """

    def __init__(self, settings: Settings) -> None:
        self._learning = settings.learning
        self._most_bytes = settings.limits.cached_bytes
        self._first = EvolvingMetricLearner.restore(Path(settings.learning.first_model).read_bytes())
        self._live: OrderedDict[bytes, Live] = OrderedDict()  # the one used last at the end
        self._nbytes = 0

    def serve(
        self, key: bytes, schema: ReadingSchema, values: Array, label: str | None, time_ms: int, state: State
    ) -> Answer:
        """Predict a reading (d,), and learn from its label when the window is full."""
        live = self._live_model(key, schema, state)
        model = live.model
        model.learn_if_due(time_ms, self._learning)
        learner = model.learner
        answer = Answer(learner.predict_one(values), learner.stage, learner.revision)
        if label is not None:
            model.teach(values[None], [label], [time_ms], self._learning)
        self._write(live, state)
        self._count(live)
        return answer

    def _live_model(self, key: bytes, schema: ReadingSchema, state: State) -> Live:
        """The model in memory, unless another process had the key meanwhile and has taught it."""
        writes, live = state.get(WRITES, 0), self._live.get(key)
        if live is None or live.writes != writes:
            self._forget(key)
            live = self._live[key] = Live(self._read(schema, state), writes)
        self._live.move_to_end(key)
        return live

    def _read(self, schema: ReadingSchema, state: State) -> VersionModel:
        written, window = state.get_bytes(MODEL), state.get_bytes(WINDOW)
        learner = self._first.copy() if written is None else EvolvingMetricLearner.restore(written)
        model = VersionModel.with_learner(Version.of(schema), learner)
        model.learner_changed = False
        if window is not None:
            model.window = Window.load(*unpack(WINDOW_MAGIC, WINDOW_VERSION, window, "a window"))
        return model

    def _write(self, live: Live, state: State) -> None:
        """Write what changed; a model changes only when its window does."""
        model = live.model
        if model.learner_changed:
            state.set_bytes(MODEL, model.snapshot())
        if model.window_changed:
            state.set_bytes(WINDOW, pack(WINDOW_MAGIC, WINDOW_VERSION, *model.window.dump()))
            live.writes += 1
            state.set(WRITES, live.writes)
        model.learner_changed = model.window_changed = False

    def _count(self, live: Live) -> None:
        """Forget the models that were not used for longest, where all take more than they may."""
        now = live.model.nbytes
        self._nbytes += now - live.nbytes
        live.nbytes = now
        while self._nbytes > self._most_bytes and len(self._live) > 1:
            self._forget(next(iter(self._live)))

    def _forget(self, key: bytes) -> None:
        live = self._live.pop(key, None)
        if live is not None:
            self._nbytes -= live.nbytes

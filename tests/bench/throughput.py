"""Records per second through predict-then-learn, beside River's models on the same stream."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from river import linear_model, multiclass, neighbors, preprocessing

from eml.core import EvolvingMetricLearner, FeatureSpace, LearnerConfig
from eml.river import EMLClassifier
from tests.bench.measure import Comparison, in_turn
from tests.bench.streams import Array, mixture, names_of

MICRO_BATCH = 64

PAIRS = [  # ours, theirs, how many times their records we aim at
    ("EML", "KNN", 5.0),
    ("EML", "logistic regression", 1.0),
    ("EML, 2 classes", "logistic regression, 2 classes", None),
    ("EML one by one", "KNN", None),
    ("EML one by one", "logistic regression", None),
]
LEGEND = f"""  EML: EvolvingMetricLearner(), micro-batches of {MICRO_BATCH}; one by one: EMLClassifier()
  KNN: KNNClassifier(), whose engine is SWINN
  logistic regression: StandardScaler() | OneVsRestClassifier(LogisticRegression()); 2 classes: without OneVsRest"""

Label = int | bool
Record = dict[str, float]


class Model(Protocol):
    """What the benchmark asks of a River classifier."""

    def predict_one(self, x: Record) -> Label | None:
        """The label of a record."""

    def learn_one(self, x: Record, y: Label) -> None:
        """Learn a record."""


@dataclass(slots=True)
class Stream:
    """One stream in the forms that the models take: a table, and a dictionary per record."""

    X: Array
    y: Sequence[Label]
    records: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = names_of(self.X.shape[1])
        self.records = [dict(zip(names, row, strict=True)) for row in self.X.tolist()]


@dataclass(slots=True)
class Run:
    """A model on its way through a stream, from the start at every call; remembers its last accuracy."""

    play: Callable[[Stream], int]
    stream: Stream
    accuracy: float = 0.0

    def __call__(self) -> None:
        """Once through the stream."""
        self.accuracy = self.play(self.stream) / len(self.stream.y)


def by_batches(stream: Stream, config: LearnerConfig | None = None) -> int:
    """Our learner: predict a micro-batch, then learn it."""
    learner = EvolvingMetricLearner(FeatureSpace(names_of(stream.X.shape[1])), config, seed=1)
    right = 0
    for start in range(0, len(stream.y), MICRO_BATCH):
        X, y = stream.X[start : start + MICRO_BATCH], stream.y[start : start + MICRO_BATCH]
        right += sum(label == truth for label, truth in zip(learner.predict_many(X).labels, y, strict=True))
        learner.learn(X, y)
    return right


def one_by_one(make: Callable[[], Model]) -> Callable[[Stream], int]:
    """A River model: predict a record, then learn it."""

    def play(stream: Stream) -> int:
        model, right = make(), 0
        for x, y in zip(stream.records, stream.y, strict=True):
            right += model.predict_one(x) == y
            model.learn_one(x, y)
        return right

    return play


def one_versus_rest() -> Model:
    """River's logistic regression for several classes."""
    model: Model = preprocessing.StandardScaler() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    return model


def logistic_regression() -> Model:
    """River's logistic regression for two."""
    model: Model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    return model


def streams(count: int, features: int) -> tuple[Stream, Stream]:
    """Four classes, and the same records with two of them taken for one."""
    X, y = mixture(count, features, features // 2, seed=4)
    return Stream(X, y.tolist()), Stream(X, (y < 2).tolist())


def against_river(count: int = 2560, features: int = 64, repetitions: int = 3) -> tuple[list[Comparison], list[str]]:
    """Our speed over each of River's models, and a line on each model."""
    several, two = streams(count, features)
    runs = {
        "EML": Run(by_batches, several),
        "EML one by one": Run(one_by_one(lambda: EMLClassifier(seed=1)), several),
        "KNN": Run(one_by_one(neighbors.KNNClassifier), several),
        "logistic regression": Run(one_by_one(one_versus_rest), several),
        "EML, 2 classes": Run(by_batches, two),
        "logistic regression, 2 classes": Run(one_by_one(logistic_regression), two),
    }
    took = in_turn(runs, repetitions, warm_up=0)
    speed = {name: count / seconds for name, seconds in took.items()}
    comparisons = [
        Comparison(f"{ours} against {theirs}: times the records", speed[ours] / speed[theirs], "", at_least=aim)
        for ours, theirs, aim in PAIRS
    ]
    lines = [f"  {name:<32} {speed[name]:>7.0f} records/s   accuracy {run.accuracy:.3f}" for name, run in runs.items()]
    return comparisons, lines

"""A file of records through the logic of the job, model by model: no Flink, no Kafka, no registry.

Called by `eml replay` and by tests with what `record_file` read; calls `key_model`, with a `SchemaBook` in the place of
the registry. Knows neither the form of the file nor that of its output (`replay_output`).

What is said comes in the order of the records, whatever the cut. A schema's line ends all micro-batches: what a model
hears of it, it hears at its next record, whatever the cut.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from eml.local.record_lines import Arrived, Entry, Registered
from eml.local.schema_book import SchemaBook
from eml.settings import ModelSettings, Settings
from eml.stream.keys import KafkaKey, KeyName
from eml.stream.model_keys import model_of
from eml.stream.models.key_model import KeyModel
from eml.stream.models.reading_batch import Results
from eml.stream.models.warm_start import WarmStartModels
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.output.events import EVOLUTION, EvolutionEvent
from eml.stream.output.predictions import Prediction
from eml.stream.output.scores import Score
from eml.stream.records import Position, Raw

Place = tuple[str, int, int]  # topic, partition, offset
What = Prediction | Score | EvolutionEvent | DeadLetter


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was said of a key's records."""

    key: str
    what: What


@dataclass(slots=True)
class Figures:
    """What became of a key's records."""

    records: int = 0
    predictions: int = 0
    scored: int = 0  # predictions whose label came, with the reading or later
    right: int = 0
    evolutions: int = 0
    dead_letters: int = 0

    def add(self, records: int, results: Results) -> None:
        """Count a micro-batch."""
        self.records += records
        self.predictions += len(results.predictions)
        self.scored += results.scored
        self.right += results.right
        self.evolutions += sum(event.kind == EVOLUTION for event in results.evolutions)
        self.dead_letters += len(results.dead_letters)


def _step(model: KeyModel, records: Sequence[Raw], book: SchemaBook) -> Results:
    """One micro-batch: the only call into the logic of the job."""
    return model.step(records, book.look_up, book.newest)


class Replay:
    """The models of all keys, and the micro-batches of at most `cut` records that are being gathered."""

    def __init__(self, settings: Settings, cut: int = 1) -> None:
        self.figures: dict[str, Figures] = {}  # by key, in the order in which they came
        self._book = SchemaBook(settings)
        self._settings = settings
        self._cut = cut
        self._warm_start = WarmStartModels()  # as in one task that has all keys
        self.models: dict[str, KeyModel] = {}
        self._gathered: dict[str, list[Raw]] = {}
        # By record, in the order of arrival: what was said of it; None while it is in a micro-batch that is gathered.
        self._said: OrderedDict[Place, list[Said] | None] = OrderedDict()

    def run(self, entries: Iterable[Entry]) -> Iterator[Said]:
        """What the job says of the records."""
        for entry in entries:
            if isinstance(entry, Registered):
                self._serve_all()
                self._book.add(entry)
            else:
                self._take(entry)
            yield from self._ready()
        self._serve_all()
        yield from self._ready()

    def _take(self, arrived: Arrived) -> None:
        key = model_name(self._settings.model, arrived)
        self.figures.setdefault(key, Figures())
        gathered = self._gathered.setdefault(key, [])
        gathered.append(arrived.raw)
        self._said[_place(arrived.raw.position)] = None
        if len(gathered) == self._cut:
            self._serve(key)

    def _serve_all(self) -> None:
        for key in list(self._gathered):
            self._serve(key)

    def _serve(self, key: str) -> None:
        records = self._gathered.pop(key)
        if key not in self.models:
            self.models[key] = KeyModel(KeyName(key), self._settings, self._warm_start)
        results = _step(self.models[key], records, self._book)
        self.figures[key].add(len(records), results)
        self._said.update(_by_record(key, records, results))

    def _ready(self) -> Iterator[Said]:
        """What is said of the first records, up to one that is still in a micro-batch."""
        while self._said:
            place, said = self._said.popitem(last=False)
            if said is None:
                self._said[place] = None
                self._said.move_to_end(place, last=False)
                return
            yield from said


def model_name(model: ModelSettings, arrived: Arrived) -> str:
    """Whose model a record is for."""
    raw = arrived.raw
    if model.by == "key":
        return arrived.key
    raw.key = KafkaKey(arrived.key.encode().decode("latin-1"))
    return model_of(model, raw.key, raw.headers).encode("latin-1").decode(errors="replace")


def _by_record(key: str, records: Sequence[Raw], results: Results) -> dict[Place, list[Said]]:
    """What was said in a micro-batch, by the record it is about; the last for what is about an earlier one."""
    said: dict[Place, list[Said]] = {_place(raw.position): [] for raw in records}
    last = _place(records[-1].position)
    everything: list[What] = [*results.evolutions, *results.predictions, *results.scores, *results.dead_letters]
    for what in everything:
        place = _place(_position(what))
        said[place if place in said else last].append(Said(key, what))
    return said


def _position(what: What) -> Position:
    """The record at which it was said."""
    if isinstance(what, DeadLetter):
        return what.raw.position
    return what.known_at if isinstance(what, Score) else what.position


def _place(position: Position) -> Place:
    return position.topic, position.partition, position.offset

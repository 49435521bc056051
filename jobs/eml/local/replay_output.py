"""What a replay says, for people and for tools: a JSON object for each thing, or a table with a line for each key.

Called by `eml replay` and by tests. Predictions, scores and events go through the job's own bytes (`stream.output`), so
what is shown is what a reader of the topics would see.
"""

import json
from collections.abc import Mapping

from eml.local.replay import Figures, Said, What
from eml.stream.keys import KeyName
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.output.encoder import Encoder, OutputIds, read_evolution, read_prediction, read_score
from eml.stream.output.events import EvolutionEvent
from eml.stream.output.predictions import Prediction
from eml.stream.output.scores import Score
from eml.stream.state_format import text_of

ENCODER = Encoder(OutputIds(0, 0))  # no registry gave its schemas an id, and nobody asks for it
COLUMNS = ("key", "records", "predictions", "scored", "accuracy", "evolutions", "dead letters")


def line_of(said: Said) -> str:
    """One JSON object: its one field says what it is, and holds the fields of `schemas/`."""
    return json.dumps(_fields(said.key, said.what))


def _fields(key: str, what: What) -> dict[str, dict[str, object]]:
    if isinstance(what, Prediction):
        return {"prediction": read_prediction(ENCODER.prediction(KeyName(key), what))}
    if isinstance(what, EvolutionEvent):
        return {"evolution": read_evolution(ENCODER.evolution(KeyName(key), what))}
    if isinstance(what, Score):
        return {"score": read_score(ENCODER.score(KeyName(key), what))}
    return {"dead_letter": _dead_letter(key, what)}


def _dead_letter(key: str, letter: DeadLetter) -> dict[str, object]:
    """The reason, and the record as a record file writes it."""
    raw, position = letter.raw, letter.raw.position
    return {
        "key": key,
        "reason": letter.reason,
        "error": letter.error,
        "message": letter.message,
        "schema_id": letter.schema_id,
        "value": text_of(raw.value),
        "headers": {name: text_of(value) for name, value in raw.headers.items()},
        "source_topic": position.topic,
        "source_partition": position.partition,
        "source_offset": position.offset,
        "source_timestamp": position.timestamp_ms,
    }


# -- the table ---------------------------------------------------------------------------------------------------------


def summary(figures: Mapping[str, Figures]) -> str:
    """The table, with a line for each key."""
    rows = [COLUMNS, *(_row(key, each) for key, each in figures.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(f"{_aligned(row, widths)}\n" for row in rows)


def _row(key: str, figures: Figures) -> tuple[str, ...]:
    accuracy = f"{figures.right / figures.scored:.3f}" if figures.scored else "-"
    before = figures.records, figures.predictions, figures.scored
    return key, *map(str, before), accuracy, str(figures.evolutions), str(figures.dead_letters)


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    cells = zip(row[1:], widths[1:], strict=True)
    return "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in cells)])

"""What a schema would change: features that vanish, survive and come, renames, fields that are ignored, and why.

Called by `eml check`; calls the parser and the comparison of the job itself (`reading_schema`, `FeatureSpace.diff`), so
it refuses what the job would refuse. Knows no registry and no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from eml.core import FeatureChange
from eml.settings import RecordSettings
from eml.stream.avro.reading_schema import ReadingSchema, compile_schema
from eml.stream.errors import BadSchemaError
from eml.stream.wire import SchemaId

ALIKE = 0.6  # of names, from which on a vanished and a new feature may be one that was renamed


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a schema is to the job, and what it changes against another."""

    refused: str = ""  # why the job refuses it; then nothing else is known
    schema: ReadingSchema | None = None
    change: FeatureChange | None = None  # None: there is nothing to compare it with
    retiring: tuple[str, ...] = ()
    hints: tuple[str, ...] = field(default=())  # what looks like a mistake in the change


def compare(text: str, base: str | None, settings: RecordSettings) -> Comparison:
    """Compare a schema with the one that devices send now; BadSchemaError where that one is refused."""
    try:
        schema = compile_schema(text, SchemaId(0), "", 0, settings)
        schema.check_reading()
    except BadSchemaError as error:
        return Comparison(refused=str(error).removeprefix("schema 0: "))
    retiring = tuple(sorted(schema.retiring))
    if base is None:
        return Comparison(schema=schema, retiring=retiring)
    before = compile_schema(base, SchemaId(0), "", 0, settings)
    change = before.space.diff(schema.space)
    return Comparison("", schema, change, retiring, (*_renames(change), *_without_notice(before, change)))


def _renames(change: FeatureChange) -> Sequence[str]:
    """Vanished features whose names are almost those of new ones."""
    hints = []
    for name in change.vanished:
        near = get_close_matches(name, change.augmented, 1, ALIKE)
        if near:
            advice = f'give it "aliases": ["{name.rpartition(".")[2]}"], and what was learnt goes on'
            hints.append(f"if {near[0]!r} is {name!r} renamed, {advice}")
    return hints


def _without_notice(before: ReadingSchema, change: FeatureChange) -> Sequence[str]:
    sudden = [name for name in change.vanished if name not in before.retiring]
    if not sudden:
        return []
    mark = 'or mark the field as "eml.retiring": true in a version before'
    return [f"{', '.join(sudden)}: register this version before devices send it, {mark}, and models prepare"]

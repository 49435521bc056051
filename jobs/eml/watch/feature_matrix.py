"""What each version of a subject has of each feature.

Called by `schema_watch` with what the registry says, and by `fleet_view` for the notes of what survivors took over. A
row is one feature under all the names it had; versions are compared as the learner compares them. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eml.core.features import FeatureChange
from eml.stream.avro.reading_schema import ReadingSchema
from eml.watch.evolution_group import Group, version_name
from eml.watch.views import FeatureMatrix

FEATURES = 500  # rows
ABSENT, SURVIVED, AUGMENTED, VANISHED = "absent", "survived", "augmented", "vanished"
RENAMED, RETURNED, RETIRING = "renamed", "returned", "retiring"


@dataclass(slots=True)
class _Line:
    """One feature through all versions."""

    names: list[str]  # its newest name is the last one
    cells: list[str] = field(default_factory=list)


def of_versions(subject: str, schemas: Sequence[ReadingSchema]) -> FeatureMatrix:
    """The matrix of a subject's versions, the oldest first."""
    lines: list[_Line] = []
    for number, schema in enumerate(schemas):
        _add(lines, schemas[number - 1] if number else None, schema)
        for line in lines:
            line.cells += [ABSENT] * (number + 1 - len(line.cells))
    lines = lines[:FEATURES]
    notes = {line.names[-1]: f"was {', '.join(line.names[:-1])}" for line in lines if len(line.names) > 1}
    return FeatureMatrix(
        subject,
        [schema.version for schema in schemas],
        [line.names[-1] for line in lines],
        [line.cells for line in lines],
        notes,
    )


def with_takeovers(matrix: FeatureMatrix, groups: Iterable[Group]) -> FeatureMatrix:
    """The same with what survivors took over of vanished features."""
    notes: dict[str, list[str]] = {name: [note] for name, note in matrix.notes.items()}
    for group in groups:
        if matrix.subject not in (group.old[0], group.new[0]):
            continue
        for name, (mean, by) in group.takeovers.items():
            share, mostly = mean.value or 0.0, f", most by {by}" if by else ""
            said = f"{version_name('', group.old[1])} to {version_name('', group.new[1])}: survivors kept {share:.0%}"
            notes.setdefault(name, []).append(f"{said}{mostly} ({_devices(group.devices)})")
    shown = set(matrix.features)
    texts = {name: "; ".join(said[:4]) for name, said in notes.items() if name in shown}
    return FeatureMatrix(matrix.subject, matrix.versions, matrix.features, matrix.cells, texts)


def _devices(count: int) -> str:
    return "1 device" if count == 1 else f"{count} devices"


def _add(lines: list[_Line], old: ReadingSchema | None, new: ReadingSchema) -> None:
    """One more version's cells."""
    there = {line.names[-1]: line for line in lines if line.cells[-1] not in (ABSENT, VANISHED)}
    gone = {line.names[-1]: line for line in lines if line.cells[-1] in (ABSENT, VANISHED)}
    if old is None:
        lines += [_Line([name], [_cell(new, name, SURVIVED)]) for name in new.space.names]
        return
    change, width = old.space.diff(new.space), len(lines[0].cells) if lines else 0
    for name in change.vanished:
        there[name].cells.append(VANISHED)
    for name in new.space.names:
        if name in change.former:
            _survive(there[change.former[name]], name, new, change)
        elif name in gone:
            gone[name].cells.append(_cell(new, name, RETURNED))
        else:
            lines.append(_Line([name], [ABSENT] * width + [_cell(new, name, AUGMENTED)]))


def _survive(line: _Line, name: str, new: ReadingSchema, change: FeatureChange) -> None:
    renamed = change.former[name] != name
    line.cells.append(_cell(new, name, RENAMED if renamed else SURVIVED))
    if renamed:
        line.names.append(name)


def _cell(schema: ReadingSchema, name: str, otherwise: str) -> str:
    return RETIRING if name in schema.retiring else otherwise

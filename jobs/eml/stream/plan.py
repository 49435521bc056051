"""From the leaves of a record to the steps that decode it, planned once per schema.

Called by `decoder` with what `schema` found; makes `steps`, `blocks` and `skipping`. Neighbouring features of one kind,
more than a few, are a block: one slice per record, one array per micro-batch. Others side by side share one list of
numbers. Knows no name of a feature.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

import numpy as np

from eml.stream import blocks, steps
from eml.stream.avro_types import Type
from eml.stream.skipping import skip
from eml.stream.steps import FORMATS, NAN, Step

Role = Literal["feature", "key", "event_id", "event_time", "label", "kafka_key", "ignored"]

SHORT_RUN = 3  # up to here a list of numbers costs less than an array of its own
SHORT_WHOLE_RUN = 8  # the same for ints and longs, whose array takes more work
PER_MS = {"timestamp-millis": 1, "timestamp-micros": 1_000, "timestamp-nanos": 1_000_000}


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A field that is no record."""

    role: Role
    type: Type  # for a nullable one that of the branch which is not null
    null: int | None = None  # branch of null, in a union with one other type


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Neighbouring features that one step takes."""

    item: int  # which item of a record holds them
    columns: slice
    item_is: Literal["list", "longs"] | np.dtype[Any]  # bytes of these, with a `value` and perhaps a `branch`
    null: int | None = None  # byte of the branch that says null


@dataclass(slots=True)
class Plan:
    """Steps in the order of a record's bytes, and what each item they append is."""

    steps: list[Step] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    place: dict[Role, int] = field(default_factory=dict)  # which item is a reserved field
    items: int = 0  # per record
    width: int = 0  # number of features


def make_plan(leaves: Sequence[Leaf], *, reject: bool) -> Plan:
    """Plan the decoding of a record; `reject` says what becomes of one with a value that is not finite."""
    plan = Plan()
    for role, group in groupby(leaves, key=lambda leaf: leaf.role):
        if role == "feature":
            for run in _runs(list(group)):
                _add_run(plan, run, reject=reject)
        elif role == "ignored":
            plan.steps += [step for leaf in group for step in skip(leaf.type)]
        else:
            for leaf in group:
                plan.place[role] = plan.items
                plan.items += 1
                plan.steps.append(_reserved(leaf))
    return plan


def _runs(features: Sequence[Leaf]) -> Iterator[list[Leaf]]:
    """Cut neighbouring features into blocks and what stands between blocks."""
    between: list[Leaf] = []
    for _, group in groupby(features, key=lambda leaf: (leaf.type.kind, leaf.null)):
        alike = list(group)
        if not _is_block(alike):
            between += alike
            continue
        if between:
            yield between
            between = []
        yield alike
    if between:
        yield between


def _is_block(run: Sequence[Leaf]) -> bool:
    kinds = {(leaf.type.kind, leaf.null) for leaf in run}
    kind, null = kinds.pop()
    if kind in FORMATS:
        return not kinds and len(run) > SHORT_RUN
    return not kinds and len(run) > SHORT_WHOLE_RUN and kind != "boolean" and null is None


def _add_run(plan: Plan, run: Sequence[Leaf], *, reject: bool) -> None:
    columns = slice(plan.width, plan.width + len(run))
    count, kind, null = len(run), run[0].type.kind, run[0].null
    if not _is_block(run):
        step = blocks.row([_number(leaf, reject=reject) for leaf in run])
        made = Run(plan.items, columns, "list")
    elif kind not in FORMATS:
        step = blocks.whole_block(count, kind)
        made = Run(plan.items, columns, "longs")
    elif null is None:
        step = blocks.block(count * FORMATS[kind].size)
        made = Run(plan.items, columns, np.dtype([("value", FORMATS[kind].format)]))
    else:
        step = blocks.nullable_block(count, FORMATS[kind].size, null)
        pieces = np.dtype([("branch", "u1"), ("value", FORMATS[kind].format)])
        made = Run(plan.items, columns, pieces, 2 * null)
    plan.steps.append(step)
    plan.runs.append(made)
    plan.items += 1
    plan.width += count


def _number(leaf: Leaf, *, reject: bool) -> Step:
    """The step of a feature on its own."""
    kind = leaf.type.kind
    if kind in FORMATS:
        step = steps.real(kind, reject=reject)
    else:
        step = steps.truth if kind == "boolean" else steps.whole(kind)
    return step if leaf.null is None else steps.nullable(step, leaf.null, absent=NAN)


def _reserved(leaf: Leaf) -> Step:
    """The step of a reserved field; `schema` has seen to it that its type is one of these."""
    match leaf.type.kind:
        case "long" if leaf.role == "event_time":
            step = steps.time(PER_MS[leaf.type.logical or ""])
        case "int" | "long":
            step = steps.whole_text(leaf.type.kind)
        case "boolean":
            step = steps.truth_text
        case "enum":
            step = steps.symbol(leaf.type.symbols)
        case "fixed":
            step = steps.uuid_text
        case _:
            step = steps.text
    return step if leaf.null is None else steps.nullable(step, leaf.null)

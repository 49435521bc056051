"""All hostile records of the first run, case by case; EML_HOSTILE=name,name keeps only some of them."""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from tests.hostile import contents, envelopes, hostile_schemas
from tests.hostile.site import Hostile, Site

_T = TypeVar("_T")


def all_cases(site: Site) -> list[Hostile]:
    """The cases, or those that were asked for; by turns, so that no case has the job for itself."""
    wanted = set(filter(None, os.environ.get("EML_HOSTILE", "").split(",")))
    by_case: dict[str, list[Hostile]] = {}
    for module in (envelopes, hostile_schemas, contents):
        for each in module.records(site):
            if not wanted or each.case in wanted:
                by_case.setdefault(each.case, []).append(each)
    return list(by_turns(by_case.values()))


def by_turns(sequences: Iterable[Sequence[_T]]) -> Iterator[_T]:
    """One of each in turn, until all are used up."""
    left = deque(iter(each) for each in sequences)
    while left:
        source = left.popleft()
        for first in source:
            yield first
            left.append(source)
            break


def spread(few: Sequence[_T], among: Sequence[_T]) -> Iterator[_T]:
    """`few` evenly among the others, both in their order."""
    taken = 0
    for number, each in enumerate(among, 1):
        yield each
        upto = len(few) * number // len(among)
        yield from few[taken:upto]
        taken = upto

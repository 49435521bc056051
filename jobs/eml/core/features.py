"""Named, ordered feature spaces, and what changes between two of them.

First stop of a batch in the learner: names decide which column is which; nothing below this
module knows a name. A schema version becomes a `FeatureSpace`; two versions become a `FeatureChange`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from eml.core.errors import FeatureError

CATEGORY = "\0="  # behind a category's name while two spaces are compared: no name has it


@dataclass(frozen=True)
class FeatureSpace:
    """An ordered set of feature names; `aliases` lists the former names of a feature.

    The values of `categories` are hashes of symbols (`hashed_symbols`): equal or not. All other features are numeric.

    >>> old = FeatureSpace(("temp", "rpm", "load"))
    >>> new = FeatureSpace(("rpm", "temperature", "torque"), aliases={"temperature": ("temp",)})
    >>> change = old.diff(new)
    >>> change.vanished, change.survived, change.augmented
    (('load',), ('rpm', 'temperature'), ('torque',))
    """

    names: tuple[str, ...]
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    categories: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "categories", frozenset(self.categories))
        former = {name: tuple(names) for name, names in self.aliases.items()}
        object.__setattr__(self, "aliases", MappingProxyType(former))
        twice = sorted(name for name, count in Counter(self.names).items() if count > 1)
        if twice:
            raise FeatureError(f"feature names must differ; these stand twice: {', '.join(twice)}")
        for what, named in (("aliases for features", self.aliases), ("categories", self.categories)):
            unknown = sorted(set(named) - set(self.names))
            if unknown:
                raise FeatureError(f"{what} that are not in the space: {', '.join(unknown)}")

    def __len__(self) -> int:
        return len(self.names)

    def __hash__(self) -> int:
        return hash((self.names, tuple(sorted(self.aliases.items())), self.categories))

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy can be neither pickled nor copied; a set's own order is not the same in every process.
        return FeatureSpace, (self.names, dict(self.aliases), tuple(sorted(self.categories)))

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Column of each feature."""
        return {name: column for column, name in enumerate(self.names)}

    def columns(self, names: Iterable[str]) -> list[int]:
        """Columns of `names`, in their order."""
        return [self.position[name] for name in names]

    def diff(self, new: "FeatureSpace") -> "FeatureChange":
        """Sort the features of both spaces into vanished, survived and augmented.

        A feature survives under its own name, or under another one where either space lists the other's name as an
        alias: from a newer version back to an older one only the old space has the aliases. No feature survives twice.

        Where a feature's own name is in both spaces, that name wins over an alias, because aliases stay in a schema
        long after the rename. It does not win where the name was given away: in a cycle or chain of renames (a to b
        and b to a; a to b and b to c) all of whose names are explicitly renamed, by aliases that only one of the two
        spaces has. So the version that swaps two names moves both, and the next one, with the same aliases, neither.

        A numeric feature does not become a category, nor the other way round: where a name changes its kind, the old
        feature has vanished and a new one has come, because nothing that was learnt about one holds for the other.
        """
        if self.categories or new.categories:
            return _plain(_with_kinds(self).diff(_with_kinds(new)))
        former = {name: name for name in new.names if name in self.position} | _moved(self, new)
        taken = set(former.values())
        for name in new.names:
            if name not in former:
                alias = next((old for old in _claims(self, new, name) if old not in taken), None)
                if alias is not None:
                    former[name] = alias
                    taken.add(alias)
        return FeatureChange(
            vanished=tuple(name for name in self.names if name not in taken),
            survived=tuple(name for name in new.names if name in former),
            augmented=tuple(name for name in new.names if name not in former),
            former=former,
        )

    @cached_property
    def named_by_alias(self) -> Mapping[str, tuple[str, ...]]:
        """The features that list a name as their alias, by that name."""
        found: dict[str, list[str]] = {}
        for name, aliases in self.aliases.items():
            for alias in aliases:
                found.setdefault(alias, []).append(name)
        return {alias: tuple(names) for alias, names in found.items()}


@dataclass(frozen=True)
class FeatureChange:
    """Vanished features by their old names, survived and augmented ones by their new names."""

    vanished: tuple[str, ...]
    survived: tuple[str, ...]
    augmented: tuple[str, ...]
    former: Mapping[str, str]  # survived name in the new space -> its name in the old one

    @property
    def renamed(self) -> dict[str, str]:
        """Survivors whose name changed: new name -> old name."""
        return {new: old for new, old in self.former.items() if new != old}

    @property
    def is_evolution(self) -> bool:
        """Whether the set of features changed; a new order or new names alone are none."""
        return bool(self.vanished or self.augmented)


def _with_kinds(space: FeatureSpace) -> FeatureSpace:
    """The same features under names that also say their kind."""
    marks = {name: CATEGORY if name in space.categories else "" for name in space.names}
    aliases = {name + marks[name]: tuple(f + marks[name] for f in former) for name, former in space.aliases.items()}
    return FeatureSpace(tuple(name + mark for name, mark in marks.items()), aliases)


def _plain(change: "FeatureChange") -> "FeatureChange":
    """The same change without the kinds."""
    vanished, survived, augmented = (
        tuple(name.removesuffix(CATEGORY) for name in names)
        for names in (change.vanished, change.survived, change.augmented)
    )
    former = {new.removesuffix(CATEGORY): old.removesuffix(CATEGORY) for new, old in change.former.items()}
    return FeatureChange(vanished, survived, augmented, former)


def _claims(old: FeatureSpace, new: FeatureSpace, name: str) -> list[str]:
    """Old features that either space's aliases say `name` of the new one is; those both agree on say nothing new."""
    forward = [a for a in new.aliases.get(name, ()) if a in old.position and a not in old.aliases.get(name, ())]
    backward = [o for o in old.named_by_alias.get(name, ()) if name not in new.aliases.get(o, ())]
    return [claim for claim in dict.fromkeys((*forward, *backward)) if claim != name]


def _moved(old: FeatureSpace, new: FeatureSpace) -> dict[str, str]:
    """Renames, new name to old, that hold although the names are in both spaces: whole cycles and chains of them."""
    claims = {name: _claims(old, new, name) for name in (*new.aliases, *old.named_by_alias) if name in new.position}
    moved = {name: found[0] for name, found in claims.items() if len(found) == 1}
    wanted = Counter(moved.values())
    moved = {name: was for name, was in moved.items() if wanted[was] == 1}
    while True:
        given = set(moved.values())
        broken = [
            name
            for name, was in moved.items()
            if (name in old.position and name not in given) or (was in new.position and was not in moved)
        ]
        if not broken:
            return moved
        for name in broken:
            del moved[name]

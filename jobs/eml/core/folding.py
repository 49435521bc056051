"""Reports about columns as reports about input features: what is said of a feature's levels becomes one.

Called by `explanation` and `evolution`.
"""

from collections.abc import Iterable, Mapping

from eml.core.column_names import feature_of, other_column
from eml.core.features import FeatureChange
from eml.core.report import Evolution, Takeover


def fold_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """A feature's share is that of all its levels."""
    folded = dict.fromkeys(map(feature_of, weights), 0.0)
    for name, share in weights.items():
        folded[feature_of(name)] += share
    return folded


def fold_evolution(evolution: Evolution) -> Evolution:
    """The same report about input features instead of columns."""
    inner = evolution.change
    vanished, survived, augmented = map(_features, (inner.vanished, inner.survived, inner.augmented))
    former = {feature_of(new): feature_of(old) for new, old in inner.former.items()}
    own: dict[str, dict[str, Takeover]] = {}
    for name, takeover in evolution.takeovers.items():
        own.setdefault(feature_of(name), {})[name] = takeover
    return Evolution(
        FeatureChange(vanished, survived, augmented, former),
        evolution.announced,
        evolution.transform_steps,
        evolution.warm,
        _features(evolution.returned),
        {feature: _takeover(feature, levels) for feature, levels in own.items()},
    )


def _features(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(feature_of, names)))


def _takeover(feature: str, own: dict[str, Takeover]) -> Takeover:
    """The mean share over a feature's levels, and the survivor that explains one of them best."""
    levels = [takeover for name, takeover in own.items() if name != other_column(feature)] or list(own.values())
    best = max(levels, key=lambda takeover: takeover.share)
    by = None if best.by is None else feature_of(best.by)
    return Takeover(sum(takeover.share for takeover in levels) / len(levels), by)

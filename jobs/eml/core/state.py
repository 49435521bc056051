"""The state of a learner between two calls: what a snapshot holds.

Read and changed by the learner and most modules of `core`; decides nothing. Views cache the memory under a metric.
"""

from dataclasses import dataclass, field

import numpy as np

from eml.core.arrays import Array, Index, Mask, to_single
from eml.core.config import LearnerConfig
from eml.core.features import FeatureChange, FeatureSpace
from eml.core.linear import Linear
from eml.core.memory import Memory
from eml.core.mixture import Mixture
from eml.core.one_hot import OneHotEncoder, first_encoded_space
from eml.core.report import Evolution, Label, Stage
from eml.core.statistics import Statistics
from eml.core.views import FIRST_WEIGHT, Pooling, RunningAccuracy, View


@dataclass(slots=True)
class Upcoming:
    """An announced space, and the survivors' metric on the way to it."""

    space: FeatureSpace
    Ls: Array | None = None  # (k, survivors in the order of the next space)
    explained: Array | None = None  # share of each vanished feature that survivors account for
    steps: int = 0


@dataclass(slots=True)
class Fresh:
    """A learner from scratch after an evolution, on the exemplars that came since."""

    view: View
    linear: Linear | None
    pooling: Pooling  # of its metric and, where there is one, its linear view


@dataclass(slots=True)
class Survivors:
    """The learner as it was before the last evolution, on the survivors alone; the first view is its metric."""

    linear: Linear
    pooling: Pooling  # of the survivors' metric and this linear view


@dataclass(slots=True)
class State:
    """The state of one learner."""

    space: FeatureSpace
    statistics: Statistics
    memory: Memory
    rng: np.random.Generator
    classes: list[Label] = field(default_factory=list)
    stage: Stage = "initial"
    views: list[View] = field(default_factory=list)
    pooling: Pooling = field(default_factory=lambda: Pooling.start(FIRST_WEIGHT))
    linear: Linear | None = None
    fresh: Fresh | None = None
    survivors: Survivors | None = None
    mixture: Mixture = field(default_factory=Mixture)
    accuracies: dict[str, RunningAccuracy] = field(default_factory=dict)  # view -> its recent accuracy
    upcoming: Upcoming | None = None
    retired_columns: dict[str, Array] = field(default_factory=dict)  # vanished feature -> its column of the metric
    retired_statistics: Statistics = field(default_factory=lambda: Statistics.empty(0))
    returned: dict[int, Array] = field(default_factory=dict)  # column -> its last known column of the metric
    evolution: Evolution | None = None
    typical_distance: float = 0.0  # of a labelled sample to its own class
    learnt: int = 0  # labelled samples since the last cold start
    revision: int = 0
    since: int = 0  # labelled samples since the space last changed
    resting: int = 0  # batches until the next step is tried
    rest: int = 0  # how long the last rest was
    taken: int = 0
    refused: int = 0
    cut: int = 0
    missing: int = 0
    widened: int = 0  # batches for which a wider step is on offer, after a drift
    unstepped: int = 0  # labelled samples since a step of the metric was last due
    _encoder: OneHotEncoder | None = None

    @classmethod
    def new(cls, space: FeatureSpace, config: LearnerConfig, seed: int) -> "State":
        """A learner that has seen nothing."""
        space = first_encoded_space(space)
        return cls(
            space,
            Statistics.empty(len(space)),
            Memory.empty(config.memory_size, config.refresh, len(space)),
            np.random.default_rng(seed),
            linear=Linear.empty(len(space)) if config.linear else None,
        )

    @property
    def encoder(self) -> OneHotEncoder:
        """How samples become the columns of the space (one-hot encoding)."""
        if self._encoder is None or self._encoder.encoded is not self.space:
            self._encoder = OneHotEncoder(self.space)
        return self._encoder

    @property
    def linears(self) -> tuple[Linear | None, Linear | None, Linear | None]:
        """The linear views: of all columns, of the fresh start, of the survivors."""
        begun = None if self.fresh is None else self.fresh.linear
        return self.linear, begun, None if self.survivors is None else self.survivors.linear

    @property
    def newest(self) -> View | None:
        """The view that is trained: over all columns once the I-stage has run."""
        return self.views[-1] if self.views else None

    @property
    def nbytes(self) -> int:
        """What its large arrays take in memory."""
        views = [*self.views, *([] if self.fresh is None else [self.fresh.view])]
        return self.memory.nbytes + sum(view.nbytes for view in views)

    def refresh(self) -> None:
        """Embed the memory in every view, after rounding what was learnt to what a snapshot keeps."""
        self._to_single()
        started = [self.fresh.view] if self.fresh is not None and len(self.fresh.view.L) else []
        for view in (*self.views, *started):
            view.refresh(self.memory, len(self.classes), self.statistics.mean)

    def fit(self, linear: Linear | None, rows: Index | None = None, *, young: bool = True) -> None:
        """Fit a linear view, where there is one, to the memory or to some exemplars in it, at a bounded cost."""
        if linear is None:
            return
        linear.set_classes(len(self.classes))
        among = len(self.memory) if rows is None else len(rows)
        count, steps = linear.budget(among, young=young)
        if count < among:
            rows = self.memory.sample(count, self.rng, rows)
        linear.fit(self.memory, self.statistics, len(self.classes), rows, steps=steps)

    def _to_single(self) -> None:
        """Round metrics and weights, rows contiguous: the order of BLAS's sums depends on the layout, too."""
        for view in (*self.views, *([] if self.fresh is None else [self.fresh.view])):
            view.L = to_single(view.L)
        for linear in self.linears:
            if linear is not None:
                linear.W, linear.b = to_single(linear.W), to_single(linear.b)
        if self.upcoming is not None and self.upcoming.Ls is not None:
            self.upcoming.Ls = to_single(self.upcoming.Ls)

    def new_columns(self) -> Index:
        """Columns the survivors' view lacks, while there is one."""
        return np.setdiff1d(np.arange(len(self.space)), self.views[0].columns)

    def with_observed(self, columns: Index, share: float) -> Mask:
        """Exemplars (n,) that have at least this share of some columns observed, where a category counts as one."""
        return self.memory.with_observed(self.encoder.one_per_category(columns), share)

    def columns_of(self, change: FeatureChange) -> Index:
        """Survivors' columns in the current space, in the order of the next."""
        return np.array(self.space.columns(change.former[name] for name in change.survived), dtype=np.intp)

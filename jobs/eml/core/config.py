"""The settings of a learner: bounds on memory and time, and unit-free weights that suit every data set.

Made by `settings`, the evaluation or any other caller of the learner; written into its snapshots.
"""

from dataclasses import dataclass, fields

from eml.core.errors import FeatureError
from eml.core.stages import Objective


@dataclass(frozen=True, slots=True)
class LearnerConfig:
    """What bounds a learner's memory and time, and the terms of its objective."""

    memory_size: int = 1024  # labelled exemplars kept, over all classes
    refresh: float = 0.25  # least probability that a new sample enters a full memory: how fast old ones are replaced
    rank: int = 64  # rows of the metric
    neighbours: int = 7  # nearest exemplars of each class that score a sample
    batch: int = 64  # samples per metric step; a longer batch is learnt in pieces
    replay: int = 32  # exemplars of the memory added to each step's samples
    pool: int = 64  # further exemplars of each class to draw triplets from, at least 320 in all
    warm_up: int = 128  # labelled samples before the metric starts to learn
    longest_rest: int = 7  # batches without a step, at most
    tested: int = 32  # samples of a batch on which the views are scored before it is learnt
    catch_up: int = 8  # T-stage steps over the memory when an evolution was not announced
    retired_features: int = 256  # vanished features whose columns are kept for their return
    steps: tuple[float, ...] = (0.05, 0.3)  # candidate step sizes, beside none
    sigma: float = 0.1  # smoothing of the Wasserstein distance, relative to the mean cost
    margin: float = 0.3  # of the hinges, relative to the median distance to other classes
    rho: float = 0.3  # weight of the consistency hinges, relative to the own hinge
    lam: float = 1e-3  # weight of the low-rank term
    signature: int = 4  # samples in a signature
    linear: bool = True  # False: no linear view (ablation)
    fresh: bool = True  # False: no fresh start beside what is carried over an evolution (ablation)
    one_hot: bool = (
        True  # False: integer-coded categories are not detected; declared categories are encoded all the same
    )
    arcsinh: bool = True  # False: features are never arcsinh-scaled, however far their values spread
    transform: bool = True  # False: no T-stage (ablation)
    inherit: bool = True  # False: no I-stage (ablation)
    wasserstein: bool = True  # False: plain mean distances (ablation)
    low_rank: bool = False  # True: the paper's trace norm in place of the Frobenius norm; worth 0.01 points

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int) and not isinstance(value, bool) and value < (field.name not in MAY_BE_ZERO):
                raise FeatureError(f"{field.name} must be positive, not {value}")
        if self.memory_size < 2 * self.neighbours:
            raise FeatureError(
                f"memory_size {self.memory_size} is too small for {self.neighbours} neighbours:"
                f" at least {2 * self.neighbours}"
            )

    @property
    def objective(self) -> Objective:
        """The weights of the paper's terms."""
        return Objective(self.sigma, self.margin, self.rho, self.lam, self.signature, self.wasserstein, self.low_rank)


MAY_BE_ZERO = {"replay", "pool", "warm_up", "longest_rest", "catch_up", "retired_features"}

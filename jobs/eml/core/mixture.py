r"""A mixture of experts whose log loss is never far above that of the best expert.

Called by the learner and by `predictor.reference`. The experts are the views, each calibrated by a weight of its own,
and one more that pools them, $p(c) \propto \exp \sum_v w_v s_{v,c}$ (`views.Pooling`). Their probabilities are averaged
with shares $\pi$ that follow the log loss of what was predicted before it was learnt: a Bayesian mixture with fixed
share [1]. After a label

$$ \pi_k \leftarrow (1 - \alpha) \frac{\pi_k p_k(y)}{\sum_j \pi_j p_j(y)} + \alpha q_k $$

where q are the shares that the experts begin with. **Bound**: over T labels, against any sequence of experts
$k_0, k_1, \dots, k_m$ that changes m times, the log loss of the mixture is at most

$$ \sum_t -\log p_{k(t)}(y_t) + \sum_{i=0}^m \log \frac{1}{q_{k_i}} + m \log \frac{1}{\alpha}
   + (T - m - 1) \log \frac{1}{1 - \alpha} $$

so against the best single expert $\log 1/q$ in all and $\alpha$ per label: 0.01 nats. The pooling learns by online
Newton steps, whose loss against the best fixed weights grows with the logarithm of T [2]; it is often above every
single view. The bound holds for labels one after another; where they come in windows the shares of a window's first
label serve for all of it. Probabilities are kept away from 0, so no label costs more than $\log C / \epsilon$.

References
----------
[1] Herbster, Warmuth, Tracking the best expert, Machine Learning 32, 1998.
[2] Hazan, Agarwal, Kale, Logarithmic regret algorithms for online convex optimization, Machine Learning 69, 2007.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from eml.core.arrays import Array, Index
from eml.core.views import LIGHTEST, Pooling, softmax

POOLED = "pooled"
SHARE = 0.01  # alpha: the best expert may change about once in a hundred labels
SMOOTHING = 0.01  # epsilon: of the probability, spread evenly over the classes

ExpertScores = Mapping[str, Array]  # expert -> its scores (n, C)


@dataclass(frozen=True, slots=True)
class ExpertSpec:
    """How an expert starts."""

    weight: float = 1.0  # that calibrates its scores
    prior: float = 1.0  # its share, relative to the others'
    pooled: bool = True  # whether it is one of those that are pooled


@dataclass(slots=True)
class Expert:
    """One view, calibrated."""

    calibration: Pooling  # one weight
    prior: float
    share: float


@dataclass(slots=True)
class Mixture:
    """The experts and their shares."""

    experts: dict[str, Expert] = field(default_factory=dict)
    pooled: tuple[str, ...] = ()
    pooling: Pooling = field(default_factory=Pooling.start)
    pooled_share: float = 0.0  # the share of the pooled views

    def set_experts(self, specs: Mapping[str, ExpertSpec]) -> None:
        """Set the experts: those that stay keep calibration and share, new ones start with their prior."""
        if list(specs) == list(self.experts):
            return
        before, former_pooled_share = self.experts, self.pooled_share if len(self.pooled) > 1 else None
        self._set_pooled(specs)
        total = sum(spec.prior for spec in specs.values()) + (len(self.pooled) > 1)
        stay = {name: before[name].share for name in specs if name in before}
        come = sum(spec.prior for name, spec in specs.items() if name not in before) / total
        if len(self.pooled) > 1:
            if former_pooled_share is None:
                come += 1.0 / total
            else:
                stay[POOLED] = former_pooled_share
        left = max(sum(stay.values()), 1e-12)
        shares = {name: (1.0 - come) * share / left for name, share in stay.items()}
        self.experts = {}
        for name, spec in specs.items():
            kept = before.get(name) or Expert(Pooling.start(spec.weight), spec.prior, 0.0)
            kept.share = shares.get(name, spec.prior / total)
            self.experts[name] = kept
        self.pooled_share = shares.get(POOLED, 1.0 / total) if len(self.pooled) > 1 else 0.0

    def _set_pooled(self, specs: Mapping[str, ExpertSpec]) -> None:
        """Restart the pooling if the pooled views change; each starts with its calibration times its prior."""
        pooled = tuple(name for name, spec in specs.items() if spec.pooled)
        if pooled == self.pooled:
            return
        total = sum(specs[name].prior for name in pooled)
        weights = [
            (self.experts[name].calibration.w[0] if name in self.experts else specs[name].weight)
            * specs[name].prior
            / total
            for name in pooled
        ]
        self.pooled, self.pooling = pooled, Pooling.start(*(max(float(weight), LIGHTEST) for weight in weights))

    def probabilities(self, by_expert: ExpertScores) -> Array:
        """Probabilities (n, C) from the scores of every expert."""
        if len(self.experts) == 1:  # the metric's views, whose pooling has calibrated them
            return softmax(by_expert[next(iter(self.experts))])
        shares = self._shares()
        return np.asarray(sum(shares[name] * p for name, p in self._each(by_expert).items()))

    def update(self, by_expert: ExpertScores, y: Index) -> None:
        """Update with the labels of samples that were not learnt yet."""
        if len(self.experts) == 1 or by_expert[next(iter(by_expert))].shape[1] < 2:
            return
        own = np.stack([p[np.arange(len(y)), y] for p in self._each(by_expert).values()], axis=1)  # (n, K)
        share, prior = np.array(list(self._shares().values())), self._priors()
        for row in own:
            share = share * row
            share = (1.0 - SHARE) * share / share.sum() + SHARE * prior
        for expert, mine in zip(self.experts.values(), share.tolist(), strict=False):
            expert.share = mine
        self.pooled_share = float(share[-1]) if len(self.pooled) > 1 else 0.0
        for name, expert in self.experts.items():
            expert.calibration.update([by_expert[name]], y)
        if len(self.pooled) > 1:
            self.pooling.update([by_expert[name] for name in self.pooled], y)

    def is_best(self, name: str) -> bool:
        """Whether an expert has a larger share than every other single expert."""
        return all(self.experts[name].share > e.share for other, e in self.experts.items() if other != name)

    def view_shares(self) -> dict[str, float]:
        """How much each expert counts: its own share, and its part of that of the pooled expert."""
        shares = {name: expert.share for name, expert in self.experts.items()}
        for name, part in zip(self.pooled, self.pooling.shares.tolist(), strict=True):
            shares[name] += self.pooled_share * part
        return shares

    def _each(self, by_expert: ExpertScores) -> dict[str, Array]:
        each = {name: softmax(e.calibration.logits([by_expert[name]])) for name, e in self.experts.items()}
        if len(self.pooled) > 1:
            each[POOLED] = softmax(self.pooling.logits([by_expert[name] for name in self.pooled]))
        return {name: (1.0 - SMOOTHING) * p + SMOOTHING / p.shape[1] for name, p in each.items()}

    def _shares(self) -> dict[str, float]:
        shares = {name: expert.share for name, expert in self.experts.items()}
        return shares | ({POOLED: self.pooled_share} if len(self.pooled) > 1 else {})

    def _priors(self) -> Array:
        priors = [expert.prior for expert in self.experts.values()] + [1.0] * (len(self.pooled) > 1)
        return np.array(priors) / sum(priors)

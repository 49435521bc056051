"""The experts of the mixture: which there are, and their scores of samples.

Called by the learner, to weigh the views before it learns, and by `predictor.reference`. Changes nothing but the views'
running accuracies and how they are pooled.

    metric      the metric of now; after an evolution survivors' and joint metric, pooled
    survived    metric and logistic regression of the survivors, pooled: the learner as it was before the last evolution
    joint       the joint metric alone, while there are two
    linear      logistic regression over all columns
    fresh       metric and logistic regression of what came since the last evolution, pooled
"""

from dataclasses import dataclass

from eml.core.arrays import Array, Index, Mask
from eml.core.mixture import ExpertScores, ExpertSpec
from eml.core.neighbours import log_scores
from eml.core.report import ViewReport
from eml.core.state import State
from eml.core.views import RunningAccuracy

FRESH_PRIOR = 0.05  # of a fresh start against the others: what came through an evolution is usually the better one


@dataclass(frozen=True, slots=True)
class ViewScores:
    """Scores of n samples by every view and every expert."""

    distances: list[Array]  # (n, C) of each metric view
    scores: list[Array]  # (n, C) of each metric view
    fresh: list[Array]  # (n, C) of the fresh start's views; none where there is none
    survived: list[Array]  # (n, C) of the survivors' metric and linear view; none where there are none
    by_expert: ExpertScores


def score_views(state: State, X: Array, present: Mask, neighbours: int) -> ViewScores:
    """Score cleaned samples (n, d) by every view."""
    memory = state.memory
    distances = [view.distances(X, present, memory, neighbours) for view in state.views]
    scores = [log_scores(D) for D in distances]
    by_expert = {"metric": state.pooling.logits(scores)}
    if len(scores) == 2:
        by_expert |= {"survived": scores[0], "joint": scores[1]}
    survived: list[Array] = []
    if state.survivors is not None:
        survived = [scores[0], state.survivors.linear.logits(X, present)]
        by_expert["survived"] = state.survivors.pooling.logits(survived)
    if state.linear is not None and state.linear.classes:
        by_expert["linear"] = state.linear.logits(X, present)
    begun: list[Array] = []
    fresh = state.fresh
    if fresh is not None and fresh.view.embedded is not None:
        begun = [log_scores(fresh.view.distances(X, present, memory, neighbours))]
        if fresh.linear is not None:
            begun.append(fresh.linear.logits(X, present))
        by_expert["fresh"] = fresh.pooling.logits(begun)
    return ViewScores(distances, scores, begun, survived, by_expert)


def fresh_answers(state: State) -> bool:
    """Whether there is a fresh start that has seen enough to predict."""
    return state.fresh is not None and state.fresh.view.embedded is not None


def expert_specs(state: State) -> dict[str, ExpertSpec]:
    """The experts there are now, and how each starts; without linear view and fresh start, the paper's method."""
    specs = {"metric": ExpertSpec()}
    if len(state.views) == 2 and (state.linear is not None or state.fresh is not None):
        weight = float(state.pooling.w.sum())
        specs |= {name: ExpertSpec(weight, pooled=False) for name in ("survived", "joint")}
    if state.survivors is not None:
        specs["survived"] = ExpertSpec(pooled=False)
    if state.linear is not None and state.linear.classes:
        specs["linear"] = ExpertSpec()
    if state.fresh is not None and state.fresh.view.embedded is not None:
        specs["fresh"] = ExpertSpec(prior=FRESH_PRIOR)
    return specs


def count_hits(state: State, scored: ViewScores, y: Index) -> None:
    """Update every view's running accuracy; views that are gone are dropped."""
    by_view = dict(zip((view.name for view in state.views), scored.scores, strict=True))
    by_view |= {name: scored.by_expert[name] for name in ("linear", "fresh") if name in scored.by_expert}
    state.accuracies = {name: state.accuracies.get(name, RunningAccuracy()) for name in by_view}
    for name, scores in by_view.items():
        state.accuracies[name].record(scores, y)


def update_pooling(state: State, scored: ViewScores, y: Index) -> None:
    """Weigh the views within each expert that pools several, by their scores of samples they have not learnt."""
    state.pooling.update(scored.scores, y)
    if state.fresh is not None and scored.fresh:
        state.fresh.pooling.update(scored.fresh, y)
    if state.survivors is not None:
        state.survivors.pooling.update(scored.survived, y)


def report(state: State) -> dict[str, ViewReport]:
    """Each view's weight in the prediction, and its recent accuracy."""
    shares = state.mixture.view_shares()
    metric = shares.get("metric", 0.0)
    weights = {
        view.name: metric * float(part) + shares.get(view.name, 0.0)
        for view, part in zip(state.views, state.pooling.shares, strict=False)
    }
    alone = ("survived", "linear", "fresh")  # experts beside the metrics' views; the first may outlive its view
    weights |= {name: shares[name] for name in alone if name in shares and name not in weights}
    return {
        name: ViewReport(weight, state.accuracies.get(name, RunningAccuracy()).score)
        for name, weight in weights.items()
    }

"""What each view says of samples, by the names under which they are mixed.

Called by the learner, to predict and to weigh the views before it learns; changes nothing but what they got right.

    metric      the metric of now; after an evolution survivors' and joint metric, pooled
    survived    metric and logistic regression of the survivors, pooled: the learner as it was before the last evolution
    joint       the joint metric alone, while there are two
    linear      logistic regression over all columns
    fresh       metric and logistic regression of what came since the last evolution, pooled
"""

from dataclasses import dataclass

from eml.core.arrays import Array, Index, Mask
from eml.core.mixture import Entry, Opinions
from eml.core.neighbours import log_scores
from eml.core.report import ViewReport
from eml.core.state import State
from eml.core.views import Tally

FRESH_PRIOR = 0.05  # of a fresh start against the others: what came through an evolution is usually the better one


@dataclass(frozen=True, slots=True)
class Heard:
    """What all views say of n samples."""

    distances: list[Array]  # (n, C) of each metric view
    scores: list[Array]  # (n, C) of each metric view
    fresh: list[Array]  # (n, C) of the fresh start's views; none where there is none
    survived: list[Array]  # (n, C) of the survivors' metric and linear view; none where there are none
    opinions: Opinions


def hear(state: State, X: Array, present: Mask, neighbours: int) -> Heard:
    """Ask every view about cleaned samples (n, d)."""
    memory = state.memory
    distances = [view.distances(X, present, memory, neighbours) for view in state.views]
    scores = [log_scores(D) for D in distances]
    opinions = {"metric": state.pooling.logits(scores)}
    if len(scores) == 2:
        opinions |= {"survived": scores[0], "joint": scores[1]}
    survived: list[Array] = []
    if state.survivors is not None:
        survived = [scores[0], state.survivors.linear.logits(X, present)]
        opinions["survived"] = state.survivors.pooling.logits(survived)
    if state.linear is not None and state.linear.classes:
        opinions["linear"] = state.linear.logits(X, present)
    begun: list[Array] = []
    fresh = state.fresh
    if fresh is not None and fresh.view.embedded is not None:
        begun = [log_scores(fresh.view.distances(X, present, memory, neighbours))]
        if fresh.linear is not None:
            begun.append(fresh.linear.logits(X, present))
        opinions["fresh"] = fresh.pooling.logits(begun)
    return Heard(distances, scores, begun, survived, opinions)


def fresh_answers(state: State) -> bool:
    """Whether there is a fresh start, and it has seen enough to answer."""
    return state.fresh is not None and state.fresh.view.embedded is not None


def entries(state: State) -> dict[str, Entry]:
    """The experts there are now, and how each begins; without linear and fresh views the paper's method, as it is."""
    seats = {"metric": Entry()}
    if len(state.views) == 2 and (state.linear is not None or state.fresh is not None):
        weight = float(state.pooling.w.sum())
        seats |= {name: Entry(weight, pooled=False) for name in ("survived", "joint")}
    if state.survivors is not None:
        seats["survived"] = Entry(pooled=False)
    if state.linear is not None and state.linear.classes:
        seats["linear"] = Entry()
    if state.fresh is not None and state.fresh.view.embedded is not None:
        seats["fresh"] = Entry(prior=FRESH_PRIOR)
    return seats


def count(state: State, heard: Heard, y: Index) -> None:
    """Count what every view got right; one that is no longer there is forgotten."""
    said = dict(zip((view.name for view in state.views), heard.scores, strict=True))
    said |= {name: heard.opinions[name] for name in ("linear", "fresh") if name in heard.opinions}
    state.tallies = {name: state.tallies.get(name, Tally()) for name in said}
    for name, scores in said.items():
        state.tallies[name].record(scores, y)


def report(state: State) -> dict[str, ViewReport]:
    """How much each view counts in the answer, and what it got right lately."""
    says = state.mixture.says()
    metric = says.get("metric", 0.0)
    weights = {
        view.name: metric * float(part) + says.get(view.name, 0.0)
        for view, part in zip(state.views, state.pooling.shares, strict=False)
    }
    weights |= {name: says[name] for name in ("linear", "fresh") if name in says}
    return {name: ViewReport(weight, state.tallies.get(name, Tally()).score) for name, weight in weights.items()}

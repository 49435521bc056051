"""How many labelled samples one update of a learner should have.

Called by whoever collects labels and calls `learn`: the job's windows (`eml.stream`) and the harness's streams
(`eml.evaluate.prequential`). Knows no clock and no records.
"""

# A window is this part (a quarter) of the labelled samples that its space has seen, one at least: a new model should
# answer from its first label on. Windows that short are cheap, for the learner spaces the steps of its metric itself.
WINDOW_SHARE = 4


def window_size(age: int, largest: int) -> int:
    """Labelled samples per update: one at first, more as the space has seen more of them, `largest` at most."""
    return min(largest, max(1, age // WINDOW_SHARE))

"""The demonstration's picture: the rolling share of right predictions of each model, with the upgrades marked.

Called by `demo` with finished `results`; writes one PNG file. No window, no global state of matplotlib's.
"""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from eml.local.controls import DROPS, EML, RESTARTS
from eml.local.results import VERSION_NUMBERS, Result
from eml.local.scoreboard import Change

# Colours that also the colour-blind tell apart; EML lies on top.
LINES = {EML: ("#0072B2", 2.4, 3), RESTARTS: ("#D55E00", 1.6, 2), DROPS: ("#777777", 1.6, 1)}
INK = "#333333"


def draw(path: Path, outcome: Sequence[Result], changes: Sequence[Change]) -> None:
    """Write the picture."""
    figure = Figure(figsize=(10, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for result in outcome:
        colour, width, height = LINES[result.name]
        axes.plot(*result.rolling(), color=colour, linewidth=width, zorder=height, label=result.name)
    for version in VERSION_NUMBERS[1:]:
        _mark(axes, [change for change in changes if change.new_version == version])
    _dress(axes, float(outcome[0].at_s[-1]))
    figure.savefig(path, dpi=140, format="png")


def _mark(axes: Axes, changes: Sequence[Change]) -> None:
    """A band from the first machine's upgrade to the last one's, and what it changed."""
    if not changes:
        return
    times = [change.at_s for change in changes]
    axes.axvspan(min(times), max(times), color="#0072B2", alpha=0.10, linewidth=0, zorder=0)
    axes.axvline(min(times), color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    first = changes[0]
    lines = [f"version {first.old_version} → {first.new_version}"]
    lines += [f"gone: {name}" for name in first.vanished] + [f"new: {name}" for name in first.augmented]
    lines += [f"{old} is now {new}" for new, old in first.renamed.items()]
    axes.annotate(
        "\n".join(lines),
        (min(times), 0.0),
        xytext=(6, 6),
        textcoords="offset points",
        fontsize=9,
        color=INK,
        linespacing=1.35,
        va="bottom",
    )


def _dress(axes: Axes, end_s: float) -> None:
    axes.set_title(
        "A fleet's sensors change twice while its models run", loc="left", fontsize=14, weight="bold", pad=40
    )
    axes.annotate(
        "Share of right predictions among the latest records of all machines. In the bands they are upgraded, one after"
        " another;\nbefore the first all models are alike. EML: the job's own predictions;"
        " the others had the same records.",
        (0, 1),
        xycoords="axes fraction",
        xytext=(0, 9),
        textcoords="offset points",
        fontsize=9.5,
        color=INK,
        linespacing=1.35,
    )
    axes.set_xlabel("seconds since the first record")
    axes.set_ylabel("right predictions (rolling)")
    axes.set_xlim(0, end_s)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower left", frameon=False, fontsize=10)  # where few curves ever come

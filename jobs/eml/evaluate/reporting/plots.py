"""Small pictures as SVG that stands inside a page: transparent, in the page's own text colour, no file, no window.

Called by `pictures`; knows matplotlib and numbers, nothing of trials.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

INCHES = (4.2, 2.9)  # a phone's width at the text size of the page
_INK = "#010203"  # stands for the page's text colour until the SVG is written
WIDE = (5.6, 3.4)  # where names stand beside points
LETTER, LINE = 5.0, 9.0  # size of a name's letter, in points
FEW = 7  # points of a line that are marked, and that the axis names
OWN_COLOUR = "#e4572e"
OTHER_COLOURS = ("#3a86c8", "#2a9d6f", "#b8860b", "#9b5de5", "#d4508f", "#17a2b8", "#8a8f98")  # on light and on dark


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a picture."""

    name: str
    colour: str
    x: Sequence[float]
    y: Sequence[float]
    errors: Sequence[float] | None = None
    own: bool = False


def lines(series: Sequence[Series], x_label: str, y_label: str, *, mark: float | None = None) -> str:
    """Lines with error bars; `mark`: where something happened."""
    with _axes(x_label, y_label) as (figure, axes):
        if mark is not None:
            axes.axvline(mark, color=_INK, linestyle=":", linewidth=1)
        for one in series:
            width, depth = (2.4, 3) if one.own else (1.2, 2)
            marker = "o" if len(one.x) <= FEW else ""
            style: dict[str, Any] = {"color": one.colour, "marker": marker, "linewidth": width, "zorder": depth}
            axes.errorbar(one.x, one.y, yerr=one.errors, markersize=4, capsize=2, **style)
        if series and len(series[0].x) <= FEW:
            axes.set_xticks(series[0].x)
        return _svg(figure, x_label + y_label + repr(series))


def points(series: Sequence[Series], x_label: str, y_label: str) -> str:
    """A named point per series, the x axis by powers of ten."""
    with _axes(x_label, y_label) as (figure, axes):
        figure.set_size_inches(WIDE)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.margins(x=0.2, y=0.12)
        for one in series:
            axes.plot(one.x, one.y, "o", color=one.colour, markersize=8 if one.own else 5)
        figure.draw_without_rendering()  # lays the axes out: from here on places are known
        _name_points(axes, series)
        return _svg(figure, x_label + y_label + repr(series))


def _name_points(axes: Axes, series: Sequence[Series]) -> None:
    """Names beside their points, each moved up or down to where no earlier one is."""
    taken: list[tuple[float, float, float]] = []  # left, right, height, in points
    for one in series:
        x, y = axes.transData.transform((one.x[0], one.y[0])) * 72.0 / axes.figure.dpi
        right = x + 6 + LETTER * len(one.name)
        for move in (2, -9, 12, -18, 21, -27, 30):
            if not any(left < right and x < end and abs(y + move - high) < LINE for left, end, high in taken):
                break
        taken.append((x, right, y + move))
        at = (one.x[0], one.y[0])
        axes.annotate(one.name, at, (6, move), textcoords="offset points", fontsize=8, color=_INK)


def plane(values: Mapping[tuple[float, float], float], x_label: str, y_label: str) -> str:
    """Fields of a plane, darker for more, with their figures."""
    xs, ys = (sorted({place[axis] for place in values}) for axis in (0, 1))
    field = np.array([[values.get((x, y), np.nan) for x in xs] for y in ys])
    low, high = float(np.nanmin(field)), float(np.nanmax(field))
    with _axes(x_label, y_label) as (figure, axes):
        axes.imshow(field, origin="lower", aspect="auto", cmap="viridis", vmin=low, vmax=max(high, low + 1e-9))
        axes.grid(visible=False)
        axes.set_xticks(range(len(xs)), [f"{x:g}" for x in xs])
        axes.set_yticks(range(len(ys)), [f"{y:g}" for y in ys])
        for (row, column), value in np.ndenumerate(field):
            colour = "#ffffff" if value < (low + high) / 2 else "#000000"
            axes.text(column, row, f"{value:.1f}", ha="center", va="center", fontsize=7, color=colour)
        return _svg(figure, x_label + y_label + repr(values))


@contextmanager
def _axes(x_label: str, y_label: str) -> Iterator[tuple[Figure, Axes]]:
    inks = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "grid.color")
    settings: dict[Any, Any] = {"svg.fonttype": "none", "font.size": 9, **dict.fromkeys(inks, _INK)}
    with mpl.rc_context(settings):
        figure = Figure(figsize=INCHES, layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(visible=True, alpha=0.15)
        axes.patch.set_alpha(0.0)
        yield figure, axes


def _svg(figure: Figure, salt: str) -> str:
    """The figure as an element of a page; ids differ between figures and are the same in every run."""
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": salt}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    text = text[text.index("<svg") :].replace(_INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return re.sub(r'<svg [^>]*viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img">', text, count=1)

"""The charts, as plain values that Plotly draws, each with the words that say the same.

Called by the screens. Colours of text, grid and ground come from `assets/style.css`, so a chart follows the switch
between light and dark by itself. The colours of lines are told apart by colour-blind people and stand on either ground
(`tests/unit/watch/test_figures.py` measures it). Plotly takes names for a little HTML: `label` escapes them.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from eml.watch import words
from eml.watch.condensing import gathered
from eml.watch.views import Accuracy, Mark, Rollout

Figure = dict[str, Any]  # Plotly's own form
COLOURS = ("#2a78d6", "#d97706", "#12947a", "#b44fb8", "#6b7785", "#9a7038")
SHADE = "#808a94"  # of a cold restart
SHAPES = {"evolution": "diamond", "drift": "triangle-down", "announced": "circle", "recovery": "star"}
MOST_VERSIONS = len(COLOURS)
EVOLUTIONS_AT, OTHERS_AT = 102.0, 106.5  # where marks stand, in percent: above the curve, and not on each other
CONFIG: Any = {"displayModeBar": False, "responsive": True, "showTips": False, "doubleClick": False}


def label(text: str) -> str:
    """A device's text as Plotly may show it."""
    return escape(words.plain(text, 60))


def rollout(seen: Rollout) -> Figure:
    """Bands of devices by schema version."""
    bands = _bands(seen.devices)
    times = list(seen.times_ms)
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "stackgroup": "devices",
            "x": times,
            "y": list(counts),
            "name": label(name),
            "line": {"width": 1.5, "color": colour, "shape": "hv"},
            "fillcolor": f"{colour}b8",
            "hovertemplate": "%{y:,} devices",
        }
        for (name, counts), colour in zip(bands.items(), COLOURS, strict=False)
    ]
    return {"data": traces, "layout": _layout("devices", hovermode="x unified")}


def rollout_text(seen: Rollout) -> str:
    """The roll-out in words."""
    if not seen.times_ms:
        return "No device has been seen yet."
    now = {name: counts[-1] for name, counts in seen.devices.items() if counts and counts[-1]}
    total = sum(now.values())
    parts = [f"{words.number(count)} on {words.plain(name)}" for name, count in now.items()]
    return f"Of {words.plural(total, 'device')}: {', '.join(parts[-MOST_VERSIONS:])}."


def _bands(devices: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
    """The newest versions; older ones together in one band."""
    names = list(devices)
    if len(names) <= MOST_VERSIONS:
        return dict(devices)
    older, newer = names[: 1 - MOST_VERSIONS], names[1 - MOST_VERSIONS :]
    together = [sum(counts) for counts in zip(*(devices[name] for name in older), strict=True)]
    return {f"{len(older)} older versions": together, **{name: devices[name] for name in newer}}


def accuracy(curve: Accuracy) -> Figure:
    """Right answers over time; a cold restart as a shadow, what happened as marks on top."""
    times = list(curve.times_ms)
    own, cold = _percents(curve.accuracy), _percents(curve.cold)
    known = [value for value in [*own, *cold] if value is not None]
    low = max(0.0, 10 * (min(known, default=0.0) // 10) - 5)
    traces: list[Figure] = []
    if any(value is not None for value in cold):
        traces.append(
            {**_line(times, cold, "a cold restart", SHADE, 1.5), "fill": "tozeroy", "fillcolor": f"{SHADE}30"}
        )
        traces[0]["line"]["dash"] = "dot"
    traces.append(_line(times, own, "EML", COLOURS[0], 2.5))
    marks = gathered(curve.marks)
    traces += [
        _marks(kind, [mark for mark in marks if mark.kind == kind]) for kind in dict.fromkeys(m.kind for m in marks)
    ]
    layout = _layout("% right", hovermode="closest")
    layout["yaxis"]["range"] = [low, 109]
    layout["shapes"] = [_upright(mark) for mark in marks]
    return {"data": traces, "layout": layout}


def accuracy_text(curve: Accuracy) -> str:
    """The curve in words."""
    known = [(time, value) for time, value in zip(curve.times_ms, curve.accuracy, strict=True) if value is not None]
    if not known:
        return "No labels yet: accuracy appears with the first label."
    (worst_at, worst), newest = min(known, key=lambda point: point[1]), known[-1][1]
    text = f"Now {words.percent(newest)} right; lowest {words.percent(worst)} at {words.moment(worst_at)} UTC."
    if curve.marks:
        text += f" {words.plural(len(curve.marks), 'event')}, the last: {words.plain(curve.marks[-1].text)}."
    return text


def _line(times: list[int], values: list[float | None], name: str, colour: str, width: float) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": times,
        "y": values,
        "name": name,
        "line": {"color": colour, "width": width},
        "hovertemplate": "%{y:.1f} %<extra>" + name + "</extra>",
    }


def _marks(kind: str, marks: list[Mark]) -> Figure:
    texts = [
        f"{words.moment(mark.time_ms)}<br>{label(mark.text)}<br>{words.plural(mark.devices, 'device')}"
        for mark in marks
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [mark.time_ms for mark in marks],
        "y": [EVOLUTIONS_AT if kind == "evolution" else OTHERS_AT] * len(marks),
        "name": label(kind),
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"symbol": SHAPES.get(kind, "square"), "size": 11, "color": COLOURS[1 if kind == "evolution" else 3]},
    }


def _upright(mark: Mark) -> Figure:
    line = {"width": 1, "color": SHADE, "dash": "solid" if mark.kind == "evolution" else "dot"}
    return {
        "type": "line",
        "x0": mark.time_ms,
        "x1": mark.time_ms,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": line,
        "layer": "below",
    }


def _percents(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None else 100 * value for value in values]


def _layout(unit: str, hovermode: str) -> Figure:
    font = {"family": "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif", "size": 13}
    return {
        "font": font,
        "margin": {"l": 48, "r": 12, "t": 8, "b": 32},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": hovermode,
        "dragmode": False,
        "xaxis": {"type": "date", "fixedrange": True, "showgrid": False, "zeroline": False, "nticks": 6},
        "yaxis": {"title": {"text": unit}, "fixedrange": True, "rangemode": "tozero", "zeroline": False, "nticks": 6},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        "showlegend": True,
        "uirevision": "kept",
    }

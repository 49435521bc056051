"""The drawings of the documentation: `python -m tools.figures` writes docs/images/*.svg.

Plain SVG with its own background, readable on a light and on a dark page, on the site and in the repository. The
files are kept, so only whoever changes a drawing runs this.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parents[1] / "docs/images"
LINE = 17  # pixels from one line of text to the next
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
.b { font-weight: 600 } .s { fill: #57606a; font-size: 12px } .bg { fill: #f6f8fa }
.box { fill: #ffffff; stroke: #8c959f } .ours { fill: #e8eaf6; stroke: #3f51b5 } .old { fill: #c9ced6 }
.new { fill: #3f51b5 } .both { fill: #7986cb } .gone { fill: #d08b5b } .arrow { stroke: #57606a; fill: none }
.tip { fill: #57606a } .dash { stroke: #57606a; stroke-dasharray: 4 3; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .s { fill: #9da7b3 } .bg { fill: #161b22 } .box { fill: #0d1117; stroke: #6e7681 }
.ours { fill: #1f2650; stroke: #8c9eff } .old { fill: #545d68 } .new { fill: #8c9eff } .both { fill: #6573c3 }
.arrow, .dash { stroke: #9da7b3 } .tip { fill: #9da7b3 } }
"""


class Drawing:
    """Boxes, arrows and words on a sheet."""

    def __init__(self, width: int, height: int, says: str) -> None:
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' role="img" aria-label="{escape(says)}"><style>{STYLE}</style>'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
            ' orient="auto-start-reverse"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
            f'<rect class="bg" width="{width}" height="{height}" rx="8"/>'
        )
        self._parts: list[str] = []

    def box(self, x: int, y: int, width: int, height: int, lines: Sequence[str], kind: str = "box") -> None:
        """A box with lines of text in its middle; the first is its name."""
        self._parts.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6" stroke-width="1.3"/>'
        )
        top = y + height / 2 - LINE * (len(lines) - 1) / 2 + 4.5
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + number * LINE, line, "s" if number else "b", "middle")

    def bar(self, x: int, y: int, width: int, height: int, kind: str) -> None:
        """A filled bar without text."""
        self._parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="3"/>')

    def dot(self, x: int, y: int, kind: str) -> None:
        """A record."""
        self._parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="7"/>')

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """A line of text."""
        self._parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>')

    def arrow(self, *points: tuple[int, int], both: bool = False) -> None:
        """An arrow along points."""
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        start = ' marker-start="url(#tip)"' if both else ""
        self._parts.append(f'<path class="arrow" stroke-width="1.4" d="{path}" marker-end="url(#tip)"{start}/>')

    def dashed(self, x: int, top: int, bottom: int) -> None:
        """A moment in time."""
        self._parts.append(f'<path class="dash" d="M{x} {top} V{bottom}"/>')

    def save(self, name: str) -> None:
        """Write the file."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{name}.svg").write_text(self._head + "\n".join(self._parts) + "</svg>\n", encoding="utf-8")


def overview() -> None:
    """From the devices to the predictions."""
    sheet = Drawing(860, 268, "Devices send readings to Kafka; EML on Flink predicts and learns; results go to Kafka")
    sheet.box(20, 94, 120, 80, ["Devices", "firmware 1, 2, 3", "mixed"])
    sheet.box(190, 94, 140, 80, ["Kafka", "readings (Avro)"])
    sheet.box(
        390,
        74,
        190,
        120,
        ["EML on Flink", "a model per key:", "predict, then learn;", "evolve with the schema"],
        "ours",
    )
    sheet.box(390, 12, 190, 36, ["Schema registry"])
    sheet.box(190, 208, 140, 44, ["Kafka", "labels, sooner or later"])
    outs = (
        ("predictions", "one per reading, at once"),
        ("scores", "right or wrong, once known"),
        ("evolutions", "what changed, what it cost"),
        ("dead-letters", "record and reason"),
    )
    for number, (name, says) in enumerate(outs):
        y = 21 + 58 * number
        sheet.box(650, y, 190, 48, [name, says])
        sheet.arrow((582, 134), (616, 134), (616, y + 24), (648, y + 24))
    sheet.arrow((142, 134), (188, 134))
    sheet.arrow((332, 134), (388, 134))
    sheet.arrow((485, 50), (485, 72), both=True)
    sheet.arrow((332, 230), (485, 230), (485, 196))
    sheet.save("overview")


def journey() -> None:
    """What happens to a record inside the job."""
    sheet = Drawing(
        860, 330, "A record inside the job: collected in Java, decoded, predicted and learnt in Python, written by Java"
    )
    sheet.text(24, 30, "Java", "b")
    sheet.box(24, 44, 150, 60, ["Kafka source", "bytes, key, headers"])
    sheet.box(24, 134, 150, 60, ["Micro-batch", "250 ms, by bucket"])
    sheet.text(236, 30, "Python: one call for a bucket of many models", "b")
    sheet.box(236, 44, 150, 60, ["1. Decode", "schema by its id"])
    sheet.box(236, 134, 150, 60, ["2. Choose a model", "by key and version"])
    sheet.box(446, 134, 150, 60, ["3. Predict", "before any label"], "ours")
    sheet.box(446, 224, 150, 60, ["4. Join the label", "now or later"])
    sheet.box(236, 224, 150, 60, ["5. Learn", "when a window closes"], "ours")
    sheet.box(446, 44, 150, 60, ["Schema registry", "asked once per id"])
    sheet.text(670, 30, "Java", "b")
    for number, name in enumerate(("predictions", "scores", "evolutions", "dead-letters")):
        sheet.box(670, 44 + 48 * number, 160, 36, [name])
    sheet.box(670, 240, 160, 60, ["State of a key", "bytes, checkpointed"])
    sheet.arrow((99, 106), (99, 132))
    sheet.arrow((176, 164), (206, 164), (206, 74), (234, 74))
    sheet.arrow((388, 74), (444, 74), both=True)
    sheet.arrow((311, 106), (311, 132))
    sheet.arrow((388, 164), (444, 164))
    sheet.arrow((521, 196), (521, 222))
    sheet.arrow((444, 254), (388, 254))
    sheet.arrow((311, 222), (311, 196))
    sheet.arrow((598, 164), (634, 164), (634, 124), (668, 124))
    sheet.arrow((311, 286), (311, 312), (634, 312), (634, 270), (668, 270), both=True)
    sheet.save("journey")


def evolution() -> None:
    """Features over time, and the two stages."""
    sheet = Drawing(860, 366, "Features over two schema versions: the T-stage before the switch, the I-stage after it")
    left, switch, right, announced = 170, 500, 830, 330
    sheet.text(announced, 24, "version 2 is registered", "s", "middle")
    sheet.text(switch, 24, "first record of version 2", "s", "middle")
    bars = (
        ("temperature", left, right, "both"),
        ("vibration_x", left, right, "both"),
        ("oil_pressure", left, switch, "gone"),
        ("acoustic", switch, right, "new"),
    )
    for number, (name, start, end, kind) in enumerate(bars):
        sheet.text(24, 61 + 40 * number, name)
        sheet.bar(start, 44 + 40 * number, end - start, 24, kind)
    sheet.text(switch + 8, 141, "vanishes", "s")
    sheet.text(switch - 8, 181, "new", "s", "end")
    sheet.dashed(announced, 30, 344)
    sheet.dashed(switch, 30, 344)
    sheet.box(announced + 4, 218, switch - announced - 8, 52, ["T-stage", "survivors take over"], "ours")
    sheet.box(switch + 4, 218, 200, 52, ["I-stage", "the model gains acoustic"], "ours")
    sheet.text(24, 248, "what it learns")
    sheet.box(left, 286, switch - left - 4, 44, ["one metric and linear weights"])
    sheet.box(switch + 4, 286, right - switch - 4, 44, ["carried over, and a fresh start beside it"])
    sheet.text(24, 312, "who answers")
    sheet.text(left, 354, "time", "s")
    sheet.arrow((left + 34, 350), (right, 350))
    sheet.save("evolution")


def views() -> None:
    """How views become one answer."""
    sheet = Drawing(860, 280, "Four views give class probabilities; a mixture weighs them by their log loss so far")
    sheet.box(24, 110, 110, 56, ["A record", "its values"])
    rows = (
        ("survived", "the model as it was, without new features"),
        ("joint", "metric of all features, old exemplars estimated"),
        ("linear", "logistic regression over the same exemplars"),
        ("fresh", "only what came since the evolution"),
    )
    for number, (name, says) in enumerate(rows):
        y = 16 + 64 * number
        sheet.box(190, y, 320, 52, [name, says], "ours")
        sheet.arrow((136, 138), (162, 138), (162, y + 26), (188, y + 26))
        sheet.arrow((512, y + 26), (540, y + 26), (540, 138), (568, 138))
    sheet.box(570, 98, 160, 80, ["Mixture", "shares follow the", "log loss so far"])
    sheet.box(770, 110, 76, 56, ["Answer"])
    sheet.arrow((732, 138), (768, 138))
    sheet.save("views")


def rollout() -> None:
    """Versions that interleave in one key."""
    sheet = Drawing(860, 234, "Records of two versions interleave; each is answered by the model of its own version")
    order = "1112121222221222"
    sheet.text(24, 52, "records of a key")
    sheet.text(24, 110, "model of version 1")
    sheet.text(24, 166, "model of version 2")
    for number, version in enumerate(order):
        x, kind = 180 + 40 * number, "gone" if version == "1" else "new"
        sheet.dot(x, 48, kind)
        sheet.text(x, 30, version, "s", "middle")
        sheet.arrow((x, 58), (x, 94 if version == "1" else 150))
    sheet.bar(170, 98, 120, 16, "gone")
    sheet.bar(296, 98, 534, 16, "old")
    sheet.bar(290, 154, 540, 16, "new")
    sheet.text(24, 200, "Version 1: kept for late records, for learning.former_ms after its last one.", "s")
    sheet.text(24, 218, "Version 2: begins with all that version 1 knew. From then on every label teaches both.", "s")
    sheet.save("rollout")


def main() -> int:
    """Draw all."""
    for draw in (overview, journey, evolution, views, rollout):
        draw()
    return 0


if __name__ == "__main__":
    sys.exit(main())

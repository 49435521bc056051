"""The result of `eml check`: for people and for a pull request; and whether it is well.

Called by `check_command`, and by `check_fields` for programs, with what `schema_check`, registry and `effect` found.
Names in a schema are a stranger's: they are made plain, and in Markdown they stand in code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eml.operations.effect import FEWEST, Difference, Effect
from eml.operations.schema_check import Comparison
from eml.operations.text import percent, plain
from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.registry.answers import Verdict
from eml.terminal import paint

MESSAGES_SHOWN = 10
MESSAGE = 300  # characters of a message
NEW_ONES = "What new features bring is not in these figures: no device has sent them."
EXPECTED = (
    "An expectation, not a promise: the last captured readings, each predicted before its label was learnt, as if the "
    "switch had come before the first of them."
)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All that is known of a schema before its roll-out."""

    schema: str  # the file
    base: str  # what it is compared with, in words; empty: nothing
    comparison: Comparison
    verdict: Verdict | None = None  # of the registry; None: it was not asked
    effect: Effect | None = None  # None: no records were given
    most_drop: float | None = None  # percentage points that are allowed

    @property
    def problems(self) -> list[str]:
        """Why it should not be rolled out; empty: nothing speaks against it."""
        found = []
        if self.comparison.refused:
            found.append(f"the job refuses the schema: {plain(self.comparison.refused, MESSAGE)}")
        if self.verdict is not None and not self.verdict.compatible:
            found.append("the registry does not take it")
        if self.most_drop is not None and self.effect is not None:
            found += _beyond(self.effect, self.most_drop)
        return found


def _beyond(effect: Effect, most: float) -> Iterator[str]:
    if effect.drop is None:
        yield f"--max-drop cannot be judged: {_too_few(effect)}"
    elif -effect.drop.points > most:
        yield f"accuracy is expected to drop by {-effect.drop.points:.1f} points, {most:g} are allowed (--max-drop)"


def _too_few(effect: Effect) -> str:
    if not effect.labels:
        return "accuracy needs records with labels (--records): there are none"
    return f"{effect.labels} held-out labels are too few to tell ({FEWEST} at least): capture more records"


# -- for people --------------------------------------------------------------------------------------------------------


def text(report: CheckReport) -> str:
    """Some lines for a terminal."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: CheckReport) -> Iterator[str]:
    against = f" against {plain(report.base)}" if report.base else ""
    yield paint(f"{plain(report.schema)}{against}", "bold")
    for name, content in _facts(report):
        yield f"{name:<11} {content}"
    if report.effect is not None:
        yield "expected effect"
        yield from (f"  {line}" for line in _effect_lines(report.effect, report.comparison))
    problems = report.problems
    for problem in problems:
        yield paint(problem, "fail")
    if not problems:
        yield paint(_fine(report), "ok")


def _fine(report: CheckReport) -> str:
    """What remains to be said where nothing refuses it."""
    drop = report.effect.drop if report.effect is not None else None
    if drop is not None and drop.high < 0:
        return f"nothing refuses it, but accuracy is expected to drop by {-drop.points:.1f} points"
    return "nothing refuses it"


def _facts(report: CheckReport, quote: str = "") -> Iterator[tuple[str, str]]:
    """What is known, by name; `quote` goes around names."""
    compared = report.comparison
    if report.verdict is not None:
        yield "registry", _verdict(report.verdict)
        for message in report.verdict.messages[:MESSAGES_SHOWN]:
            yield "", plain(message, MESSAGE)
    if compared.schema is None:
        return
    yield from _changes(report, compared.schema, quote)
    yield "reserved", _listed(compared.schema.reserved, quote)
    for each in compared.schema.ignored:
        yield "ignored", f"{_quoted(each.name, quote)}: {plain(each.reason)}"
    for warning in compared.schema.warnings:
        yield "warning", plain(warning, MESSAGE)
    for hint in compared.hints:
        yield "hint", plain(hint, MESSAGE)


def _changes(report: CheckReport, schema: ReadingSchema, quote: str) -> Iterator[tuple[str, str]]:
    """What happens to the features."""
    space, change = schema.space, report.comparison.change
    if change is None:
        yield "features", _listed(space.names, quote)
    else:
        yield "vanished", _vanished(report, quote)
        yield "survived", _listed([name for name in change.survived if name not in change.renamed], quote)
        yield "new", _listed(change.augmented, quote)
        for new, old in change.renamed.items():
            yield "renamed", f"{_quoted(old, quote)} to {_quoted(new, quote)}"
    if space.categories:
        yield "categories", _listed([name for name in space.names if name in space.categories], quote)
    if report.comparison.retiring:
        yield "retiring", _listed(report.comparison.retiring, quote)


def _verdict(verdict: Verdict) -> str:
    mode = f" (mode {plain(verdict.mode)})" if verdict.mode else ""
    if not verdict.compatible:
        return f"does not take it{mode}"
    if not verdict.mode:
        return "takes it: there is no version yet that it would have to fit"
    return f"takes it{mode}{': this mode refuses nothing' if verdict.mode == 'NONE' else ''}"


def _vanished(report: CheckReport, quote: str) -> str:
    change, kept = report.comparison.change, report.effect.takeovers if report.effect is not None else {}
    if change is None or not change.vanished:
        return "none"
    said = []
    for name in change.vanished:
        takeover = kept.get(name)
        by = f", most from {_quoted(takeover.by, quote)}" if takeover is not None and takeover.by else ""
        known = "" if takeover is None else f" ({percent(takeover.share)} of it known from survivors{by})"
        said.append(f"{_quoted(name, quote)}{known}")
    return ", ".join(said)


def _quoted(name: str, quote: str) -> str:
    return f"{quote}{plain(name).replace('`', '')}{quote}"


def _listed(names: Sequence[str], quote: str) -> str:
    return ", ".join(_quoted(name, quote) for name in names) or "none"


def _effect_lines(effect: Effect, compared: Comparison) -> Iterator[str]:
    if not effect.enough:
        yield _too_few(effect)
        return
    for name, accuracy, more in _figures(effect):
        yield f"{name:<44} {accuracy:>6}  {more}".rstrip()
    yield f"{effect.labels} held-out labels of {effect.models} models, which had learnt {effect.learnt} labels"
    if effect.cold:
        yield f"{effect.cold} models begin anew: nothing survives"
    if compared.change is not None and compared.change.augmented:
        yield NEW_ONES
    yield EXPECTED


def _figures(effect: Effect) -> Iterator[tuple[str, str, str]]:
    yield "as it is", _accuracy(effect.now), ""
    yield "vanished features missing, nothing else", _accuracy(effect.without), ""
    yield "after the switch (T-stage)", _accuracy(effect.evolved), _points(effect.drop)
    if effect.gain is not None:
        yield "what the T-stage saves", "", _points(effect.gain)


def _accuracy(accuracy: float | None) -> str:
    return "" if accuracy is None else f"{accuracy:.1f} %"


def _points(difference: Difference | None) -> str:
    if difference is None:
        return ""
    return f"{difference.points:+.1f} points ({difference.low:+.1f} to {difference.high:+.1f})"


# -- for a pull request ------------------------------------------------------------------------------------------------


def markdown(report: CheckReport) -> str:
    """A comment for a pull request."""
    return "\n".join(_markdown(report)) + "\n"


def _markdown(report: CheckReport) -> Iterator[str]:
    against = f" against {_quoted(report.base, '`')}" if report.base else ""
    yield f"### `{plain(report.schema)}`{against}"
    yield ""
    problems = report.problems
    yield from (f"**{problem}**" for problem in problems)
    if not problems:
        yield _fine(report)
    yield from ["", "| | |", "|---|---|"]
    for name, content in _facts(report, "`"):
        yield f"| {name} | {content.replace('|', chr(92) + '|')} |"
    effect = report.effect
    if effect is None:
        return
    yield from ["", "#### Expected effect", ""]
    if not effect.enough:
        yield f"{_too_few(effect)}."
        return
    yield from ["| right predictions | | (95 %) |", "|---|---:|---|"]
    for name, accuracy, more in _figures(effect):
        yield f"| {name} | {accuracy} | {more} |"
    yield ""
    yield f"{effect.labels} held-out labels of {effect.models} models. {EXPECTED} {NEW_ONES}"

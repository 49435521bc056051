"""What the job wrote, as lines for people: a prediction, a score, an event, a dead letter each on one.

Called by `eml tail`. Takes the fields of `schemas/` by their names, and what `dead_letter_reader` made of headers. All
names come from devices: they go through `text.plain`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from eml.operations.text import percent, plain, time_of
from eml.stream.output.dead_letter_reader import ReadDeadLetter
from eml.terminal import paint

Fields = Mapping[str, Any]
NAMES_SHOWN = 6  # features on a line
SCORES_SHOWN = 3  # classes beside the predicted one


def prediction_line(fields: Fields) -> str:
    """Whose reading it is, the predicted class with its probability and the next ones, and the model's stage."""
    scores: Mapping[str, float] = fields["scores"]
    said = fields["label"]
    if said is None:
        answer = paint(f"no label: {plain(fields['reason'])}", "dim")
    else:
        others = sorted(((score, name) for name, score in scores.items() if name != said), reverse=True)[:SCORES_SHOWN]
        rest = ", ".join(f"{plain(name)} {percent(score)}" for score, name in others)
        answer = f"{paint(plain(said), 'bold')} {percent(scores.get(said, 0.0))}{f' ({rest})' if rest else ''}"
    return _line(
        fields["event_time"] or fields["source_timestamp"],
        fields["key"],
        answer,
        _truth(said, fields["truth"]),
        paint("late", "warn") if fields["late"] else "",
        paint(f"version {fields['schema_version']}, {plain(fields['stage'])}", "dim"),
    )


def _truth(said: str | None, truth: str | None) -> str:
    if truth is None:
        return ""
    return paint("right", "ok") if said == truth else paint(f"wrong: it is {plain(truth)}", "fail")


def score_line(fields: Fields) -> str:
    """Right or wrong, what a cold restart would have said, and how late the label was."""
    said, truth = fields["label"], plain(fields["truth"])
    answer = paint(f"right: {truth}", "ok")
    if not fields["right"]:
        predicted = "nothing was predicted" if said is None else f"{plain(said)} was predicted"
        answer = paint(f"wrong: {predicted}, it is {truth}", "fail")
    cold = fields["cold_right"]
    return _line(
        fields["event_time"] or fields["source_timestamp"],
        fields["key"],
        answer,
        "" if cold is None else f"a cold restart is {'right' if cold else 'wrong'}",
        f"label after {fields['wait_ms'] / 1000:.1f} s" if fields["wait_ms"] else "",
        paint(f"version {fields['schema_version']}", "dim"),
    )


def evolution_line(fields: Fields) -> str:
    """What happened to a model, in words for each kind."""
    describe = KINDS.get(fields["kind"], _changes)
    kind = paint(plain(fields["kind"]), "bold")
    return _line(
        fields["event_time"] or fields["source_timestamp"], fields["key"], f"{kind} {describe(fields)}".rstrip()
    )


def _evolution(fields: Fields) -> str:
    manner = ["announced" if fields["announced"] else "", "" if fields["warm"] else "a cold start"]
    said = ", ".join(filter(None, manner))
    return f"{_versions(fields)}: {_changes(fields)}{f' ({said})' if said else ''}"


def _versions(fields: Fields) -> str:
    return f"version {fields['old_version']} to {fields['new_version']}"


def _changes(fields: Fields) -> str:
    """Features that came and went, with what survivors kept of the vanished ones."""
    renamed = [f"{old} is now {new}" for new, old in fields["renamed"].items()]
    vanished = [f"{name}{_kept(fields['takeovers'].get(name))}" for name in fields["vanished"]]
    groups = {
        "vanished": vanished,
        "new": [name for name in fields["augmented"] if name not in fields["returned"]],
        "back": fields["returned"],
        "renamed": renamed,
    }
    return "; ".join(f"{what}: {_listed(names)}" for what, names in groups.items() if names) or "no feature changed"


def _kept(takeover: Mapping[str, Any] | None) -> str:
    if takeover is None or takeover["by"] is None:
        return ""
    return f" ({percent(takeover['share'])} known from others, most from {takeover['by']})"


def _announced(fields: Fields) -> str:
    return f"version {fields['new_version']}: {_changes(fields)}"


def _resumed(fields: Fields) -> str:
    return f"{_versions(fields)}, whose model was kept"


def _recovery(fields: Fields) -> str:
    figures = fields["recovery"] or {}
    if not figures:
        return ""
    before, regret, back = figures["accuracy_before"], figures["regret"], figures["back_after"]
    parts = [
        "" if before is None else f"{percent(before)} right before",
        f"{percent(figures['accuracy_first'])} of the first {figures['first_records']} after",
        f"{percent(figures['accuracy'])} of all {figures['scored']}",
        "" if back is None else f"back after {back}",
        "" if regret is None else f"regret against a cold restart {regret}",
    ]
    return ", ".join(filter(None, parts))


def _drift(fields: Fields) -> str:
    drift = fields["drift"] or {}
    if not drift:
        return ""
    return f"{percent(drift['error_before'])} of predictions were wrong, now {percent(drift['error_after'])} are"


def _warm_start(fields: Fields) -> str:
    return f"began with the model of {plain(fields['donor'])}"


KINDS: Mapping[str, Callable[[Fields], str]] = {
    "evolution": _evolution,
    "announced": _announced,
    "withdrawn": _announced,
    "resumed": _resumed,
    "recovery": _recovery,
    "drift": _drift,
    "warm-start": _warm_start,
}


def dead_letter_line(place: str, key: str, letter: ReadDeadLetter) -> str:
    """The reason, the message, and where dead letter and record stand."""
    again = f" (sent again {letter.replays} times)" if letter.replays else ""
    return _line(
        letter.timestamp_ms,
        key or "no key",
        f"{paint(plain(letter.reason), 'fail')}{again}: {plain(letter.message)}",
        paint(f"{place} of {plain(letter.source)}", "dim"),
    )


def _line(timestamp_ms: object, key: object, *parts: str) -> str:
    return "  ".join([paint(time_of(timestamp_ms), "dim"), plain(key), *filter(None, parts)])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(map(plain, names[:NAMES_SHOWN])) + more

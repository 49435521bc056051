"""Reference pages from the code, as Markdown: `python -m tools.reference FOLDER`, called by `make docs`.

Settings come from the dataclasses, with what deploy/eml.toml says of each, metrics from the object that the operator
counts with, fields of our topics from schemas/, commands from argparse. What the code does not say (what a metric
means) comes from a table that a person wrote; a name without a row there is an error, and so is a row without a name.
"""

import argparse
import inspect
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from eml import cli, job, terminal
from eml.settings import Settings

ROOT = Path(__file__).parents[1]
COMMENTED = re.compile(r"^\s*(?P<name>\w+)(?:: [^=]+)? = .+?  # (?P<comment>.+)$", re.MULTILINE)
PROPERTIES = "any properties of Kafka's Java client, one on each line of `[kafka.properties]`; secrets are not logged"
TABLE_ROW = re.compile(r"^\| (?P<names>`.+?) \| (?P<text>.+) \|$", re.MULTILINE)


def main(argv: Sequence[str] | None = None) -> int:
    """Write all pages into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    os.environ["COLUMNS"] = "102"  # as wide as argparse writes its help here, whatever the terminal
    folder: Path = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


def pages() -> dict[str, str]:
    """All pages by file name."""
    return {"settings.md": settings(), "metrics.md": metrics(), "topics.md": topics(), "cli.md": commands()}


# -- settings ----------------------------------------------------------------------------------------------------------


def settings() -> str:
    """Every setting with its default, its variable in the environment and its reason."""
    lines = [
        "# Settings",
        "",
        "A settings file is TOML. Only `kafka.bootstrap_servers` and `registry.url` must be set. Each setting can also",
        "be given in the environment, which wins over the file: `start` of `[kafka]` is `EML_KAFKA_START`.",
        "An unknown or wrong setting stops the start, with the place, the reason and what to write instead.",
        "",
        "[deploy/eml.toml](../../deploy/eml.toml) has all of them with their defaults, ready to copy.",
    ]
    example = _comments_by_section((ROOT / "deploy/eml.toml").read_text(encoding="utf-8"))
    for section in fields(Settings):
        values = getattr(Settings(), section.name)
        lines += ["", f"## [{section.name}]", "", inspect.getdoc(type(values)) or "", ""]
        lines += ["| setting | default | what it does |", "|---|---|---|"]
        for field in fields(values):
            says = _sentence(example[section.name].get(field.name, PROPERTIES))
            lines.append(f"| `{field.name}` | {_default(field)} | {_cell(says)} |")
    return "\n".join(lines) + "\n"


def _comments(source: str) -> dict[str, str]:
    return {found["name"]: found["comment"] for found in COMMENTED.finditer(source)}


def _comments_by_section(text: str) -> dict[str, dict[str, str]]:
    parts = re.split(r"^\[(\w+)\].*$", text, flags=re.MULTILINE)
    return {
        name: _comments(re.sub(r" {2,}#", "  #", body)) for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def _default(field: Field[Any]) -> str:
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    if value in ("", None) or value == {}:
        return ""
    if isinstance(value, tuple):
        value = list(value)
    return f"`{value:_}`" if type(value) is int and value >= 1000 else f"`{json.dumps(value)}`"


def _sentence(comment: str) -> str:
    return comment[:1].upper() + comment[1:]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


# -- metrics -----------------------------------------------------------------------------------------------------------


class _Names:
    """Stands in for Flink's group of metrics, and writes down what is asked of it."""

    def __init__(self) -> None:
        self.counters: list[str] = []
        self.distributions: list[str] = []

    def counter(self, name: str) -> None:
        """A counter is made."""
        self.counters.append(name)

    def distribution(self, name: str) -> None:
        """A distribution is made."""
        self.distributions.append(name)


def metrics() -> str:
    """Every metric of the operator and what it counts."""
    from eml.flink.metrics import Metrics  # noqa: PLC0415  imports pyflink, which the other pages do not need

    names = _Names()
    Metrics(names)
    table = _part(ROOT / "deploy/README.md", "## What to watch").replace("../schemas/README.md", "topics.md")
    told = _descriptions(table, [*names.counters, *names.distributions])
    lines = [
        "# Metrics",
        "",
        "The operator counts these as Flink metrics. With Flink's Prometheus reporter a name begins with",
        "`flink_taskmanager_job_task_operator_`. Beside them each",
        "[reason of a dead letter](topics.md#dead-letters) has a counter `dead_letters_<reason>`, which appears with",
        "its first record.",
    ]
    for title, kind in (("Counters", names.counters), ("Distributions", names.distributions)):
        lines += ["", f"## {title}", "", "| metric | what |", "|---|---|"]
        lines += [f"| `{name}` | {told[name]} |" for name in kind]
    lines += [
        "",
        "Watch Flink's own `failedCommittables` of the sinks, too: above 0, a transaction outlived its timeout and",
        "results were lost.",
    ]
    return "\n".join(lines) + "\n"


def _part(file: Path, heading: str) -> str:
    text = file.read_text(encoding="utf-8").partition(f"{heading}\n")[2]
    return re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]


def _descriptions(text: str, names: Sequence[str]) -> dict[str, str]:
    """What a table says of each name."""
    found: dict[str, str] = {}
    for row in TABLE_ROW.finditer(text):
        for name in re.findall(r"`(\w+)`", row["names"]):
            found[name] = _sentence(row["text"])
    missing = [name for name in names if name not in found]
    if missing:
        raise SystemExit(f"tools.reference: no description of {', '.join(missing)}: add a row to the table")
    return found


# -- topics ------------------------------------------------------------------------------------------------------------


def topics() -> str:
    """Fields of what the job writes, kinds of events, reasons of dead letters."""
    rules = (ROOT / "schemas/README.md").read_text(encoding="utf-8")
    kinds = rules.partition("**Kinds of events**\n\n")[2].partition("\n\n")[0]
    letters = rules.partition("## Dead letters\n\n")[2].replace("../deploy/FAILURES.md", "../../deploy/FAILURES.md")
    lines = [
        "# Topics",
        "",
        "What the job writes. [Your own schemas](../../schemas/README.md) has the rules for what it reads.",
    ]
    titles = {"prediction": "Predictions", "score": "Scores", "evolution": "Events", "label": "Labels"}
    for name, title in titles.items():
        schema = json.loads((ROOT / f"schemas/{name}.avsc").read_text(encoding="utf-8"))
        lines += ["", f"## {title}", "", schema.get("doc", ""), ""]
        lines += [*_kinds(kinds)] if name == "evolution" else []
        lines += ["| field | type | meaning |", "|---|---|---|", *_fields(schema)]
    return "\n".join([*lines, "", "## Dead letters", "", letters.rstrip()]) + "\n"


def _kinds(table: str) -> Iterator[str]:
    yield from table.splitlines()
    yield ""


def _fields(schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for field in schema["fields"]:
        name = f"{prefix}{field['name']}"
        yield f"| `{name}` | {_cell(_type(field['type']))} | {_cell(field.get('doc', ''))} |"
        for inner in _records(field["type"]):
            yield from _fields(inner, f"{name}.")


def _type(kind: Any) -> str:  # noqa: ANN401  Avro's JSON
    if isinstance(kind, list):
        several = [_type(one) for one in kind if one != "null"]
        return " or ".join(several) + (", or null" if "null" in kind else "")
    if isinstance(kind, dict):
        if kind["type"] in ("map", "array"):
            inner = kind["values"] if kind["type"] == "map" else kind["items"]
            return f"{kind['type']} of {_type(inner)}"
        return str(kind.get("logicalType") or (kind["name"] if kind["type"] == "record" else kind["type"]))
    return str(kind)


def _records(kind: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    if isinstance(kind, list):
        for one in kind:
            yield from _records(one)
    elif isinstance(kind, dict):
        if kind["type"] == "record":
            yield kind
        yield from _records(kind.get("values", kind.get("items")))


# -- command line ------------------------------------------------------------------------------------------------------


def commands() -> str:
    """The help of every command, behind what all have in common."""
    lines = ["# Command line", "", *_manners(), "", "What `--help` prints:"]
    parsers = [*cli.parsers(cli.build_parser()), job._parser()]  # noqa: SLF001  the job has one command, and this is it
    for parser in parsers:
        lines += ["", f"## {parser.prog}", "", "```text", parser.format_help().rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _manners() -> list[str]:
    rows = [f"| {number} | {meaning} |" for number, meaning in terminal.STATUSES.items()]
    return [
        "## Exit status",
        "",
        "| status | meaning |",
        "|---:|---|",
        *rows,
        "",
        "## Settings",
        "",
        "A command that needs the job's settings takes the file of `--settings`, else the one that the variable",
        f"`EML_SETTINGS` names, else `{terminal.SETTINGS_FILE}` in the current folder. Variables like",
        "`EML_KAFKA_START` win over the file, and `-S kafka.start=latest` wins over both.",
        "",
        "## Errors, colours, completion",
        "",
        "What is wrong is said in one line on the standard error, with the setting to change; `--debug` adds Python's",
        "traceback. Colours and progress are for terminals: pipes get neither, and `NO_COLOR` turns colours off.",
        '`eval "$(eml completion bash)"` (or `zsh`) has the shell complete commands, options and files.',
    ]


if __name__ == "__main__":
    sys.exit(main())

"""`eml check` on the command line: its options, where its parts come from, and its exit status."""

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from eml.terminal import (
    OK,
    PROBLEM,
    USAGE,
    CommandError,
    add_json,
    add_settings,
    examples,
    overrides,
    progress,
    set_run,
    settings_file,
    write_json,
)

if TYPE_CHECKING:
    from eml.local.record_lines import Entry
    from eml.operations.check_report import CheckReport
    from eml.settings import Settings
    from eml.stream.registry.answers import Verdict

LONGEST_FILE = 16_777_216  # bytes: no schema is as long, and a wrong path may be


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml check`."""
    parser = subparsers.add_parser(
        "check",
        help="what a schema would change, before its roll-out",
        description=(
            "What vanishes, survives and comes, what the job ignores or refuses, what the registry says, and what\n"
            "captured records let expect of accuracy. Ends with 1 where the schema is refused or incompatible, or\n"
            "where accuracy is expected to drop by more than --max-drop."
        ),
        epilog=examples(
            "eml check schemas/v2.avsc --against schemas/v1.avsc",
            "eml check schemas/v2.avsc --subject readings-value --records captured.jsonl --max-drop 5 --markdown",
        ),
    )
    parser.add_argument("schema", type=Path, metavar="SCHEMA.avsc", help="the next version")
    base = parser.add_mutually_exclusive_group()
    base.add_argument("--subject", metavar="S", help="compare with its newest version, and ask the registry")
    base.add_argument("--against", type=Path, metavar="FILE", help="compare with this schema; no registry is needed")
    parser.add_argument("--records", type=Path, metavar="FILE", help="of `eml capture`: try it with their models")
    parser.add_argument(
        "--model",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a learner's snapshot: what its survivors know of what vanishes, no accuracy (repeatable)",
    )
    parser.add_argument(
        "--max-drop", type=_points, metavar="POINTS", help="percentage points of accuracy to lose at most"
    )
    form = parser.add_mutually_exclusive_group()
    add_json(form)  # type: ignore[arg-type]  # a group has what is needed of a parser
    form.add_argument("--markdown", action="store_true", help="print Markdown, for a pull request")
    add_settings(parser)
    set_run(parser, _run)


def _points(text: str) -> float:
    try:
        points = float(text)
    except ValueError:
        points = -1.0
    if not 0 <= points <= 100:
        raise argparse.ArgumentTypeError(f"percentage points from 0 to 100 are needed, not {text!r}")
    return points


def _run(arguments: argparse.Namespace) -> int:
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read with numpy's import: sums in the order of the job's
    from eml.operations import check_fields, check_report  # noqa: PLC0415  numpy would slow `eml --help`

    logging.getLogger("eml").addHandler(logging.NullHandler())  # what the job would log is in the report
    if arguments.max_drop is not None and arguments.records is None:
        raise CommandError("--max-drop needs --records: without records nothing is known of accuracy", USAGE)
    report = _report(arguments)
    if arguments.json:
        write_json(check_fields.fields(report))
    else:
        sys.stdout.write(check_report.markdown(report) if arguments.markdown else check_report.text(report))
    return PROBLEM if report.problems else OK


def _report(arguments: argparse.Namespace) -> "CheckReport":
    from eml.local import record_file, replay_settings  # noqa: PLC0415  numpy would slow `eml --help`
    from eml.operations.check_report import CheckReport  # noqa: PLC0415
    from eml.operations.effect import effect_of  # noqa: PLC0415
    from eml.operations.rehearsal import rehearse, take_stock  # noqa: PLC0415
    from eml.operations.schema_check import compare  # noqa: PLC0415
    from eml.stream.errors import BadSchemaError  # noqa: PLC0415

    settings = replay_settings.load(
        settings_file(arguments.settings),
        overrides=overrides(arguments.overrides),
        with_registry=arguments.subject is not None,
    )
    text, verdict = _schema_text(arguments.schema), None
    entries = None
    if arguments.records is not None:
        entries = record_file.read(arguments.records, settings.kafka.readings_topic, settings.kafka.labels_topic)
    if arguments.subject is not None:
        base, base_text, verdict = _of_subject(settings, arguments.subject, text)
    elif arguments.against is not None:
        base, base_text = str(arguments.against), _schema_text(arguments.against)
    else:
        base, base_text = _newest_of(settings, entries or [])
    try:
        compared, effect = compare(text, base_text, settings.record), None
    except BadSchemaError as error:
        raise CommandError(f"{base} cannot be compared with, the job refuses it: {error}") from None
    if compared.schema is not None and (entries is not None or arguments.model):
        space = compared.schema.space
        with progress("trying it with the models"):
            stock = [take_stock(str(path), _snapshot(path), space) for path in arguments.model]
            effect = effect_of([*stock, *(rehearse(settings, entries, space) if entries is not None else [])])
    return CheckReport(str(arguments.schema), base, compared, verdict, effect, arguments.max_drop)


# -- where the schemas come from ---------------------------------------------------------------------------------------


def _schema_text(path: Path) -> str:
    if path.is_file() and path.stat().st_size > LONGEST_FILE:
        raise CommandError(f"{path}: is too long for a schema: is the path right?", USAGE)
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror}): is the path right?", USAGE) from None
    except UnicodeDecodeError:
        raise CommandError(f"{path}: is not UTF-8: save it as such", USAGE) from None


def _snapshot(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror}): is the path right?", USAGE) from None


def _of_subject(settings: "Settings", subject: str, text: str) -> "tuple[str, str | None, Verdict]":
    """The newest version of a subject, and what the registry says of the next one."""
    from eml.stream.registry.client import SchemaRegistry  # noqa: PLC0415  requests would slow `eml --help`

    registry = SchemaRegistry(settings.registry, settings.record)
    try:
        with progress(f"asking {settings.registry.url}"):
            newest = registry.newest(subject)
            verdict = registry.verdict(subject, text)
    finally:
        registry.close()
    if newest is None:
        return "", None, verdict
    schema_id, version, base = newest
    return f"{subject} version {version} (schema {schema_id})", base, verdict


def _newest_of(settings: "Settings", entries: "list[Entry]") -> tuple[str, str | None]:
    """The newest schema of readings among records; nothing where there is none."""
    from eml.local.record_lines import Registered  # noqa: PLC0415  numpy would slow `eml --help`

    ours = [one for one in entries if isinstance(one, Registered) and not one.subject.endswith("-key")]
    readings = [one for one in ours if one.subject.startswith(settings.kafka.readings_topic)] or ours
    if not readings:
        return "", None
    newest = max(readings, key=lambda one: (one.version, one.line))
    return f"{newest.subject} version {newest.version} of the records", newest.text

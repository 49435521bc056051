"""`eml doctor` on the command line: looks whether all is ready for the job, and says what to do where it is not.

Called by `eml.cli`; runs the checks of `machine_checks` and, with settings, of `cluster_checks`.
"""

import argparse
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from eml.terminal import (
    OK,
    PROBLEM,
    add_json,
    add_settings,
    examples,
    load_settings,
    progress,
    set_run,
    settings_file,
    write_json,
)

if TYPE_CHECKING:
    from eml.operations.findings import Finding


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml doctor`."""
    parser = subparsers.add_parser(
        "doctor",
        help="is all ready for the job? Java, memory, ports, Kafka, topics, registry, clocks; with a fix for each",
        description="Looks at this machine and, where there are settings, at Kafka and the schema registry. Ends with"
        " 1 where something keeps the job from running. Changes nothing.",
        epilog=examples("eml doctor", "eml doctor --settings fleet.toml", "eml doctor --json | jq '.[] | .fix'"),
    )
    add_json(parser)
    add_settings(parser)
    set_run(parser, _run)


def _run(arguments: argparse.Namespace) -> int:
    from eml.operations import findings  # noqa: PLC0415  numpy would slow `eml --help`

    with progress("looking"):
        found = _examine(arguments)
    if arguments.json:
        write_json([asdict(finding) for finding in found])
    else:
        findings.show(found)
    return PROBLEM if any(finding.state == findings.FAIL for finding in found) else OK


def _examine(arguments: argparse.Namespace) -> "list[Finding]":
    from eml.operations import machine_checks  # noqa: PLC0415
    from eml.operations.findings import FAIL, WARN, Finding, run_all  # noqa: PLC0415
    from eml.settings import SettingsError  # noqa: PLC0415

    checks, last = machine_checks.checks(), []
    if settings_file(arguments.settings) or arguments.overrides or _in_environment():
        try:
            settings = load_settings(arguments)
        except SettingsError as error:
            last = [Finding("settings", FAIL, problem) for problem in error.problems]
        else:
            from eml.operations import cluster_checks  # noqa: PLC0415

            checks |= cluster_checks.checks(settings)
    else:
        fix = "`eml local up` starts a broker and a registry and writes some; `eml init` writes some for yours"
        last = [Finding("settings", WARN, "there are none: Kafka and the registry are not looked at", fix)]
    return [*run_all(checks), *last]


def _in_environment() -> bool:
    return "EML_KAFKA_BOOTSTRAP_SERVERS" in os.environ

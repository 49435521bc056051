"""`eml init` on the command line: asks for what is not given, has it looked at, writes the file.

Called by `eml.cli`; calls `init`, imported only when the command runs. Nothing is asked where nobody sits.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from eml.terminal import (
    OK,
    SETTINGS_FILE,
    USAGE,
    CommandError,
    add_overrides,
    examples,
    overrides,
    positive,
    progress,
    set_run,
)

if TYPE_CHECKING:
    from eml.settings import Settings

RECORDS = 2_000  # to look at
BROKER, REGISTRY = "localhost:9092", "http://localhost:8081"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml init`."""
    parser = subparsers.add_parser(
        "init",
        help="look at a topic of yours and its schema, and write a settings file with reasons",
        description="Reads the newest records of a topic and their schema, and writes the settings that follow, each"
        " with its reason. Refuses what cannot work: no numeric field, JSON in place of Avro, no key. On a terminal it"
        " asks for what is not given. Addresses stay as the file has them that is written over (--force). How to log in"
        " to Kafka: EML_KAFKA_PROPERTIES, or -S.",
        epilog=examples(
            "eml init --topic turbines --force      # after `eml local up`",
            "eml init --broker kafka:9092 --registry http://registry:8081 --topic turbines --label fault",
        ),
    )
    parser.add_argument("--broker", metavar="ADDRESS", help=f"host:port of Kafka (default {BROKER}, or as set)")
    parser.add_argument("--registry", metavar="URL", help=f"schema registry (default {REGISTRY}, or as set)")
    parser.add_argument("--topic", metavar="NAME", help="with the readings")
    parser.add_argument("--labels", metavar="NAME", help="topic with labels that come later (default: none)")
    parser.add_argument("--subject", metavar="NAME", help="of their schema (default: the one the newest record names)")
    parser.add_argument("--label", metavar="FIELD", help="to predict (default: found by its name)")
    parser.add_argument("--event-id", metavar="FIELD", help="that names a reading (default: found by its name)")
    parser.add_argument("--event-time", metavar="FIELD", help="when it was measured (default: found by its name)")
    parser.add_argument(
        "--records", type=positive, default=RECORDS, metavar="N", help="to look at, the newest (default %(default)s)"
    )
    parser.add_argument(
        "--output", type=Path, default=SETTINGS_FILE, metavar="FILE", help="to write (default %(default)s)"
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    add_overrides(parser, "a setting to look with, as registry.username=me (repeatable)")
    set_run(parser, _run)


def _run(arguments: argparse.Namespace) -> int:
    from eml.local import settings_file  # noqa: PLC0415  numpy would slow `eml --help`
    from eml.operations import init  # noqa: PLC0415

    if arguments.output.exists() and not arguments.force:
        raise CommandError(f"{arguments.output} exists: --output names another file, --force writes over it", USAGE)
    settings = _settings(arguments)
    given = {"label": arguments.label, "event_id": arguments.event_id, "event_time": arguments.event_time}
    with progress(f"looking at {settings.kafka.readings_topic}"):
        draft = init.draft(settings, given, arguments.subject, arguments.records)
    heading = [
        f"Settings of the job, written by `eml init` from the topic {settings.kafka.readings_topic}. Secrets are"
    ]
    heading += ["not in it: give them as EML_KAFKA_PROPERTIES and EML_REGISTRY_PASSWORD. All settings: deploy/eml.toml"]
    settings_file.write(arguments.output, heading, draft.settings)
    sys.stdout.write(f"{init.describe(draft.schema)}\n")
    for remark in (*draft.schema.warnings, *draft.remarks):
        sys.stdout.write(f"note: {remark}\n")
    named = "" if arguments.output == SETTINGS_FILE else f" --settings {arguments.output}"
    sys.stdout.write(f"{arguments.output} is written: read it. Next: `eml topics create{named}`, `eml doctor{named}`,")
    sys.stdout.write(f" `python -m eml.job{named}`.\n")
    return OK


def _settings(arguments: argparse.Namespace) -> "Settings":
    """Where to look: options over the environment over what is asked for."""
    from eml.operations import init  # noqa: PLC0415
    from eml.settings import load  # noqa: PLC0415
    from eml.settings.loading import Draft  # noqa: PLC0415

    before = arguments.output if arguments.output.is_file() else None  # `eml local up` writes its addresses there
    set_ = Draft.of(before, _environment()).values | overrides(arguments.overrides)
    # How to log in stands where the addresses do.
    chosen = {name: value for name, value in set_.items() if name == "kafka.properties" or name.startswith("registry.")}
    chosen |= overrides(arguments.overrides)
    chosen["kafka.bootstrap_servers"] = (
        arguments.broker or set_.get("kafka.bootstrap_servers") or _asked("Kafka's address", "--broker", BROKER)
    )
    chosen["registry.url"] = (
        arguments.registry or set_.get("registry.url") or _asked("the schema registry's URL", "--registry", REGISTRY)
    )
    if arguments.labels:
        chosen["kafka.labels_topic"] = arguments.labels
    topic = arguments.topic or set_.get("kafka.readings_topic")
    if not topic:
        there = init.topics(load(None, _environment(), chosen))
        sys.stdout.write(f"topics: {', '.join(there)}\n" if sys.stdin.isatty() else "")
        topic = _asked("the topic with the readings", "--topic", "")
    return load(None, _environment(), {**chosen, "kafka.readings_topic": topic})


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "EML_SETTINGS"}


def _asked(what: str, option: str, default: str) -> str:
    """What a person types; the default where nobody sits at a terminal."""
    if not sys.stdin.isatty():
        if not default:
            raise CommandError(f"name {what}: {option}", USAGE)
        return default
    answer = input(f"{what}{f' [{default}]' if default else ''}: ").strip() or default
    if not answer:
        raise CommandError(f"name {what}: {option}", USAGE)
    return answer

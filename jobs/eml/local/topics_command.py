"""`eml topics` on the command line: makes those topics of a job that do not exist yet, or lists them.

Called by `eml.cli`; the job itself makes none, because a misspelt name would then be a new topic.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from eml.terminal import (
    OK,
    PROBLEM,
    add_json,
    add_settings,
    examples,
    load_settings,
    paint,
    positive,
    progress,
    set_run,
    write_json,
)

if TYPE_CHECKING:
    from eml.settings import KafkaSettings

READ = ("readings_topic", "labels_topic")
WRITTEN = ("predictions_topic", "scores_topic", "evolutions_topic", "dead_letters_topic")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml topics`."""
    parser = subparsers.add_parser("topics", help="make the topics of a job that do not exist yet, or list them")
    actions = parser.add_subparsers(title="what to do", metavar="ACTION", required=True)
    create = actions.add_parser(
        "create",
        help="make those that do not exist; the others stay as they are",
        epilog=examples("eml topics create --partitions 12 --replicas 3"),
    )
    _add_create(create)
    listing = actions.add_parser(
        "list",
        help="which exist, and their partitions; ends with 1 where one is missing",
        epilog=examples("eml topics list", "eml topics list --json"),
    )
    add_json(listing)
    add_settings(listing)
    set_run(listing, _list)


def _add_create(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--partitions", type=positive, default=4, metavar="N", help="of a new topic (default 4)")
    parser.add_argument("--replicas", type=positive, default=1, metavar="N", help="of a new topic (default 1)")
    add_settings(parser)
    set_run(parser, _create)


def _create(arguments: argparse.Namespace) -> int:
    from eml.local import listeners, topics  # noqa: PLC0415  Kafka's client would slow `eml --help`
    from eml.local.connection import librdkafka_properties  # noqa: PLC0415

    kafka = load_settings(arguments).kafka
    listeners.check(kafka)  # a client asks an address where nobody is for twenty seconds
    names, properties = list(wanted(kafka).values()), librdkafka_properties(kafka.properties)
    with progress("making topics"):
        made = topics.ensure(kafka.bootstrap_servers, names, arguments.partitions, arguments.replicas, properties)
    for name in names:
        sys.stdout.write(f"{name:<20} {'made' if name in made else 'there already'}\n")
    return OK


def _list(arguments: argparse.Namespace) -> int:
    from eml.local import listeners, topics  # noqa: PLC0415  Kafka's client would slow `eml --help`
    from eml.local.connection import librdkafka_properties  # noqa: PLC0415

    kafka = load_settings(arguments).kafka
    listeners.check(kafka)
    there = topics.partitions_of(kafka.bootstrap_servers, librdkafka_properties(kafka.properties))
    found = {setting: (name, there.get(name)) for setting, name in wanted(kafka).items()}
    if arguments.json:
        write_json([{"setting": f"kafka.{s}", "topic": name, "partitions": n} for s, (name, n) in found.items()])
    else:
        for setting, (name, count) in found.items():
            state = paint("missing: eml topics create", "fail") if count is None else f"{count} partitions"
            sys.stdout.write(f"{name:<20} {state:<28} kafka.{setting}\n")
    return PROBLEM if any(count is None for _, count in found.values()) else OK


def wanted(kafka: "KafkaSettings") -> dict[str, str]:
    """The topics that a job reads and writes, by setting."""
    return {setting: topic for setting in (*READ, *WRITTEN) if (topic := getattr(kafka, setting))}

"""`eml topics` on the command line: makes those topics of a job that do not exist yet.

Called by `eml.cli`; the job itself makes none, because a misspelt name would then be a new topic.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from eml.local.command import positive, told

if TYPE_CHECKING:
    from eml.settings import KafkaSettings

READ = ("readings_topic", "labels_topic")
WRITTEN = ("predictions_topic", "scores_topic", "evolutions_topic", "dead_letters_topic")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml topics`."""
    parser = subparsers.add_parser("topics", help="make the topics of a job that do not exist yet")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="of the job (default: EML_SETTINGS names it)")
    parser.add_argument("--partitions", type=positive, default=4, metavar="N", help="of a new topic (default 4)")
    parser.add_argument("--replicas", type=positive, default=1, metavar="N", help="of a new topic (default 1)")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    return told("eml topics", lambda: _make(arguments))


def _make(arguments: argparse.Namespace) -> None:
    from eml.local import topics  # noqa: PLC0415  Kafka's client would slow `eml --help`
    from eml.local.connection import librdkafka_properties  # noqa: PLC0415
    from eml.settings import load  # noqa: PLC0415

    kafka = load(arguments.settings).kafka
    names, properties = wanted(kafka), librdkafka_properties(kafka.properties)
    made = topics.ensure(kafka.bootstrap_servers, names, arguments.partitions, arguments.replicas, properties)
    for name in names:
        sys.stdout.write(f"{name:<20} {'made' if name in made else 'there already'}\n")


def wanted(kafka: "KafkaSettings") -> list[str]:
    """The topics that a job reads and writes."""
    return [topic for name in (*READ, *WRITTEN) if (topic := getattr(kafka, name))]

"""`eml local up`, `down` and `status` on the command line: their options, and what they print.

Called by `eml.cli`; calls `background`, imported only when a command runs.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from eml.terminal import OK, PROBLEM, SETTINGS_FILE, add_json, examples, paint, progress, set_run, write_json

if TYPE_CHECKING:
    from eml.local.state import State


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml local`."""
    parser = subparsers.add_parser("local", help="a Kafka broker and a schema registry on this machine")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    up = commands.add_parser(
        "up",
        help="start them in the background, or say that they run",
        description="Starts a broker and a registry that stay until `eml local down`, and writes their addresses to"
        f" {SETTINGS_FILE} in this folder unless there is one: the commands that follow, and the job, take it by"
        " themselves.",
        epilog=examples("eml local up", "eml topics create", "python -m eml.job"),
    )
    up.add_argument("--broker", metavar="ADDRESS", help="use this running broker (host:port) instead")
    up.add_argument("--registry", metavar="URL", help="use this running registry (Confluent's API) instead")
    down = commands.add_parser("down", help="stop them; their data stays", epilog=examples("eml local down"))
    status = commands.add_parser(
        "status",
        help="say whether they are healthy (exit status 0) or not (1)",
        epilog=examples("eml local status", "eml local status --json | jq .broker.address"),
    )
    add_json(status)
    for command, run in ((up, _up), (down, _down), (status, _status)):
        command.add_argument("--folder", type=Path, help="data, logs and state (default: stack in the user's cache)")
        set_run(command, run)


def _folder(arguments: argparse.Namespace) -> Path:
    from eml.local import background  # noqa: PLC0415

    given: Path | None = arguments.folder
    return given.absolute() if given else background.default_folder()


def _up(arguments: argparse.Namespace) -> int:
    from eml.local import background, jars  # noqa: PLC0415

    folder = _folder(arguments)
    known = background.find(folder)
    if known is not None:
        _say("The stack runs already.")
    else:
        if not all(jars.folder_of(name).is_dir() for name in ("broker", "registry")):
            sys.stderr.write("Getting the jars (once, about 230 MB) ...\n")
            for name in jars.SETS:
                jars.jars(name)
        sys.stderr.write("Starting (about half a minute) ...\n")
        known = background.up(folder, arguments.broker, arguments.registry)
    status = _report(known, background.health(known))
    if status == OK:
        _say(_settings_for(known))
    return status


def _settings_for(known: "State") -> str:
    """Write the settings file unless there is one; what was done, and what comes next."""
    from eml.local import settings_file  # noqa: PLC0415
    from eml.local.settings_file import Setting  # noqa: PLC0415

    if SETTINGS_FILE.exists():
        if known.bootstrap_servers in SETTINGS_FILE.read_text(encoding="utf-8", errors="replace"):
            return f"{SETTINGS_FILE} has this broker's address already; it stays as it is."
        return (
            f"{SETTINGS_FILE} in this folder is for another broker; it stays as it is. For this one set"
            f" kafka.bootstrap_servers to {known.bootstrap_servers} and registry.url to {known.registry_url}."
        )
    heading = [
        "Settings of the job, for the Kafka broker and the registry of `eml local up`. Commands and the job take this",
        "file by themselves when they run in its folder. Every other setting has its default: see deploy/eml.toml.",
    ]
    chosen = [
        Setting("kafka.bootstrap_servers", known.bootstrap_servers),
        Setting("kafka.readings_topic", "readings", "the job reads readings here; `eml topics create` makes it"),
        Setting("registry.url", known.registry_url),
        Setting("record.label_field", "label", "the field to predict, where a record has it"),
        Setting("model.by", "key", "a model for each Kafka key; with few labels share one: key-pattern, header, all"),
    ]
    settings_file.write(SETTINGS_FILE, heading, chosen)
    next_ = "Next: `eml topics create`, then `python -m eml.job`, and `eml watch` to see the fleet."
    return f"{SETTINGS_FILE} has these addresses. {next_}"


def _down(arguments: argparse.Namespace) -> int:
    from eml.local import background  # noqa: PLC0415

    with progress("stopping"):
        ran = background.down(_folder(arguments))
    _say("Stopped." if ran else "Nothing runs.")
    return OK


def _status(arguments: argparse.Namespace) -> int:
    from eml.local import background  # noqa: PLC0415

    known = background.find(_folder(arguments))
    health = background.health(known) if known else {}
    if arguments.json:
        addresses = {"broker": known.bootstrap_servers, "registry": known.registry_url} if known else {}
        parts = {part: {"address": address, "healthy": health[part]} for part, address in addresses.items()}
        write_json({"runs": known is not None, **parts, "logs": list(known.logs) if known else []})
        return OK if known and all(health.values()) else PROBLEM
    if known is None:
        _say("Nothing runs. Start it with `eml local up`.")
        return PROBLEM
    return _report(known, health)


def _report(known: "State", health: dict[str, bool]) -> int:
    """Print addresses and health; 0 where all is well."""
    addresses = {"broker": known.bootstrap_servers, "registry": known.registry_url}
    for part, address in addresses.items():
        healthy = paint(f"{'healthy':<10}", "ok") if health[part] else paint("UNHEALTHY ", "fail")
        _say(f"{part:<9} {healthy} {address}")
    for log in known.logs:
        _say(f"log       {log}")
    if not all(health.values()):
        _say("Look into the logs; `eml local down` and `up` start it anew.")
        return PROBLEM
    _say(f"export EML_KAFKA_BOOTSTRAP_SERVERS={known.bootstrap_servers}")
    _say(f"export EML_REGISTRY_URL={known.registry_url}")
    return OK


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()

"""`eml local up`, `down` and `status` on the command line: their options, and what they print.

Called by `eml.cli`; calls `background`, imported only when a command runs.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from eml.terminal import OK, PROBLEM, set_run

if TYPE_CHECKING:
    from eml.local.state import State


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml local`."""
    parser = subparsers.add_parser("local", help="a Kafka broker and a schema registry on this machine")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    up = commands.add_parser("up", help="start them in the background, or say that they run")
    up.add_argument("--broker", metavar="ADDRESS", help="use this running broker (host:port) instead")
    up.add_argument("--registry", metavar="URL", help="use this running registry (Confluent's API) instead")
    down = commands.add_parser("down", help="stop them; their data stays")
    status = commands.add_parser("status", help="say whether they are healthy (exit status 0) or not (1)")
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
        return _report(known, background.health(known))
    if not all(jars.folder_of(name).is_dir() for name in ("broker", "registry")):
        _say("Getting the jars (once, about 230 MB) ...")
        for name in jars.SETS:
            jars.jars(name)
    _say("Starting (about half a minute) ...")
    known = background.up(folder, arguments.broker, arguments.registry)
    return _report(known, background.health(known))


def _down(arguments: argparse.Namespace) -> int:
    from eml.local import background  # noqa: PLC0415

    _say("Stopped." if background.down(_folder(arguments)) else "Nothing runs.")
    return OK


def _status(arguments: argparse.Namespace) -> int:
    from eml.local import background  # noqa: PLC0415

    known = background.find(_folder(arguments))
    if known is None:
        _say("Nothing runs. Start it with `eml local up`.")
        return PROBLEM
    return _report(known, background.health(known))


def _report(known: "State", health: dict[str, bool]) -> int:
    """Print addresses and health; 0 where all is well."""
    addresses = {"broker": known.bootstrap_servers, "registry": known.registry_url}
    for part, address in addresses.items():
        _say(f"{part:<9} {'healthy' if health[part] else 'UNHEALTHY':<10} {address}")
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

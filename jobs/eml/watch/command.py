"""`eml watch` on the command line: the live page of a fleet, or the page as it is now in a file.

Called by `eml.cli`; calls `session` for the fleet and `page` or `saving` for what is shown, imported only when it runs.
"""

import argparse
import logging
import os
import re
import shlex
import sys
import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from eml import terminal
from eml.terminal import OK, UNREACHABLE, CommandError

if TYPE_CHECKING:
    from eml.watch.session import Session

PORT = 8050
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
ALL = "all"
TOKEN = "EML_WATCH_TOKEN"  # noqa: S105  the variable's name: on a command line others see it
SAVING_S = 600.0  # to read back before the page is saved


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register `eml watch`."""
    parser = subparsers.add_parser(
        "watch",
        help="a live page of the fleet: roll-out, accuracy, evolutions, devices, dead letters",
        description="A live page of the fleet, from the job's topics and the registry; it changes nothing there.",
        epilog=terminal.examples(
            "eml watch --settings eml.toml --open",
            "eml watch --since all",
            "eml watch --save fleet.html",
            f"{TOKEN}=... eml watch --host 0.0.0.0",
        ),
    )
    terminal.add_settings(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1: this machine)")
    parser.add_argument("--port", type=_port, default=PORT, help=f"port to listen on (default {PORT}; 0: any)")
    parser.add_argument("--token", help=f"that viewers need; wanted beside --host (default: {TOKEN}, if it is set)")
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.add_argument(
        "--since",
        type=_seconds,
        default="6h",
        metavar="TIME",
        help="how far to look back: 30m, 6h, 7d or all (default 6h); evolutions are read from the beginning",
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the page as one HTML file instead, and end")
    terminal.set_run(parser, _run, extra="watch")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"a port is a number up to 65535, not {text!r}")
    return int(text)


def _seconds(text: str) -> int | None:
    """A stretch of time; None: all."""
    if text == ALL:
        return None
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"a time is a number and s, m, h or d, as 30m or 7d, or {ALL}, not {text!r}")
    return int(found[1]) * UNITS[found[2]]


def _run(arguments: argparse.Namespace) -> int:
    from eml.watch import page, saving  # noqa: F401, PLC0415  what is not installed is told before anything is read
    from eml.watch.session import Session  # noqa: PLC0415

    logging.getLogger("eml").addHandler(logging.NullHandler())  # the page says what is wrong
    settings = terminal.load_settings(arguments)
    since_ms = None if arguments.since is None else int((time.time() - arguments.since) * 1000)
    session = Session(settings, since_ms, _options(arguments))
    if arguments.save is not None:
        return _save(session, arguments.save)
    return _serve(session, arguments)


def _serve(session: "Session", arguments: argparse.Namespace) -> int:
    from eml.watch.page import Page  # noqa: PLC0415

    token = arguments.token or os.environ.get(TOKEN) or None
    with session, Page(session.fleet, arguments.host, arguments.port, token) as page:
        sys.stdout.write(f"The fleet is at {page.url} until Ctrl-C.\n")
        sys.stdout.flush()
        if arguments.open:
            webbrowser.open(f"{page.url}?token={quote(token, safe='')}" if token else page.url)
        page.run()
    return OK


def _save(session: "Session", path: Path) -> int:
    from eml.watch.saving import save  # noqa: PLC0415

    with session:
        with terminal.progress("reading the job's topics"):
            read = session.wait_until_read(SAVING_S)
        summary = session.fleet.summary()
        if not read:
            raise CommandError(summary.problem or "Reading takes too long: shorten it with --since.", UNREACHABLE)
        save(session.fleet, path)
    sys.stdout.write(f"{path}: {summary.devices} devices, {summary.predictions} predictions\n")
    return OK


def _options(arguments: argparse.Namespace) -> str:
    """What the commands that the page offers need to find the same topics."""
    file = terminal.settings_file(arguments.settings)
    chosen = [] if file is None else [f"--settings={file}"]
    return shlex.join([*chosen, *(f"--set={pair}" for pair in arguments.overrides if not _secret(pair))])


def _secret(pair: str) -> bool:
    """Whether a setting may hold a secret, which belongs on no page."""
    return re.match(r"kafka\.properties|.*(password|token)", pair) is not None

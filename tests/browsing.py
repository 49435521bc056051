"""A browser that sees nothing but this machine, and a made fleet to look at; for tests of the live page.

Chromium is Debian's (`make chromium`). Every request that is not for loopback is refused, and kept in `Visit.foreign`.
"""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect, sync_playwright

from eml.watch.dead_letters import Arrived
from eml.watch.fleet_view import FleetView, Surroundings
from eml.watch.views import FeatureMatrix
from tests.watched import IDS, SUBJECT, SyntheticFleet, dead_letter_headers, fed, framed, prediction, score

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NO_CHROMIUM = "Chromium is missing: make chromium (as root), or apt-get install chromium"
PATIENCE_MS = 20_000  # a tick takes two seconds, and all of `make test` runs beside it
HOSTILE = "<b>x</b><img src=x onerror=alert(1)>"
HOSTILE_LETTER = b"\0\0\0\0\x07" + b"\0\0\0\0\0\0\xf0\x3f\x0ahel" + b"<script>alert(1)</script>"
SCHEMA = """{"type": "record", "name": "R", "fields": [
    {"name": "temperature", "type": "double"}, {"name": "note", "type": "string"}]}"""


@dataclass
class Visit:
    """A page of the browser, with what went wrong on it."""

    page: Page
    foreign: list[str] = field(default_factory=list)  # requests for another host
    complaints: list[str] = field(default_factory=list)  # errors of scripts, and what the policy refused

    def watch(self) -> None:
        """Refuse other hosts, and remember."""
        self.page.route("**/*", self._let_through)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)

    def _let_through(self, route: Route, request: Request) -> None:
        if urlsplit(request.url).hostname in ("127.0.0.1", "localhost", None):
            route.continue_()
        else:
            self.foreign.append(request.url)
            route.abort()


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium, or a skip that says how to get it."""
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield started
        finally:
            started.close()


def visit(started: Browser, **look: object) -> Visit:
    """A new page in a profile of its own."""
    context = started.new_context(**{"viewport": {"width": 1280, "height": 900}, "locale": "en-GB", **look})  # type: ignore[arg-type]
    opened = Visit(context.new_page())
    opened.watch()
    return opened


def made_fleet(devices: int = 60, records: int = 24_000, per_s: float = 20.0) -> FleetView:
    """A fleet that ends now: upgraded, scored, with dead letters, and with names that are HTML."""
    view = FleetView(Surroundings(options="--settings eml.toml", schema_text={7: SCHEMA}.get))
    begin_ms = time.time_ns() // 1_000_000 - int(records * 1_000 / per_s) - 1_000
    fed(SyntheticFleet(devices, records, begin_ms, per_s).said(), view, HOSTILE_LETTER)
    for key in (HOSTILE, "..", "a/b?c#d", "left\u202eright"):
        place = {"source_timestamp": time.time_ns() // 1_000_000 - 2_000, "schema_id": IDS[2], "schema_version": 2}
        fields = prediction(key=key, label=HOSTILE, scores={HOSTILE: 0.9, "worn": 0.1}, truth=None, **place)
        view.add_predictions([(fields, fields["source_timestamp"] + 40, framed("prediction", fields))])
        view.add_scores(
            [(score(key=key, label=HOSTILE, truth=HOSTILE, source_timestamp=fields["source_timestamp"]), 0)]
        )
    headers = dead_letter_headers("bad-value", message=HOSTILE)
    view.add_dead_letters([Arrived(HOSTILE, b"\0\0\0\0\x07<script>", headers, begin_ms, "dead-letters/0/2")])
    for version in (1, 2):
        view.name_version(IDS[version], f"{SUBJECT} v{version}")
    view.set_ends({0: (0, records // 2 + 7), 1: (0, records // 2)})
    view.set_matrices([matrix()])
    view.set_reading(reading=False)
    return view


def matrix() -> FeatureMatrix:
    """Three versions of a subject."""
    rows = {
        "temperature": ("survived", "survived", "survived"),
        "rpm": ("survived", "renamed", "survived"),
        "oil_pressure": ("retiring", "vanished", "returned"),
        "acoustic": ("absent", "augmented", "survived"),
        HOSTILE: ("absent", "absent", "augmented"),
    }
    return FeatureMatrix(SUBJECT, [1, 2, 3], list(rows), list(rows.values()), {"rpm": "was speed"})

"""The picture of the live page: `python -m tools.watch_picture` writes docs/images/watch.png, with Chromium.

A simulated fleet's records through the job's own logic (`local.replay`), as of a roll-out that is under way. So its
figures are the learner's, and no Kafka is needed.
"""

import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from eml.local.fleet import VERSIONS, Machine, Reading
from eml.local.messages import ReadingWriter
from eml.local.record_lines import Arrived, Registered
from eml.local.replay import Replay, Said
from eml.local.replay_output import ENCODER
from eml.settings import Settings
from eml.stream.keys import KeyName
from eml.stream.output import dead_letters
from eml.stream.output.dead_letters import DeadLetter
from eml.stream.output.encoder import read_evolution, read_prediction, read_score
from eml.stream.output.events import EvolutionEvent
from eml.stream.output.predictions import Prediction
from eml.stream.output.schemas import schema_text
from eml.stream.records import Position, Raw
from eml.watch import dead_letters as watched
from eml.watch.fleet_view import FleetView
from eml.watch.page import Page

PICTURE = Path(__file__).parents[1] / "docs/images/watch.png"
SUBJECT = "readings-value"
MACHINES, RECORDS = 32, 420  # records of each machine
EVERY_MS = 20_000  # between two records of a machine
LATENCY_MS = 400  # of a prediction, as the picture's fleet has no Kafka that would take it
UPGRADES = ((0.18, 0.25), (0.6, 0.7))  # of the time, the first machine's to each version and how long the others take
SPOILT = 997  # one record in as many is cut short
SIZE = {"width": 1280, "height": 1370}


def main() -> int:
    """Simulate, show, draw."""
    view, settings = FleetView(), Settings()
    everything = list(Replay(settings).run(entries()))  # takes a minute or two
    begin_ms = time.time_ns() // 1_000_000 - RECORDS * EVERY_MS
    for said in everything:
        take(view, said, settings, begin_ms)
    for version in range(1, len(VERSIONS) + 1):
        view.name_version(version, f"{SUBJECT} v{version}")
    view.set_ends({0: (0, MACHINES * RECORDS)})
    view.set_reading(reading=False)
    with Page(view) as page:
        draw(page.start().url, PICTURE)
    return 0


def entries() -> Iterator[Registered | Arrived]:
    """The fleet's records in time from 0 on; all versions are registered before the first."""
    for version in range(1, len(VERSIONS) + 1):
        yield Registered(0, version, SUBJECT, version, schema_text(f"readings/v{version}"))
    writers = [ReadingWriter(version, version) for version in range(1, len(VERSIONS) + 1)]
    machines = [list(readings(number)) for number in range(MACHINES)]
    for offset in range(MACHINES * RECORDS):
        number, at = offset % MACHINES, offset // MACHINES
        key, time_ms = f"machine-{number + 1:02}", at * EVERY_MS + number * EVERY_MS // MACHINES
        version, reading = machines[number][at]
        value = writers[version - 1].write(key, f"{key}/{at}", time_ms, reading)
        place = Position("readings", 0, offset, time_ms)
        yield Arrived(0, key, Raw(value[:-3] if offset % SPOILT == SPOILT - 1 else value, place, {}))


def readings(number: int) -> Iterator[tuple[int, Reading]]:
    """A machine's readings with the version of each."""
    machine, begin = Machine(number), 0
    ends = [round(RECORDS * (first + number / MACHINES * others)) for first, others in UPGRADES]
    for version, end in enumerate([*(min(end, RECORDS) for end in ends), RECORDS], 1):
        yield from ((version, reading) for reading in machine.readings(VERSIONS[version - 1], end - begin))
        begin = end


def take(view: FleetView, said: Said, settings: Settings, begin_ms: int) -> None:
    """Tell the view what the job would have written, at another time."""
    key, what = KeyName(said.key), said.what
    if isinstance(what, DeadLetter):
        record = dead_letters.encode(said.key.encode(), what, settings.limits)
        at = begin_ms + what.raw.position.timestamp_ms
        view.add_dead_letters([watched.Arrived(said.key, record.value, dict(record.headers), at, "dead-letters/0/0")])
    elif isinstance(what, EvolutionEvent):
        view.add_evolutions([later(read_evolution(ENCODER.evolution(key, what)), begin_ms)])
    elif isinstance(what, Prediction):
        value = ENCODER.prediction(key, what)
        view.add_predictions([(*later(read_prediction(value), begin_ms), value)])
    else:
        view.add_scores([later(read_score(ENCODER.score(key, what)), begin_ms)])


def later(fields: dict[str, Any], begin_ms: int) -> tuple[dict[str, Any], int]:
    """The fields as if the simulation had begun then, and when they would have been written."""
    source_ms = begin_ms + fields["source_timestamp"]
    return fields | {"source_timestamp": source_ms}, source_ms + LATENCY_MS


def draw(url: str, path: Path) -> None:
    """What Chromium makes of it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
        page.goto(url)
        page.wait_for_selector(".graph .main-svg", state="attached")
        page.wait_for_timeout(1_500)  # until it stands still
        page.screenshot(path=path)
        browser.close()


if __name__ == "__main__":
    sys.exit(main())

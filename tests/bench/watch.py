"""The live page beside a large fleet: `python -m tests.bench.watch` prints first paint, memory and processor share.

The server is a process of its own that has read a history and goes on to read; a browser looks at it. Memory is the
resident set of that process; processor shares are of one core, without a viewer and with one, so what the page itself
takes is their difference.
"""

import argparse
import itertools
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from eml.watch import times
from eml.watch.fleet_view import FleetView
from eml.watch.page import Page
from tests.browsing import browser, visit
from tests.watched import IDS, SUBJECT, SyntheticFleet, fed

DRAWN = ".graph .main-svg"
VISITS = 5
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SCREENS = {"fleet": "", "devices": "devices?order=accuracy", "device": "device/pump-00007", "evolution": "evolutions/1"}
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> int:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.watch", description=__doc__)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument(
        "--history", type=int, default=500_000, help="readings before the page is opened (default 500000)"
    )
    parser.add_argument("--rate", type=int, default=1_000, help="records a second that go on to come (default 1000)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each processor share (default 20)")
    chosen = parser.parse_args()
    with serving(chosen.devices, chosen.history, chosen.rate) as (url, process):
        print(f"{chosen.devices} devices, {chosen.history} readings read, {chosen.rate} records a second to come")
        print(f"processor share without a viewer  {share(process, chosen.seconds):6.1%}")
        look(url, process, chosen.seconds)
        print(f"memory of the server              {resident_mb(process):6.0f} MB")
    return 0


def look(url: str, process: int, seconds: float) -> None:
    """Open each screen some times, then keep the first one open."""
    with browser() as started:
        for name, path in SCREENS.items():
            paints, drawn = [], []
            for _ in range(VISITS):
                page = visit(started).page
                begun = time.monotonic()
                page.goto(url + path)
                page.wait_for_selector(
                    DRAWN if name in ("fleet", "device") else "#react-entry-point h1", state="attached"
                )
                drawn.append(time.monotonic() - begun)
                paints.append(page.evaluate(PAINT) / 1000)
                page.context.close()
            paint, complete = statistics.median(paints), statistics.median(drawn)
            print(f"{name + ': first paint, complete':33} {paint:6.2f} s {complete:6.2f} s")
        page = visit(started).page
        page.goto(url)
        page.wait_for_selector(DRAWN, state="attached")
        page.wait_for_timeout(3_000)
        before, begun = ticks(process), time.monotonic()
        page.wait_for_timeout(seconds * 1000)
        used = (ticks(process) - before) / TICKS_PER_S / (time.monotonic() - begun)
        print(f"processor share with a viewer     {used:6.1%}")
        page.context.close()


@contextmanager
def serving(devices: int, history: int, rate: int) -> Iterator[tuple[str, int]]:
    """A server in a process of its own: its address and process id."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, devices, history, rate), daemon=True)
    process.start()
    try:
        url: str = ours.recv()
        yield url, process.pid or 0
    finally:
        process.terminate()
        process.join()


def _serve(pipe: Connection, devices: int, history: int, rate: int) -> None:
    fleet = FleetView()
    begin_ms = times.now_ms() - history * 1000 // rate
    said = SyntheticFleet(devices, history + rate * 3_600, begin_ms, rate).said()
    fed(itertools.takewhile(lambda each: each.time_ms < begin_ms + history * 1000 // rate, said), fleet)
    for version, schema_id in IDS.items():
        fleet.name_version(schema_id, f"{SUBJECT} v{version}")
    fleet.set_reading(reading=False)
    with Page(fleet) as page:
        pipe.send(page.start().url)
        begun = time.monotonic()
        for number in itertools.count(1):
            fed(itertools.islice(said, rate // 10), fleet)
            time.sleep(max(0.0, begun + number / 10 - time.monotonic()))


def share(process: int, seconds: float) -> float:
    """How much of one core a process takes."""
    before, begun = ticks(process), time.monotonic()
    time.sleep(seconds)
    return (ticks(process) - before) / TICKS_PER_S / (time.monotonic() - begun)


def ticks(process: int) -> int:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def resident_mb(process: int) -> float:
    """Memory of a process."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    sys.exit(main())

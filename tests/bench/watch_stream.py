"""The live page beside real topics: `python -m tests.bench.watch_stream` prints how fast it reads and what it takes.

A broker and a registry are started, or used where they run. What a job writes about a large fleet is written to topics;
then the page's server, a process of its own, reads that back and goes on to read. `tests.bench.watch` measures the page
alone, in a browser.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread

from eml.local.stack import running
from eml.settings import describe, load
from eml.watch.page import Page
from eml.watch.session import Session
from tests.bench.watch import resident_mb, share
from tests.watched import Said, SyntheticFleet
from tests.watched_topics import Writer

LONGEST_S = 600.0


def main() -> int:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.watch_stream", description=__doc__)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--history", type=int, default=500_000, help="readings before the page is opened")
    parser.add_argument("--rate", type=int, default=1_000, help="readings a second that go on to come")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each processor share")
    parser.add_argument("--broker", help="use this running broker (host:port)")
    parser.add_argument("--registry", help="use this running registry")
    chosen = parser.parse_args()
    with running(bootstrap_servers=chosen.broker, registry_url=chosen.registry) as stack:
        writer = Writer.of(stack.bootstrap_servers, stack.registry_url)
        writer.create(*writer.topics)
        try:
            measure(writer, chosen)
        finally:
            writer.remove(*writer.topics)
    return 0


def measure(writer: Writer, chosen: argparse.Namespace) -> None:
    """Write, have it read, look what that takes."""
    begin_ms = int(time.time() * 1000) - chosen.history * 1000 // chosen.rate
    fleet = SyntheticFleet(chosen.devices, chosen.history + chosen.rate * 3_600, begin_ms, chosen.rate)
    said = fleet.said()
    until_ms = begin_ms + chosen.history * 1000 // chosen.rate
    writer.write(itertools.takewhile(lambda each: each.time_ms < until_ms, said))
    print(f"{chosen.devices} devices, {chosen.history} readings and {writer.written} records of the job in the topics")
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "eml.toml"
        settings.write_text(describe(writer.settings), encoding="utf-8")
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        server = context.Process(target=serve, args=(theirs, settings), daemon=True)
        begun = time.monotonic()
        server.start()
        try:
            ours.recv()
            print(f"the server answers after          {time.monotonic() - begun:8.1f} s")
            read_s, processor_s = ours.recv()
            print(f"all is read after another         {read_s:8.1f} s, {writer.written / read_s:,.0f} records a second")
            print(f"processor time for a record       {processor_s / writer.written * 1e6:8.1f} µs")
            print(f"memory of the server              {resident_mb(server.pid or 0):8.0f} MB")
            print(f"processor share, nothing comes    {share(server.pid or 0, chosen.seconds):8.1%} of a core")
            with_load(writer, said, chosen, server.pid or 0)
        finally:
            server.terminate()
            server.join()


def with_load(writer: Writer, said: Iterator[Said], chosen: argparse.Namespace, server: int) -> None:
    """The same while readings come."""
    ended = Event()

    def load() -> None:
        begun = time.monotonic()
        for number in itertools.count(1):
            for each in itertools.islice(said, chosen.rate // 10):
                writer.put(each)
            writer.poll()
            if ended.wait(max(0.0, begun + number / 10 - time.monotonic())):
                break

    thread = Thread(target=load)
    thread.start()
    time.sleep(2)
    print(f"processor share, {chosen.rate} a second    {share(server, chosen.seconds):8.1%} of a core")
    ended.set()
    thread.join()
    writer.flush()
    print(f"memory of the server              {resident_mb(server):8.0f} MB")


def serve(pipe: Connection, settings: Path) -> None:
    """What `eml watch --since all` does, and when it is ready."""
    with Session(load(settings, environ={})) as session, Page(session.fleet) as page:
        page.start()
        pipe.send(page.url)
        begun, before = time.monotonic(), time.process_time()
        session.wait_until_read(LONGEST_S)
        pipe.send((time.monotonic() - begun, time.process_time() - before))
        time.sleep(LONGEST_S)


if __name__ == "__main__":
    sys.exit(main())

"""A load at a pace: every device sends about once a second, and what counts is how late the answers come.

Called by `running`; starts one pipeline at a time through `stream`'s bench, sends while it runs, and reads both topics
when everything is answered, so that measuring takes nothing from what is measured.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eml.bench import table
from eml.bench.comparison import Pace, Rival
from eml.bench.latency import Stamp, after, delays, keeps_up, percentile
from eml.bench.measure import Output
from eml.bench.sending import Sender
from eml.bench.stream import Bench

FIRST_RATE = 250  # where the search begins
HIGHEST_RATE = 64_000  # where it ends: the sender is one process of ours
HALVINGS = 3  # between the last rate that was kept up with and the first that was not


def paces(bench: Bench, rate: int) -> list[Pace]:
    """How late every rival is at this rate."""
    return [_printed(bench, _at(bench, rival, rate)) for rival in bench.options.rivals()]


def find_rate(bench: Bench) -> list[Pace]:
    """For each rival the rates that were tried: doubled until it does not keep up, then halved in between."""
    found: list[Pace] = []
    for rival in bench.options.rivals():
        tried: list[Pace] = []

        def tries(rate: int, rival: Rival = rival, tried: list[Pace] = tried) -> bool:
            tried.append(_printed(bench, _at(bench, rival, rate)))
            return tried[-1].keeps_up

        highest(tries, bench.options.rate or FIRST_RATE)
        found += sorted(tried, key=lambda pace: pace.rate)
    return found


def highest(keeps: Callable[[int], bool], first: int, most: int = HIGHEST_RATE, halvings: int = HALVINGS) -> int:
    """The highest rate found for which `keeps` is true; 0 where none of the rates tried is."""
    low, high = 0, first
    while keeps(high):
        low, high = high, min(2 * high, most)
        if low == most:
            return most
    for _ in range(halvings):
        middle = (low + high) // 2
        if not low < middle < high:
            break
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


def _printed(bench: Bench, pace: Pace) -> Pace:
    bench.console.print(
        f"{table.name(pace.rival)}: p50 {pace.p50_ms:.0f} ms, p99 {pace.p99_ms:.0f} ms at {pace.rate} records/s"
        + ("" if pace.keeps_up else ": does not keep up")
    )
    return pace


def _at(bench: Bench, rival: Rival, rate: int) -> Pace:
    """One rival at one rate, from its start to the last answer."""
    options = bench.options
    count = rate * (options.settle + options.seconds)
    with _topic(bench) as topic:
        load = bench.load(rate, count, options.nulls[0])
        readings = list(load.readings(bench.register(topic, load)))
        with bench.started(rival, topic) as (pipeline, output):
            pipeline.wait_until_running()
            sender = Sender(bench.stack.bootstrap_servers, topic, paced=True)
            sender.pace(readings, rate)
            sender.finish()
            output.wait(count, pipeline.check)
            answered = list(_stamps(output, count))
        sent = list(_stamps(Output(bench.stack.bootstrap_servers, topic, options.parallelism), count))
    counted = after(delays(sent, answered), options.settle)
    return Pace(rival, rate, percentile(counted, 0.5), percentile(counted, 0.99), keeps_up(counted))


@contextmanager
def _topic(bench: Bench) -> Iterator[str]:
    name = f"bench-paced-{uuid.uuid4().hex[:6]}"
    with bench.made(name):
        yield name


def _stamps(topic: Output, count: int) -> Iterator[Stamp]:
    for message in topic.read(count, "read_uncommitted"):
        yield Stamp(message.key() or b"", message.timestamp()[1])

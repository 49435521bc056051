"""`make soak`: hostile and good traffic of many keys, for long, as fast as the job keeps up; every record is counted.

    python -m tests.hostile.soak --minutes 20 --keys 200

First the rate is raised until results lag behind; then a share of the highest rate is held for `--minutes`. At the
end nothing may be lost or there twice, the job not restarted, and its memory flat. Exit code 1 where something does
not hold.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Consumer

from eml.local.stack import running
from eml.stream.output.encoder import read_prediction
from tests.hostile.fleet import Run, writers
from tests.hostile.ledger import Ledger
from tests.hostile.soak_load import TICK_S, Mix, Sender
from tests.unit.stream.registry.registry_server import serving

FIRST_RATE, STEP, STEP_S = 500.0, 1.4, 12.0
BEHIND_S = 8.0  # results come with the checkpoint's second and the micro-batch's: later than this is lag
SENT_SHARE = 0.9  # of the rate that is wanted: below it the sender itself is at its limit
HELD = 0.85  # of the highest rate
SLOWER = 0.9
DRAIN_S = 300.0
SAMPLE_S = 5.0
WARM_SHARE = 0.4  # of the time until memory should be flat: caches and Java's heap fill first
FLAT = 0.05  # growth over the rest of the time, of what is taken
SHORT_MIN = 5.0  # shorter runs only print memory
# A flood fills the waiting list of its key: what waits at the end must be looked up at 20 a second.
SETTINGS: dict[str, dict[str, object]] = {
    "limits": {"waiting_records": 400},
    "registry": {"lookups_per_key_per_second": 10.0},
}


@dataclass
class Soak:
    """One run."""

    run: Run
    sender: Sender
    ledger: Ledger
    ends: Counter[str] = field(default_factory=Counter)  # predictions, and dead letters by reason
    good_dead: int = 0  # dead letters of good keys
    samples: list[tuple[float, float, float]] = field(default_factory=list)  # s, MB of workers, MB of the JVM
    rate: float = FIRST_RATE
    highest: float = 0.0
    most_behind: int = 0
    _sampled: float = 0.0
    _read_sent: int = 0

    def __post_init__(self) -> None:
        topics = self.run.topics
        self._consumer = Consumer(
            {
                "bootstrap.servers": self.run.stack.bootstrap_servers,
                "group.id": f"{topics.predictions}-soak",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "queued.max.messages.kbytes": 16_384,  # the harness's own memory is bounded, too
                "log_level": 0,
            }
        )
        self._consumer.subscribe([topics.predictions, topics.dead_letters])

    # -- the course ------------------------------------------------------------------------------------------------

    def find_rate(self, given: float) -> None:
        """Raise the rate until results lag, wait until they are there, and hold a share of the last good rate.

        Job, brokers and this harness share the machine: the highest rate is one that all of them keep up with.
        """
        if given:
            self.rate = self.highest = given
            return
        while True:
            before, began = self.ledger.sent, time.monotonic()
            self._go_on(STEP_S)
            sent = (self.ledger.sent - before) / (time.monotonic() - began)
            print(f"{self.rate:.0f} records/s wanted, {sent:.0f} sent: {self.ledger.under_way} under way", flush=True)
            if sent < SENT_SHARE * self.rate or self.ledger.under_way > BEHIND_S * sent:
                break
            self.highest, self.rate = sent, STEP * self.rate
        while self.ledger.under_way > self.highest:  # as many as come in a second
            self._go_on(1.0, sending=False)
        self.rate = HELD * (self.highest or FIRST_RATE / 2)

    def hold(self, minutes: float) -> None:
        """Hold the rate; a lag that grows all the same makes it slower, and is told."""
        end, told = time.monotonic() + 60 * minutes, 0.0
        self.samples.clear()
        while time.monotonic() < end:
            self._go_on(STEP_S)
            self.most_behind = max(self.most_behind, self.ledger.under_way)
            if self.ledger.under_way > 3 * BEHIND_S * self.rate:
                self.rate *= SLOWER
                print(f"lag: {self.ledger.under_way} under way, slower: {self.rate:.0f} records/s", flush=True)
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"{(end - told) / 60:.1f} minutes left: {self._state()}", flush=True)

    def drain(self) -> None:
        """Send no more, and wait for what is under way."""
        self.sender.flush()
        end = time.monotonic() + DRAIN_S
        while self.ledger.under_way > 0 and time.monotonic() < end:
            self._go_on(1.0, sending=False)
        self._go_on(5.0, sending=False)  # to see whether something comes twice
        self._consumer.close()

    def _go_on(self, seconds: float, *, sending: bool = True) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.sender.tick(self.rate if sending else 0.0)
            self._read()
            if time.monotonic() - self._sampled > SAMPLE_S:
                self._sample()

    def _read(self) -> None:
        for message in self._consumer.consume(2_000, TICK_S):
            if message.error() is not None:
                continue
            if message.topic() == self.run.topics.predictions:
                fields: Any = read_prediction(message.value() or b"")
                self.ends["predictions"] += 1
                self.ledger.has_ended(fields["source_partition"], fields["source_offset"])
                continue
            found: Any = message.headers() or []
            headers = dict(found)
            self.ends[headers["eml.errors.reason"].decode()] += 1
            self.good_dead += (message.key() or b"").startswith(b"good-")
            partition, offset = (int(headers[f"__connect.errors.{name}"]) for name in ("partition", "offset"))
            self.ledger.has_ended(partition, offset)

    def _sample(self) -> None:
        self._sampled = time.monotonic()
        self.run.job.alive() or sys.exit(f"the job ended:\n{self.run.job.log()[-3000:]}")
        process = self.run.job.process
        memory = self.run.watch.memory(process.pid if process else 0)
        self.samples.append((self._sampled, memory.get("worker", 0.0), memory.get("JVM", 0.0)))
        if restarts := self.run.watch.restarts():
            sys.exit(f"the job was restarted {restarts} times: {self.run.watch.failures()}")

    # -- the report ------------------------------------------------------------------------------------------------

    def _state(self) -> str:
        _, worker, java = self.samples[-1]
        return (
            f"{self.ledger.sent} sent, {self.ledger.under_way} under way, {self.rate:.0f} records/s,"
            f" worker {worker:.0f} MB, JVM {java:.0f} MB"
        )

    def report(self, minutes: float) -> int:
        """Print what was found; 1 where something does not hold."""
        ledger, restarts = self.ledger, self.run.watch.restarts()
        growth = {name: self._growth(column) for name, column in (("worker", 1), ("JVM", 2))}
        said = {
            "records sent": ledger.sent,
            "predictions": self.ends.pop("predictions", 0),
            "dead letters by reason": dict(self.ends.most_common()),
            "tombstones (counted only)": ledger.silent,
            "tombstones by the job's counter": self.run.watch.counter("tombstones"),
            "restarts": restarts,
            "lost": ledger.open,
            "twice": ledger.twice,
            "results of records that need none": ledger.unexpected,
            "dead letters of good keys": self.good_dead,
            "refused by the broker": self.sender.refused,
            "highest rate kept, records/s": round(self.highest),
            "rate held, records/s": round(self.rate),
            "most records under way": self.most_behind,
            "memory": growth,
        }
        print(json.dumps(said, indent=1))
        wrong = [name for name in ("restarts", "lost", "twice", "results of records that need none") if said[name]]
        wrong += [name for name in ("dead letters of good keys", "refused by the broker") if said[name]]
        wrong += ["internal errors"] if self.ends["internal"] else []
        if minutes >= SHORT_MIN:
            wrong += [f"memory of the {name}" for name, each in growth.items() if not each["flat"]]
        print(f"does not hold: {', '.join(wrong)}" if wrong else "everything holds")
        return int(bool(wrong))

    def _growth(self, column: int) -> dict[str, object]:
        samples = np.array(self.samples)
        settled = samples[round(WARM_SHARE * len(samples)) :]
        if len(settled) < 4:
            return {"flat": False, "why": "too few samples"}
        hours = (settled[:, 0] - settled[0, 0]) / 3600
        slope = float(np.polyfit(hours, settled[:, column], 1)[0])
        mean = float(settled[:, column].mean())
        return {
            "MB at begin, middle, end": [round(float(samples[at, column])) for at in (0, len(samples) // 2, -1)],
            "slope, MB/hour": round(slope, 1),
            "growth over the settled time": f"{100 * slope * hours[-1] / mean:.1f} %",
            "flat": bool(slope * hours[-1] < FLAT * mean),
        }


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0, help="at the held rate")
    parser.add_argument("--keys", type=int, default=200, help="good ones")
    parser.add_argument("--rate", type=float, default=0.0, help="records per second (default: find it)")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="eml-soak-", ignore_cleanup_errors=True) as folder,
        serving() as server,
        running(registry_url=server.url) as stack,
    ):
        run = Run(stack, server, Path(folder), 0, (0, 0, 0), 10, SETTINGS, with_labels=False)
        mix = Mix(run.site, writers(server, run.topics.readings, 10), arguments.keys)
        ledger = Ledger()
        with run.job:
            run.start()
            soak = Soak(run, Sender(stack.bootstrap_servers, run.topics.readings, mix, ledger), ledger)
            soak.find_rate(arguments.rate)
            soak.hold(arguments.minutes)
            soak.drain()
            return soak.report(arguments.minutes)


if __name__ == "__main__":
    sys.exit(main())

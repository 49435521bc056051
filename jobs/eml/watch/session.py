"""A running view of a fleet: the threads that read, and the view that they fill.

Made by `command`, and by whoever wants a fleet's figures in Python; `with` ends the threads. It calls no page.
"""

import time
from dataclasses import dataclass, field
from typing import Self

from eml.settings import LimitsSettings, Settings
from eml.stream.errors import BadRecordError
from eml.stream.keys import KafkaKey, names_of
from eml.stream.wire import PREFIXES
from eml.watch import times
from eml.watch.decoding import Decoder
from eml.watch.fleet_view import FleetView, Surroundings
from eml.watch.reader import NameOf, Reader, Source
from eml.watch.registry import Registry
from eml.watch.schema_watch import SchemaWatch

JOIN_S = 3.0  # a question to a broker or registry that is away may take longer; nothing is lost
LOOK_S = 0.1
PATIENCE_S = 8.0  # with something that goes wrong
NAMES_S = 5.0  # for the registry


@dataclass(slots=True)
class Session:
    """Reads the registry and the job's topics, from `since_ms` on: the curves look back as far, now and later."""

    settings: Settings
    since_ms: int | None = None  # None: from the beginning
    options: str = ""  # of the command lines that the page offers
    fleet: FleetView = field(init=False)
    _threads: tuple[Reader, SchemaWatch] = field(init=False)
    _registry: Registry = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self._registry = registry = Registry(settings)
        decoder = Decoder(registry.text)
        around = Surroundings(
            self.options,
            settings.record,
            decoder.prediction,
            registry.text,
            settings.kafka.readings_topic,
            None if self.since_ms is None else times.now_ms() - self.since_ms,
        )
        self.fleet = FleetView(around)
        source = Source(settings.kafka, self.since_ms, decoder, _names(settings, registry))
        self._threads = Reader(source, self.fleet), SchemaWatch(registry, self.fleet)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            thread.stop()
        for thread in self._threads:
            thread.join(JOIN_S)
        self._registry.close()

    def wait_until_read(self, longest_s: float) -> bool:
        """Wait until all is read that the topics hold, or reading stays in trouble; whether all is."""
        now = well = time.monotonic()
        end = now + longest_s
        while now < end and now < well + PATIENCE_S:
            summary = self.fleet.summary()
            if not summary.reading:
                self._wait_for_names()
                return True
            now = time.monotonic()
            well = well if summary.problem else now
            time.sleep(LOOK_S)
        return False

    def _wait_for_names(self) -> None:
        """The registry may be asked for versions only when predictions name them."""
        end = time.monotonic() + NAMES_S
        while self.fleet.unnamed() and time.monotonic() < end:
            time.sleep(LOOK_S)


def _names(settings: Settings, registry: Registry) -> NameOf:
    """What names the device of a dead letter: empty where its key is none."""
    name = names_of(
        settings.record.key_format, LimitsSettings(), registry.key_reader, PREFIXES[settings.record.schema_id_format]
    )

    def named(key: bytes | None) -> str:
        if not key:
            return ""
        try:
            return name(KafkaKey(key.decode("latin-1")))
        except BadRecordError:
            return ""

    return named

"""Flink's side of an operator, in memory: state by key that counts its traffic, timers, counters."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any


class FakeState:
    """A map per key; what was written is all that is kept, each entry for its own time to live."""

    def __init__(self, runtime: "FakeRuntime", descriptor: Any) -> None:
        self._runtime, self._name = runtime, descriptor.name
        config = descriptor._ttl_config
        self._ttl_s = float("inf") if config is None else config.get_ttl().to_milliseconds() / 1000
        self._kept: dict[str, dict[str, tuple[float, bytes]]] = {}

    def get(self, entry: str) -> bytes | None:
        self._runtime.traffic[f"read {self._name}"] += 1
        return self.held(self._runtime.key).get(entry)

    def put(self, entry: str, value: bytes) -> None:
        self._runtime.traffic[f"write {self._name}"] += 1
        self._kept.setdefault(self._runtime.key, {})[entry] = (self._runtime.clock(), value)

    def remove(self, entry: str) -> None:
        self._kept.get(self._runtime.key, {}).pop(entry, None)

    def keys(self) -> Iterator[str]:
        return iter(self.held(self._runtime.key))

    # what tests do
    def held(self, key: str) -> dict[str, bytes]:
        """What is kept under a key and has not expired."""
        now = self._runtime.clock()
        entries = self._kept.get(key, {}).items()
        return {entry: value for entry, (written, value) in entries if now - written < self._ttl_s}

    def damage(self, key: str, entry: str) -> None:
        """Cut off the last byte of an entry."""
        written, value = self._kept[key][entry]
        self._kept[key][entry] = (written, value[:-1])


class FakeCounter:
    def __init__(self) -> None:
        self.count = 0

    def inc(self, n: int = 1) -> None:
        self.count += n


class FakeDistribution:
    def __init__(self) -> None:
        self.values: list[int] = []

    def update(self, value: int) -> None:
        self.values.append(value)


class FakeRuntime:
    """Runtime context, keyed context, timer service and metrics group in one."""

    def __init__(self) -> None:
        self.key = ""
        self.now = 0
        self.states: dict[str, FakeState] = {}
        self.timers: set[tuple[int, str]] = set()
        self.counters: dict[str, FakeCounter] = {}
        self.distributions: dict[str, FakeDistribution] = {}
        self.traffic: Counter[str] = Counter()
        self.clock: Callable[[], float] = lambda: 0.0  # of time to live, in seconds

    # what an operator asks of its runtime context
    def get_map_state(self, descriptor: Any) -> FakeState:
        return self.states.setdefault(descriptor.name, FakeState(self, descriptor))

    def get_metrics_group(self) -> "FakeRuntime":
        return self

    def counter(self, name: str) -> FakeCounter:
        return self.counters.setdefault(name, FakeCounter())

    def distribution(self, name: str) -> FakeDistribution:
        return self.distributions.setdefault(name, FakeDistribution())

    # what it asks of the context of a record
    def get_current_key(self) -> str:
        return self.key

    def timer_service(self) -> "FakeRuntime":
        return self

    def current_processing_time(self) -> int:
        return self.now

    def register_processing_time_timer(self, at: int) -> None:
        self.timers.add((at, self.key))

    # what tests do
    def due(self) -> list[str]:
        """Keys whose timers are due, which are forgotten."""
        ripe = sorted(timer for timer in self.timers if timer[0] <= self.now)
        self.timers -= set(ripe)
        return [key for _, key in ripe]

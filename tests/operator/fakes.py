"""Flink's side of an operator, in memory: state by key that counts its traffic, timers, counters."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any


class FakeState:
    """A value or a list per key; what was written is all that is kept, each piece for its own time to live."""

    def __init__(self, runtime: "FakeRuntime", descriptor: Any) -> None:
        self._runtime, self._name = runtime, descriptor.name
        config = descriptor._ttl_config
        self._ttl_s = float("inf") if config is None else config.get_ttl().to_milliseconds() / 1000
        self._kept: dict[str, list[tuple[float, Any]]] = {}

    def value(self) -> Any:
        return next(self.get(), None)

    def update(self, value: Any) -> None:
        self._runtime.traffic[f"write {self._name}"] += 1
        values = value if isinstance(value, list) else [value]
        self._kept[self._runtime.key] = [(self._runtime.clock(), each) for each in values]

    def get(self) -> Iterator[Any]:
        self._runtime.traffic[f"read {self._name}"] += 1
        return iter(self.held(self._runtime.key))

    def add(self, value: bytes) -> None:
        self._runtime.traffic[f"write {self._name}"] += 1
        self._kept.setdefault(self._runtime.key, []).append((self._runtime.clock(), value))

    def clear(self) -> None:
        self._kept.pop(self._runtime.key, None)

    # what tests do
    def held(self, key: str) -> list[Any]:
        """What is kept of a key and has not expired."""
        now = self._runtime.clock()
        return [value for written, value in self._kept.get(key, ()) if now - written < self._ttl_s]


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
    def get_state(self, descriptor: Any) -> FakeState:
        return self.states.setdefault(descriptor.name, FakeState(self, descriptor))

    get_list_state = get_state

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

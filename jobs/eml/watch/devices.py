"""All devices, and counts of them that need no walk over them.

Kept by `fleet_records`. Bounded: of more devices than `MOST` those are forgotten that were silent for longest, and of
predictions there are at most `ROWS`, shared among the devices. Pure.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from eml.watch.device import Device, Place

MOST = 50_000
FORGOTTEN_AT_ONCE = 0.05  # share of them
ROWS = 100_000  # predictions kept in all, some 300 bytes each
ROWS_EACH = 200  # and for each device; halved whenever there are too many in all
LEAST_ROWS = 2

ORDERS: dict[str, Callable[[Device], tuple[object, ...]]] = {
    "key": lambda device: (device.key,),
    "accuracy": lambda device: (device.accuracy is None, device.accuracy, device.key),  # the worst first
    "last": lambda device: (-device.last_ms, device.key),
    "dead-letters": lambda device: (-device.dead_letters, device.key),
}


class Devices:
    """Devices by their keys."""

    def __init__(self) -> None:
        self._devices: dict[str, Device] = {}
        self._rows = 0
        self._rows_each = ROWS_EACH
        self.versions: Counter[int] = Counter()
        self.stages: Counter[str] = Counter()
        self.forgotten = 0

    def __len__(self) -> int:
        return len(self._devices)

    def __iter__(self) -> Iterator[Device]:
        return iter(self._devices.values())

    def get(self, key: str) -> Device | None:
        """A device that is known."""
        return self._devices.get(key)

    def of(self, key: str) -> Device:
        """A device, from now on known."""
        device = self._devices.get(key)
        if device is None:
            if len(self._devices) >= MOST:
                self._forget()
            device = self._devices[key] = Device(key)
        return device

    def move(self, device: Device, version: int, stage: str) -> None:
        """A device is on this version and in this stage."""
        if device.version != version:
            if device.version is not None:
                self._leave(self.versions, device.version)
            self.versions[version] += 1
            device.version = version
        if device.stage != stage:
            if device.stage:
                self._leave(self.stages, device.stage)
            self.stages[stage] += 1
            device.stage = stage

    def keep(self, device: Device, written_ms: int, value: bytes) -> None:
        """Keep a prediction's bytes."""
        device.rows.append((written_ms, value))
        self._rows += 1
        while len(device.rows) > self._rows_each:
            device.rows.popleft()
            self._rows -= 1
        if self._rows > ROWS and self._rows_each > LEAST_ROWS:
            self._rows_each //= 2
            self._trim()

    def know(self, device: Device, place: Place, truth: str) -> None:
        """The label of a reading, which need not stand in its prediction."""
        device.truths[place] = truth
        self._trim_truths(device)

    def sorted(self, search: str, order: str) -> list[Device]:
        """Those whose key contains `search`."""
        wanted = search.casefold()
        found = [device for device in self if wanted in device.key.casefold()] if wanted else list(self)
        found.sort(key=ORDERS.get(order, ORDERS["key"]))
        return found

    def _trim(self) -> None:
        for device in self:
            while len(device.rows) > self._rows_each:
                device.rows.popleft()
            self._trim_truths(device)
        self._rows = sum(len(device.rows) for device in self)

    def _trim_truths(self, device: Device) -> None:
        while len(device.truths) > self._rows_each:
            del device.truths[next(iter(device.truths))]

    def _forget(self) -> None:
        stalest = sorted(self, key=lambda device: device.last_ms)[: max(1, int(MOST * FORGOTTEN_AT_ONCE))]
        for device in stalest:
            if device.version is not None:
                self._leave(self.versions, device.version)
            if device.stage:
                self._leave(self.stages, device.stage)
            self._rows -= len(device.rows)
            del self._devices[device.key]
        self.forgotten += len(stalest)

    @staticmethod
    def _leave(counts: Counter, name: object) -> None:  # type: ignore[type-arg]  # of ids or of words
        counts[name] -= 1
        if not counts[name]:
            del counts[name]

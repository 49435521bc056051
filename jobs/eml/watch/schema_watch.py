"""Asks the registry now and then: which versions the predictions name, and what versions there are.

A thread of `session`; calls `registry`, tells `fleet_records`. A registry that does not answer is asked again, and the
page says so.
"""

from threading import Event, Thread

from eml.stream.errors import BadSchemaError
from eml.watch import feature_matrix
from eml.watch.fleet_records import FleetRecords
from eml.watch.registry import UNAVAILABLE, Registry

EVERY_S = 10.0
PART = "registry"  # of the problems


class SchemaWatch(Thread):
    """One thread."""

    def __init__(self, registry: Registry, view: FleetRecords, every_s: float = EVERY_S) -> None:
        super().__init__(name="eml-watch-registry", daemon=True)
        self._registry, self._view, self._every_s = registry, view, every_s
        self._ended = Event()
        self._unknown: set[int] = set()

    def run(self) -> None:
        """Ask until it is stopped."""
        while not self._ended.is_set():
            self.ask()
            self._ended.wait(1.0 if self._missing() else self._every_s)  # new versions are named soon

    def stop(self) -> None:
        """End after the question at hand."""
        self._ended.set()

    def ask(self) -> None:
        """Ask for everything once."""
        try:
            for schema_id in self._missing():
                self._name_version(schema_id)
            subjects = self._registry.subjects()
            self._unknown.clear()
        except UNAVAILABLE as error:
            what = "Versions are shown by their ids and the table of features may be old until it answers"
            self._view.set_problem(PART, f"The registry cannot be asked ({error}). {what}: look at registry.url.")
            return
        self._view.set_matrices([feature_matrix.of_versions(name, found) for name, found in subjects.items()])
        self._view.set_problem(PART, "")

    def _missing(self) -> list[int]:
        return [schema_id for schema_id in self._view.unnamed() if schema_id not in self._unknown]

    def _name_version(self, schema_id: int) -> None:
        try:
            name = self._registry.named(schema_id)
        except BadSchemaError:
            name = None
        if name is None:
            self._unknown.add(schema_id)  # until the next round
        else:
            self._view.name_version(schema_id, name)

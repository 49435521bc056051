"""The newest version of each subject in use: how a task learns of an evolution before its first record.

A thread asks the registry every `newest_every_ms` for each subject that keys are on; `models.announcements` looks at
what it found with every micro-batch, which is a look into a dict. So records never wait for it, a thousand keys cost
one question, and an old answer does no harm: an evolution that was not found in time is an unannounced one.

Calls `client`, with one of its own: that of the operator is used by the operator's thread. Both share a cache, so the
first record of a version that was announced needs no look-up.
"""

import logging
import threading
from collections import OrderedDict
from dataclasses import replace

from eml.stream.avro.reading_schema import ReadingSchema
from eml.stream.errors import BadSchemaError, RegistryUnavailableError
from eml.stream.registry.client import SchemaRegistry

log = logging.getLogger(__name__)

SUBJECTS = 64  # polled, those seen last


class NewestVersions:
    """What the registry answered last; polls from the first use on, until it is closed."""

    def __init__(self, registry: SchemaRegistry, every_ms: int) -> None:
        self._registry = registry
        self._every_s = every_ms / 1000
        self._found: OrderedDict[str, ReadingSchema | None] = OrderedDict()  # by subject, the last asked for last
        self._lock = threading.Lock()  # of the dict's order, not of the asking
        self._wanted = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def newest(self, subject: str) -> ReadingSchema | None:
        """The newest version of a subject; None while nothing is known of it."""
        if not self._every_s or not subject:
            return None
        with self._lock:
            is_new = subject not in self._found
            found = self._found.setdefault(subject, None)
            self._found.move_to_end(subject)
            if len(self._found) > SUBJECTS:
                self._found.popitem(last=False)
        if is_new:
            self._start()
            self._wanted.set()
        return found

    def close(self) -> None:
        """Stop polling."""
        self._closed.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()
        self._registry.close()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="newest versions", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._closed.is_set():
            self._wanted.wait(self._every_s)
            self._wanted.clear()
            self.poll()

    def poll(self) -> None:
        """Ask once for every subject in use."""
        with self._lock:
            subjects = list(self._found)
        for subject in subjects:
            if self._closed.is_set():
                return
            try:
                self._poll_subject(subject)
            except RegistryUnavailableError as error:
                log.debug("no news of %s: %s", subject, error)  # the next time is soon; `connection` warns

    def _poll_subject(self, subject: str) -> None:
        place = self._registry.latest_version(subject)
        known = self._found.get(subject)
        if place is None or (known is not None and known.id == place[0]):
            return
        try:
            schema = replace(self._registry.reading_schema(place[0]), subject=subject, version=place[1])
            schema.check_reading()
        except BadSchemaError as error:
            log.warning("the newest version of %s cannot be prepared for: %s", subject, error)
            return
        with self._lock:
            if subject in self._found:
                self._found[subject] = schema

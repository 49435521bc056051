"""The limit on how many classes a key may have (`limits.classes`).

Called by `key_model` for each label on its own topic and by `version_routing` for readings with one. A label that
would be one class too many is a bad record: a field that holds ids would otherwise make the model grow without end.
"""

from eml.stream.models.key_state import KeyState
from eml.stream.models.reading_batch import ReadingBatch


class ClassLimit:
    """Which labels a key takes."""

    def __init__(self, state: KeyState, most: int) -> None:
        self._state = state
        self._most = most

    def takes(self, label: str | None) -> bool:
        """Whether a label is a class of the key, or may become one."""
        if label is None or self._at_most() < self._most:
            return True
        classes = self._classes()
        return label in classes or len(classes) < self._most

    def first_refused(self, batch: ReadingBatch, start: int, stop: int) -> int:
        """The first reading after `start` and before `stop` whose label would be one class too many; else `stop`."""
        rows = batch.labelled_in(slice(start, stop))
        if self._at_most() + len(rows) <= self._most:
            return stop
        classes = self._classes()
        for row in rows:
            label = batch.labels[row]
            if label is not None:
                classes.add(label)
            if row > start and len(classes) > self._most:
                return row
        return stop

    def _classes(self) -> set[str]:
        """The labels that the current model knows or is about to learn."""
        if self._state.models is None:
            return set()
        current = self._state.current
        return {*map(str, current.learner.classes), *current.window.labels}

    def _at_most(self) -> int:
        """At least as many as there are classes, and cheap to count."""
        if self._state.models is None:
            return 0
        return len(self._state.current.learner.classes) + len(self._state.current.window)

"""What can go wrong in the learner, and what the caller should do about it.

    EmlError                    catch-all for this package
    ├── FeatureError            a feature space or a batch does not fit: fix the caller
    └── SnapshotError           bytes cannot be read back
        ├── SnapshotDamagedError     restore an older snapshot
        └── SnapshotVersionError     written by another release: upgrade (or restore with the one that wrote it)

Nothing here is about records, Kafka or Flink: those errors live further out.
"""


class EmlError(Exception):
    """Base of every error this package raises on purpose."""


class FeatureError(EmlError, ValueError):
    """A feature space or a batch that does not fit the learner."""


class SnapshotError(EmlError, ValueError):
    """Bytes that are no snapshot this release can restore."""


class SnapshotDamagedError(SnapshotError):
    """The bytes were cut, changed, or never were a snapshot."""


class SnapshotVersionError(SnapshotError):
    """A snapshot of a version this release does not know."""

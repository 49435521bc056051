"""What can go wrong on this machine: with the stack, and with the tools around it; each message says what to do.

LocalError              catch-all of `eml.local`; a command prints it and ends with its exit status
├── ToolMissingError    a program is not installed: install it
├── JarsError           the jars cannot be resolved, or are not the locked ones
├── StartError          a process did not become healthy; the message ends with its log's last lines
├── RecordFileError     a file of records cannot be read or written: correct the line that the message names
├── CaptureError        Kafka or the registry does not give what is asked for
│   └── UnreachableError    it does not answer, or refuses us
└── FlinkPageError      Flink's page does not answer: look whether the job, or the cluster, runs
"""

from eml.core.errors import EmlError


class LocalError(EmlError):
    """Base of what the embedded stack raises on purpose."""


class ToolMissingError(LocalError):
    """A program or package that the stack needs is not installed."""


class JarsError(LocalError):
    """Jars that cannot be resolved, or that are not the ones in the lock file."""


class StartError(LocalError):
    """A process of the stack that did not become healthy."""


class RecordFileError(LocalError):
    """A file of records that cannot be read or written."""


class CaptureError(LocalError):
    """Records that Kafka or the registry does not give."""


class FlinkPageError(LocalError):
    """Flink's page does not answer, or not as Flink does."""


class UnreachableError(CaptureError):
    """Kafka or the registry does not answer, or refuses us."""

    exit_status = 3  # eml.terminal.UNREACHABLE

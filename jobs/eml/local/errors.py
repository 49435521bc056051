"""What can go wrong with the stack on this machine; each message says what to do.

LocalError              catch-all of `eml.local`; the command line prints it and exits 1
├── ToolMissingError    a program is not installed: install it
├── JarsError           the jars cannot be resolved, or are not the locked ones
└── StartError          a process did not become healthy; the message ends with its log's last lines
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

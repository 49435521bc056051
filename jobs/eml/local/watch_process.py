"""The live page as a process on this machine: `eml watch` beside the demonstration's job.

Started by `demo`; a process of its own, because showing a page to viewers should not slow the fleet that is shown.
Knows the command line of `eml watch` and nothing of the page.
"""

import sys
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path

from eml.local.job_process import without_settings
from eml.local.process import LOOPBACK, Process, free_port

PORT = 8050  # if it is free
ANSWER_TIMEOUT_S = 3.0
PROGRAM = "import sys; from eml.cli import main; sys.exit(main())"
NEEDED = ("dash", "waitress")  # packages


class WatchProcess(Process):
    """The page of the job whose settings are in a file, read from the beginning of its topics."""

    name = "watch"
    timeout_s = 60.0  # it takes 3 s; a busy machine takes far longer
    grace_s = 2.0

    def __init__(self, settings: Path, folder: Path, scratch: Path | None = None) -> None:
        self.port = free_port(PORT)
        super().__init__(folder, (self.port,), scratch)
        self._settings = settings

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self.port}/"

    @staticmethod
    def installed() -> bool:
        """Whether there are the packages that it needs."""
        return all(find_spec(name) for name in NEEDED)

    def command(self) -> list[str]:
        """What to run."""
        options = ["--settings", str(self._settings), "--port", str(self.port), "--since", "all"]
        return [*without_settings(), sys.executable, "-c", PROGRAM, "watch", *options]

    def healthy(self) -> bool:
        """Whether it answers."""
        connection = HTTPConnection(LOOPBACK, self.port, timeout=ANSWER_TIMEOUT_S)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()

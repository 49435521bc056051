"""The job as a process on this machine: `python -m eml.job` with a Flink mini cluster inside.

Started by the demonstration, and fit for tests; what starts and stops the stack's processes (`process`, `supervisor`)
does it here, too, so the job never outlives its caller. Knows the job's command line, its settings as text and Flink's
web page; no Flink is imported here.
"""

import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Self

from eml.local.errors import FlinkPageError, LocalError, StartError
from eml.local.flink_rest import FlinkPage
from eml.local.process import LOOPBACK, Process, free_port, is_free, log_end
from eml.settings import Settings

ANSWER_TIMEOUT_S = 3.0
SETTINGS_FILE = "eml.toml"  # in the folder of a job
# Variables that set what the settings text sets: whoever starts the job here means the text.
SETTINGS_VARIABLES = tuple(f"EML_{section.name.upper()}_" for section in fields(Settings))


class JobProcess(Process):
    """One job: its settings, checkpoints and logs in `folder`; `options` are Flink's own (-D)."""

    name = "job"
    timeout_s = 180.0  # it takes 10 s; a busy machine takes far longer
    grace_s = 3.0  # Python ends at once, and Flink's Java process with it

    def __init__(
        self,
        settings: str,
        folder: Path,
        options: Mapping[str, str] = {},
        *,
        environment: Mapping[str, str] = {},
        scratch: Path | None = None,
    ) -> None:
        self.port = free_port()
        super().__init__(folder, (self.port,), scratch)
        self._settings = settings
        self._options = {**_page(self.port), **options}
        self._scraps = self.folder / "tmp"
        self._environment = {**self._own_environment(), **environment}
        self._arguments: tuple[str, ...] = ()

    def _own_environment(self) -> dict[str, str]:
        java = f"{os.environ.get('JVM_ARGS', '')} -Djava.io.tmpdir={self._scraps}"
        return {
            "FLINK_LOG_DIR": str(self.folder),
            # Flink unpacks 70 MB of jars, and leaves them there where it is killed.
            "JVM_ARGS": java.strip(),
            "TMPDIR": str(self._scraps),
            "OMP_NUM_THREADS": "1",  # cores are few, and others want them
        }

    @property
    def page(self) -> str:
        """Flink's web page."""
        return f"http://{LOOPBACK}:{self.port}"

    def command(self) -> list[str]:
        """Write the settings and return what to run."""
        file = self.folder / SETTINGS_FILE
        file.write_text(self._settings, encoding="utf-8")
        variables = [f"{name}={value}" for name, value in self._environment.items()]
        options = [part for name, value in self._options.items() for part in ("-D", f"{name}={value}")]
        program = [sys.executable, "-m", "eml.job", "--settings", str(file), *options, *self._arguments]
        return [*without_settings(), *variables, *program]

    def start(self, arguments: Sequence[str] = ()) -> None:
        """Start it with these further arguments; `wait_until_running` waits for it."""
        self.kill()
        if not is_free(self.port):
            raise StartError(f"The job cannot start: another process listens on {LOOPBACK}:{self.port}.")
        self._arguments = tuple(arguments)
        self._scraps.mkdir(parents=True, exist_ok=True)
        self._supervisor = self._run(self.command())

    def wait_until_running(self) -> None:
        """Wait until Flink says that the job runs; StartError, with the end of the log, where it does not."""
        if self._supervisor is None:
            raise LocalError("The job was not started.")
        self._wait(self._supervisor)

    def healthy(self) -> bool:
        """Whether Flink says that the job and all its tasks run."""
        try:
            return any(job.runs for job in FlinkPage(self.page, ANSWER_TIMEOUT_S).jobs())
        except FlinkPageError:
            return False

    @property
    def alive(self) -> bool:
        """Whether the process is there; it ends when its job fails for good."""
        return self._supervisor is not None and self._supervisor.poll() is None

    def check(self) -> None:
        """Raise, with the end of the log, where the job has ended."""
        if not self.alive:
            raise LocalError(f"The job ended.\n{self.log_tail()}")

    def log_tail(self) -> str:
        """The log's last lines."""
        return log_end(self.log)

    def stop(self) -> None:
        """End it and all it started; nothing happens where it does not run."""
        group = self.pid
        try:
            super().stop()
        finally:
            _kill_group(group)
            self._clean_up()

    def kill(self) -> None:
        """-9 for it and all it started."""
        running, self._supervisor = self._supervisor, None
        if running is not None:
            _kill_group(running.pid)
            running.communicate()
            self._clean_up()

    def _clean_up(self) -> None:
        shutil.rmtree(self._scraps, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def without_settings() -> list[str]:
    """How a command line begins whose program takes no setting from our environment."""
    foreign = [name for name in os.environ if name.startswith(SETTINGS_VARIABLES)]
    return ["/usr/bin/env", *(part for name in foreign for part in ("-u", name))]


def _page(port: int) -> dict[str, str]:
    """Flink's web page on this port, for this machine only."""
    return {
        "rest.port": str(port),
        "rest.bind-port": str(port),
        "rest.address": LOOPBACK,
        "rest.bind-address": LOOPBACK,
    }


def _kill_group(group: int | None) -> None:
    if group is not None:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

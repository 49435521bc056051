"""`eml demo` as users run it, on a stack that is there already."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from matplotlib import image

from eml.local.stack import Stack

pytestmark = pytest.mark.slow

MACHINES, RECORDS = 2, 100
SENT = MACHINES * RECORDS * 3
# Whatever started the tests may have them ignore Ctrl-C, as shells do with what runs in the background.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
DEMO = f"{LISTEN}; import sys; from eml.cli import main; sys.exit(main(['demo', *sys.argv[1:]]))"
END_S = 15.0  # after a signal


class Demo:
    """The command as a process, with its output in a file and all that it writes in one folder."""

    def __init__(self, stack: Stack, folder: Path) -> None:
        self.folder = folder
        self.picture = folder / "picture.png"
        self.output = folder / "output.txt"
        addresses = ["--broker", stack.bootstrap_servers, "--registry", stack.registry_url]
        numbers = ["--machines", str(MACHINES), "--records", str(RECORDS), "--picture", str(self.picture)]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", DEMO, *addresses, *numbers],
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TMPDIR": str(folder), "PYTHONUNBUFFERED": "1"},
            )

    def text(self) -> str:
        return self.output.read_text(encoding="utf-8")

    def page(self) -> str:
        """The address of the fleet's live page, once it is told."""
        end = time.monotonic() + 180
        while not (told := re.search(r"The fleet's page: (http://127\.0\.0\.1:\d+/)", self.text())):
            assert time.monotonic() < end, self.text()
            assert self.process.poll() is None, self.text()
            time.sleep(0.2)
        return told[1]

    def started(self) -> list[str]:
        """Commands of the processes that it started and that still run: all have its folder in their options."""
        commands = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if int(process.name) != self.process.pid and os.fsencode(self.folder / "eml-demo-") in command:
                commands.append(command.decode())
        return commands


def test_every_record_is_predicted_and_the_story_is_told(stack: Stack, tmp_path: Path):
    demo = Demo(stack, tmp_path)
    with urlopen(demo.page(), timeout=10) as page:  # noqa: S310  it is on loopback
        assert page.status == 200
    status = demo.process.wait(300)
    text = demo.text()
    assert status == 0, text
    assert f"{SENT} sent = {SENT} predictions + 0 dead letters" in text
    for name in ("EML", "never learns new features", "restarts cold"):
        assert f" {name} " in text
    assert image.imread(demo.picture, format="png").shape[0] > 500
    for machine in range(1, MACHINES + 1):
        for old in (1, 2):
            assert text.count(f"machine-{machine} v{old} → v{old + 1}: ") == 1
    assert not demo.started()
    assert {path.name for path in tmp_path.iterdir()} == {"picture.png", "output.txt"}


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_nothing_outlives_it(stack: Stack, tmp_path: Path, number: signal.Signals, status: int):
    demo = Demo(stack, tmp_path)
    end = time.monotonic() + 60
    while not any("java" in command for command in demo.started()):
        assert time.monotonic() < end, demo.text()
        assert demo.process.poll() is None, demo.text()
        time.sleep(0.2)
    demo.process.send_signal(number)
    assert demo.process.wait(END_S) == status
    end = time.monotonic() + END_S
    while demo.started() or any(tmp_path.glob("eml-demo-*")):
        assert time.monotonic() < end, demo.started()
        time.sleep(0.2)
    assert "Traceback" not in demo.text()

"""What README and the tutorial tell people to type, typed: from an empty folder to predictions."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import fastavro
import pytest
from kafka import KafkaConsumer

from eml import schemas
from eml.local.cache import cache_folder
from tests.unit.docs.blocks import ROOT, blocks, titled

pytestmark = pytest.mark.slow

RECORDS = 60  # that the tutorial's program sends under each version
PATIENCE_S = 300.0
BIN = Path(sys.executable).parent
EML = str(BIN / "eml")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder as after a clone, with a stack, state and logs of its own; the jars are those of all tests."""
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/jars").symlink_to(cache_folder() / "jars")
    yield tmp_path
    subprocess.run([EML, "local", "down"], env=environment(tmp_path), cwd=tmp_path, check=True)  # noqa: S603


def environment(folder: Path) -> dict[str, str]:
    scraps = folder / "tmp"
    scraps.mkdir(exist_ok=True)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("EML_")},
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "EML_CACHE": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
        "TMPDIR": str(scraps),
        "JVM_ARGS": f"-Djava.io.tmpdir={scraps}",
    }


def test_readmes_five_lines_run_a_job_and_the_tutorials_program_feeds_it(folder: Path):
    (typed,) = (block.text for block in blocks("sh", ROOT / "README.md") if "eml.job" in block.text)
    install, *lines = typed.splitlines()
    assert "make .venv/.ready" in install, "what every test has done"
    with (folder / "job.log").open("wb") as log:
        command = [
            "bash",
            "-c",
            "\n".join(["set -e", *lines[:-1], f"exec {lines[-1]}"]),
        ]  # so that SIGTERM finds the job
        job = subprocess.Popen(  # noqa: S603
            command, cwd=folder, env=environment(folder), stdout=log, stderr=log, start_new_session=True
        )
    try:
        found = until_it_answers(folder, job)
    finally:
        job.terminate()
        try:
            job.wait(120)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)
    assert len(found) == 2 * RECORDS
    late = [one["label"] == one["truth"] for one in found if one["truth"] and one["model_revision"] >= 3]
    assert sum(late) > 0.8 * len(late) > 0, "pumps that are worn are hot"
    assert replayed(folder).count("evolution") >= 1


def until_it_answers(folder: Path, job: "subprocess.Popen[bytes]") -> list[dict[str, Any]]:
    """Send what the tutorial sends, once there is a stack; returns the predictions of the job."""
    end = time.monotonic() + PATIENCE_S
    addresses: dict[str, str] = {}
    while "first start" not in (said := (folder / "job.log").read_text()) or not addresses:
        assert job.poll() is None, said[-3000:]
        assert time.monotonic() < end, said[-3000:]
        addresses = stack_of(folder)
        time.sleep(1)
    program = f"{titled('send.py').text}\nmain({RECORDS})\n".replace('if __name__ == "__main__":\n    main()\n', "")
    subprocess.run([sys.executable, "-c", program], env=environment(folder) | addresses, check=True)  # noqa: S603
    consumer = KafkaConsumer(
        "predictions",
        bootstrap_servers=addresses["EML_KAFKA_BOOTSTRAP_SERVERS"],
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        enable_auto_commit=False,
    )
    found: list[dict[str, Any]] = []
    while len(found) < 2 * RECORDS and time.monotonic() < end:
        for records in consumer.poll(timeout_ms=500).values():
            found.extend(prediction(record.value) for record in records)
    consumer.close()
    return found


def prediction(framed: bytes) -> dict[str, Any]:
    """What a record on the predictions topic says, behind its five bytes of frame."""
    schema = fastavro.parse_schema(json.loads(schemas.text("prediction")))
    return cast("dict[str, Any]", fastavro.schemaless_reader(BytesIO(framed[5:]), schema, None))


def stack_of(folder: Path) -> dict[str, str]:
    """What `eml local status` says to export."""
    status = [EML, "local", "status"]
    said = subprocess.run(status, env=environment(folder), cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    exports = [line.removeprefix("export ") for line in said.stdout.splitlines() if line.startswith("export ")]
    return dict(line.split("=", 1) for line in exports)


def replayed(folder: Path) -> list[str]:
    """The kinds of what the tutorial's capture and replay say."""
    environ = environment(folder) | stack_of(folder)
    capture = [EML, "capture", "captured.jsonl", "--settings", "deploy/eml.toml", "--key", "pump-1"]
    subprocess.run(capture, env=environ, cwd=folder, check=True)  # noqa: S603
    replay = [EML, "replay", "captured.jsonl"]
    said = subprocess.run(replay, env=environ, cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603
    return [next(iter(json.loads(line))) for line in said.stdout.splitlines()]

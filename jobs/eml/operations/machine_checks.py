"""Whether this machine can run the job and a stack beside it: Python, Java, Maven, memory, disk, ports.

Called by `doctor`; needs no settings. Asks the system only.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from eml.local import background, jars
from eml.local.cache import cache_folder
from eml.local.errors import ToolMissingError
from eml.local.java import java
from eml.local.local_runs import state_folder
from eml.local.process import is_free
from eml.operations.findings import FAIL, OK, WARN, Check, Finding

GB = 1 << 30
JOB_PYTHONS = ((3, 11), (3, 12))  # Flink's
JAVA, NEWEST_JAVA = 17, 21  # that Flink 2.2 is made for
JAVA_TIMEOUT_S = 5.0
MEMORY_GB = (2.0, 4.0)  # broker, registry, Flink and its worker: too little, scarce
DISK_GB = (1.0, 5.0)
PORTS = {background.BROKER_PORT: "Kafka's", background.REGISTRY_PORT: "the registry's and Flink's page's"}
PACKAGES = {"apache-flink": "job", "confluent-kafka": "local", "numba": "job"}  # and the extra that has them


def checks() -> dict[str, Check]:
    """All of them."""
    return {
        "python": python,
        "packages": packages,
        "java": java_version,
        "maven": maven,
        "memory": memory,
        "disk": disk,
        "ports": ports,
    }


def python() -> Iterator[Finding]:
    """Flink runs on some versions only."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] in JOB_PYTHONS:
        yield Finding("python", OK, version)
    else:
        yield Finding("python", FAIL, f"{version}: Flink's Python runs on 3.11 and 3.12", "python3.11 -m venv .venv")


def packages() -> Iterator[Finding]:
    """Those that commands need, from the extras."""
    missing = {}
    for package, extra in PACKAGES.items():
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            missing[package] = extra
    if missing:
        extras = ",".join(sorted(set(missing.values())))
        yield Finding("packages", FAIL, f"{', '.join(missing)} not installed", f"pip install 'eml[{extras}]'")
    else:
        yield Finding("packages", OK, f"Flink {metadata.version('apache-flink')} and what the commands need")


def java_version() -> Iterator[Finding]:
    """Flink and Kafka are Java."""
    fix = f"install a Java {JAVA} (Debian: apt install openjdk-{JAVA}-jre-headless) and let JAVA_HOME name it"
    try:
        command = [str(java()), "-version"]
        said = subprocess.run(command, capture_output=True, text=True, timeout=JAVA_TIMEOUT_S, check=True).stderr  # noqa: S603
    except ToolMissingError as error:
        yield Finding("java", FAIL, str(error), fix)
        return
    except (subprocess.SubprocessError, OSError) as error:
        yield Finding("java", FAIL, f"{command[0]} does not run: {error}", fix)
        return
    found = re.search(r'version "(\d+)', said)
    version = int(found[1]) if found else 0
    first = next((line for line in said.splitlines() if 'version "' in line), said.partition("\n")[0])
    if version < JAVA:
        yield Finding("java", FAIL, f"{first}: Flink and Kafka need {JAVA}", fix)
    elif version > NEWEST_JAVA:
        yield Finding("java", WARN, f"{first}: newer than Flink is made for", fix)
    else:
        yield Finding("java", OK, f"{first} ({command[0]})")


def maven() -> Iterator[Finding]:
    """Needed once, to get jars."""
    missing = [name for name in jars.SETS if not jars.folder_of(name).is_dir()]
    if not missing:
        yield Finding("maven", OK, f"not needed: the jars are in {cache_folder() / 'jars'}")
    elif shutil.which("mvn"):
        yield Finding("maven", OK, f"there; the jars of {', '.join(missing)} are got once, when they are needed")
    else:
        said = f"no `mvn` on PATH, and the jars of {', '.join(missing)} are not here yet"
        fix = "install Maven (Debian: apt install maven), or name the connector's jar in job.connector_jar"
        yield Finding("maven", FAIL, said, fix)


def memory() -> Iterator[Finding]:
    """What a local stack and the job take."""
    available = _available_bytes()
    if available is None:
        return
    yield _amount("memory", available / GB, MEMORY_GB, "free", "stop other programs, or run broker and job elsewhere")


def _available_bytes() -> int | None:
    """Of the machine, or what the container may still take; None where the system does not tell."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
        available = int(found[1]) * 1024 if found else None
        groups = Path("/sys/fs/cgroup")
        limit, used = (groups / "memory.max", groups / "memory.current")
        if available is not None and limit.is_file() and limit.read_text().strip() != "max":
            available = min(available, int(limit.read_text()) - int(used.read_text()))
    except (OSError, ValueError):
        return None
    return available


def disk() -> Iterator[Finding]:
    """Where jars, Kafka's data, checkpoints and logs are written."""
    for what, folder in {"data": cache_folder(), "state": state_folder()}.items():
        there = next(parent for parent in (folder, *folder.parents) if parent.exists())
        free = shutil.disk_usage(there).free / GB
        if not os.access(there, os.W_OK):
            fix = "set EML_CACHE or XDG_STATE_HOME to a folder of yours"
            yield Finding("disk", FAIL, f"{there} ({what}) cannot be written to", fix)
        else:
            yield _amount("disk", free, DISK_GB, f"free for {what} in {there}", "make room, or set EML_CACHE")


def _amount(name: str, gb: float, bounds: tuple[float, float], what: str, fix: str) -> Finding:
    least, enough = bounds
    if gb >= enough:
        return Finding(name, OK, f"{gb:.1f} GB {what}")
    state = FAIL if gb < least else WARN
    return Finding(name, state, f"only {gb:.1f} GB {what}; {enough:.0f} GB are enough", fix)


def ports() -> Iterator[Finding]:
    """The usual ones; where they are taken, others are."""
    taken = {port: whose for port, whose in PORTS.items() if not is_free(port)}
    if background.find(background.default_folder()):
        yield Finding("ports", OK, "the stack of `eml local up` runs")
    elif taken:
        said = ", ".join(f"{port} ({whose})" for port, whose in taken.items())
        yield Finding("ports", WARN, f"taken: {said}", "`eml local up` and the job take others and say which")
    else:
        yield Finding("ports", OK, f"{', '.join(map(str, PORTS))} are free")

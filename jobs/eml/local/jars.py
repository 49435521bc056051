"""The jars of the stack, resolved by Maven once, checked against a lock file and kept in the user's cache folder.

Called by `broker`, `registry` and by whoever runs a Flink job that reads Kafka; calls `mvn`. Which repository or mirror
the jars come from is the business of the user's Maven settings; that they are the right ones, of `jars.sha256`.

`python -m eml.local.jars` resolves all sets; with `--lock` it writes the lock file anew after a change of versions.
"""

import argparse
import fcntl
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from eml.local.cache import cache_folder
from eml.local.errors import JarsError, LocalError, ToolMissingError
from eml.local.java import java

LOCK_FILE = Path(__file__).with_name("jars.sha256")  # lines of `sha256sum`: hash, two blanks, set/file
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
TIMEOUT_S = 1_800  # 230 MB on a slow line; a Maven that hangs must not hang its caller for ever
PARTIAL = ".partial-"  # prefix of folders that are not finished


@dataclass(frozen=True, slots=True)
class JarSet:
    """Maven coordinates that are used together, `group:artifact:version[:type:classifier]`."""

    coordinates: tuple[str, ...]
    alone: bool = False  # the artifact holds all it needs: leave out its dependencies


SETS = {
    "broker": JarSet(
        (
            "org.apache.kafka:kafka_2.13:4.3.1",
            "org.apache.kafka:kafka-tools:4.3.1",
            "org.apache.logging.log4j:log4j-slf4j-impl:2.25.3",  # for slf4j 1.7, which Kafka brings
            "org.apache.logging.log4j:log4j-core:2.25.3",
            "org.apache.logging.log4j:log4j-1.2-api:2.25.3",
        )
    ),
    "registry": JarSet(("io.apicurio:apicurio-registry-app:3.3.3:tar.gz:all",), alone=True),
    "connector": JarSet(("org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2",), alone=True),
}


def jars(name: str) -> Path:
    """The folder with a set's files, resolved first where that was not done yet."""
    folder = folder_of(name)
    if not folder.is_dir():
        with _resolving(folder.parent) as lock:
            if not folder.is_dir():  # another process may have done it while we waited
                _resolve(name, folder, lock)
    return folder


def connector_jar() -> Path:
    """Flink's Kafka connector, for `env.add_jars`."""
    (jar,) = jars("connector").glob("*.jar")
    return jar


def folder_of(name: str) -> Path:
    """Where a set is, or will be: a folder named by its locked hashes, so that new versions get a new one."""
    if name not in SETS:
        raise JarsError(f"There is no jar set {name!r}; the sets are {', '.join(SETS)}.")
    locked = sorted(_locked(name).items())
    return cache_folder() / "jars" / f"{name}-{hashlib.sha256(repr(locked).encode()).hexdigest()[:12]}"


@contextmanager
def _resolving(folder: Path) -> Iterator[int]:
    """One resolve at a time: Maven's own local repository does not stand two. Yields the lock's descriptor."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in folder.glob(f"{PARTIAL}*"):  # of a process that was killed
            shutil.rmtree(leftover)
        yield lock.fileno()


def _resolve(name: str, folder: Path, lock: int) -> None:
    """Download into a partial folder, check, unpack, and give it its name only when it is whole."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=PARTIAL) as partial:
        files = Path(partial) / "files"
        _download(SETS[name], Path(partial), files, lock)
        _verify(name, _hashes(files))
        _unpack(files)
        files.rename(folder)


def _download(jar_set: JarSet, work: Path, target: Path, lock: int) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ToolMissingError("There is no `mvn` on PATH. Install Maven 3.8 or newer (Debian: apt install maven).")
    java()  # Maven's own message about a missing Java is hard to read
    pom = work / "pom.xml"
    pom.write_text(_pom(jar_set), encoding="utf-8")
    command = [maven, "--batch-mode", "-C", "-q", "-f", str(pom), PLUGIN]
    command += [f"-DoutputDirectory={target}", "-DincludeScope=runtime"]
    try:
        done = subprocess.run(  # noqa: S603  our own command
            command,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            pass_fds=(lock,),  # if we are killed, the lock stays until Maven has ended
        )
    except subprocess.TimeoutExpired as error:
        raise JarsError(f"Maven took longer than {TIMEOUT_S} s. Check the network, then run it again.") from error
    if done.returncode:
        end = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise JarsError(f"Maven could not resolve the jars; check the network and Maven's settings.\n{end}")


def _pom(jar_set: JarSet) -> str:
    """A project that depends on the set and nothing else."""
    dependencies = "".join(_dependency(coordinate, alone=jar_set.alone) for coordinate in jar_set.coordinates)
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>eml</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{dependencies}</dependencies></project>\n"
    )


def _dependency(coordinate: str, *, alone: bool) -> str:
    names = ("groupId", "artifactId", "version", "type", "classifier")
    values = zip(names, coordinate.split(":"), strict=False)  # type and classifier may be left out
    body = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in values)
    if alone:
        every = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
        body += f"<exclusions>{every}</exclusions>"
    return f"<dependency>{body}</dependency>"


def _hashes(folder: Path) -> dict[str, str]:
    """SHA-256 by file name."""
    found = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _locked(name: str) -> dict[str, str]:
    """The lock file's hashes of one set, by file name."""
    if not LOCK_FILE.is_file():
        raise JarsError(f"The lock file {LOCK_FILE.name} is not there; reinstall the package.")
    lines = (line.split("  ", 1) for line in LOCK_FILE.read_text(encoding="utf-8").splitlines())
    entries = ((path.partition("/"), digest) for digest, path in lines)
    return {file: digest for (of, _, file), digest in entries if of == name}


def _verify(name: str, found: dict[str, str]) -> None:
    locked = _locked(name)
    wrong = sorted(file for file in locked.keys() | found.keys() if locked.get(file) != found.get(file))
    if wrong:
        raise JarsError(
            f"The {name} jars are not those of {LOCK_FILE.name}: {', '.join(wrong)}. Where they come from a mirror or "
            "a local Maven repository, remove them there and run it again; where their versions were changed on "
            "purpose, run `python -m eml.local.jars --lock`."
        )


def _unpack(folder: Path) -> None:
    """Replace each archive by what it holds."""
    for archive in folder.glob("*.tar.gz"):
        with tarfile.open(archive) as content:
            content.extractall(folder, filter="data")
        archive.unlink()


def write_lock(sets: Mapping[str, JarSet] = SETS) -> None:
    """Resolve every set and write down what came."""
    lines = []
    for name, jar_set in sets.items():
        with tempfile.TemporaryDirectory() as work, _resolving(cache_folder() / "jars") as lock:
            files = Path(work) / "files"
            _download(jar_set, Path(work), files, lock)
            lines += [f"{digest}  {name}/{file}\n" for file, digest in _hashes(files).items()]
    partial = LOCK_FILE.with_suffix(".new")
    partial.write_text("".join(lines), encoding="utf-8")
    partial.replace(LOCK_FILE)


def main() -> int:
    """Resolve all sets; with `--lock`, write the lock file first."""
    parser = argparse.ArgumentParser(prog="python -m eml.local.jars", description="Resolve the jars of the stack.")
    parser.add_argument("--lock", action="store_true", help="write the lock file anew first")
    arguments = parser.parse_args()
    try:
        if arguments.lock:
            write_lock()
        sys.stdout.writelines(f"{jars(name)}\n" for name in SETS)
    except LocalError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

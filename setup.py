"""Puts the files of `schemas/` into the package `eml.schemas` when a wheel is built; all else is in pyproject.toml.

An editable install copies nothing: there `eml.schemas` reads the folder itself.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SCHEMAS = Path("schemas")


class BuildWithSchemas(build_py):  # type: ignore[misc]  # setuptools ships no types here
    """The usual build, and a copy of each schema."""

    def run(self) -> None:
        """Build the package, then add the schemas."""
        super().run()
        if not self.editable_mode:
            for source, target in self._schemas().items():
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                self.copy_file(source, target)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:  # noqa: FBT001, FBT002  setuptools' signature
        """All files of the build, for whoever removes them."""
        return [*super().get_outputs(include_bytecode), *self._schemas().values()]

    def get_source_files(self) -> list[str]:
        """All files a source distribution needs."""
        return [*super().get_source_files(), *self._schemas()]

    def _schemas(self) -> dict[str, str]:
        package = Path(self.build_lib) / "eml/schemas"
        return {str(path): str(package / path.relative_to(SCHEMAS)) for path in sorted(SCHEMAS.rglob("*.avsc"))}


setup(cmdclass={"build_py": BuildWithSchemas})

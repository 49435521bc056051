"""What a wheel holds: the package with the schemas, their readers, and the licence."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from eml import schemas

ROOT = Path(__file__).parents[2]
NEEDED = ("pyproject.toml", "setup.py", "README.md", "LICENSE")  # as the image's build copies them


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    for name in NEEDED:
        shutil.copy(ROOT / name, folder)
    for name in ("jobs", "schemas"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "-w",
        "dist",
        ".",
    ]
    subprocess.run(pip, cwd=folder, check=True)  # noqa: S603
    (found,) = (folder / "dist").glob("eml-*.whl")
    return found


@pytest.mark.slow
def test_a_wheel_holds_the_schemas_and_reads_them(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assets = {f"eml/watch/assets/{path.name}" for path in (ROOT / "jobs/eml/watch/assets").iterdir()}
        assert len(assets) == 3
        assert assets <= names
        archive.extractall(tmp_path)
    texts = sorted(
        str(path.relative_to(ROOT / "schemas").with_suffix("")) for path in (ROOT / "schemas").rglob("*.avsc")
    )
    assert len(texts) > 5
    assert {f"eml/schemas/{name}.avsc" for name in texts} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    program = (
        "import sys; from eml import schemas; print(schemas.folder()); [schemas.text(name) for name in sys.argv[1:]]"
    )
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {program}", *texts]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    assert said == str(tmp_path / "eml/schemas")


def test_a_checkout_reads_the_schemas_where_they_stand():
    assert schemas.folder() == ROOT / "schemas"
    assert schemas.text("label") == (ROOT / "schemas/label.avsc").read_text()


def test_the_package_holds_no_symlink():
    assert [path for path in (ROOT / "jobs").rglob("*") if path.is_symlink()] == []


def test_the_image_copies_what_the_build_needs():
    copied = (ROOT / "docker/Dockerfile").read_text()
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    assert f"COPY {' '.join(NEEDED)} ./" in copied
    assert {f"!{name}" for name in (*NEEDED, "jobs", "schemas")} <= set(sent)

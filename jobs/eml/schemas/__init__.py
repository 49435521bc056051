"""The Avro schemas of what is in the topics, as text.

Called by `stream.output.schemas`, for the job and the tools. The files stand in `schemas/` of the repository. A build
copies them into this package (`setup.py`); in a checkout, which an editable install uses, they are read where they
stand.
"""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

IN_CHECKOUT = Path(__file__).parents[3] / "schemas"


def folder() -> Traversable:
    """Where the files are: inside this package once it was built, else in the repository."""
    package = resources.files(__name__)
    return package if package.joinpath("prediction.avsc").is_file() else IN_CHECKOUT


def text(name: str) -> str:
    """The text of a schema: `prediction`, `evolution`, `label`, `readings/v1`."""
    return folder().joinpath(*f"{name}.avsc".split("/")).read_text(encoding="utf-8")

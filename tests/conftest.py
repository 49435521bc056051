"""What all tests share: the data sets' folder, one BLAS thread, and Hypothesis made repeatable."""

import os
from pathlib import Path

import hypothesis
import pytest

# Read when numpy is loaded, and inherited by what a test starts: the same sums each time, and no threads that wait for
# each other.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# derandomize: a red run is red again. No deadline: a busy machine is slow, not wrong.
hypothesis.settings.register_profile("eml", derandomize=True, deadline=None)
hypothesis.settings.load_profile("eml")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests marked `data` where EML_DATA is not set; a folder that is not there is a mistake, not a skip."""
    folder = os.environ.get("EML_DATA")
    if folder and not Path(folder).is_dir():
        raise pytest.UsageError(f"EML_DATA names no folder: {folder}")
    if not folder:
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(pytest.mark.skip(reason="EML_DATA is not set"))

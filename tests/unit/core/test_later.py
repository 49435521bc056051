"""POT is imported when the learner first needs it, and before that by the operator."""

import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(
    "use",
    [
        "import ot; ot.emd2",
        "from ot import emd2",
        "import ot.lp",
        "from eml.core.later import import_now; import_now('ot')",
    ],
)
def test_it_is_imported_at_its_first_use(use):
    program = f"""
import sys, eml.settings, eml.core
assert not any(name.startswith("ot.") for name in sys.modules)
{use}
assert "ot.lp" in sys.modules
import ot
assert ot.lp.emd2 is ot.emd2
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)  # noqa: S603

"""The predictor is compiled in a worker whose `print` PyFlink has replaced."""

import subprocess
import sys

import pytest

AS_IN_THE_WORKER = """
import builtins
from pyflink.fn_execution.beam import beam_sdk_worker_main as worker
builtins.print = worker.CustomPrint(print).print
from eml.core import predictor
from eml.flink.compiling import compile_predictor
compile_predictor()
assert predictor.kernels() is not None
print("compiled", end="\\n")
"""


@pytest.mark.slow
def test_the_predictor_is_compiled_where_pyflink_has_replaced_print():
    done = subprocess.run([sys.executable, "-c", AS_IN_THE_WORKER], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "compiled"

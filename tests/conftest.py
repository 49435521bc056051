"""One BLAS thread, however pytest was started: the same sums each time, and no threads that wait for each other.

Read before anything imports numpy, which looks at these when it is loaded; what a test starts inherits them.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

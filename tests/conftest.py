"""What holds however pytest was started: one BLAS thread, and examples that are the same each time.

The threads are set before anything imports numpy, which looks at them when it is loaded; what a test starts inherits
them: the same sums each time, and no threads that wait for each other.
"""

import os

from hypothesis import settings

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# A failure repeats, and a busy machine is none.
settings.register_profile("eml", derandomize=True, deadline=None)
settings.load_profile("eml")

"""`make bench`: prints ratios measured in one run, with the bare figures beside them for orientation only.

Always succeeds: it is a measurement, and a busy machine is no defect.
"""

import platform
import time
from importlib.metadata import version

from tests.bench.closed_form import safe_against_literal
from tests.bench.nulls import predictions_with_nulls, window_against_river
from tests.bench.throughput import LEGEND, against_river
from tests.bench.width import switch_against_update, wide_against_narrow


def main() -> None:
    """Measure and print, a part at a time."""
    start = time.perf_counter()
    packages = ", ".join(f"{name} {version(name)}" for name in ("eml", "numpy", "scipy", "river"))
    print(f"{packages}, Python {platform.python_version()}, {platform.machine()}; medians of interleaved runs\n")
    print("One batch update")
    print(wide_against_narrow(), flush=True)
    print(switch_against_update(), flush=True)
    for comparison in safe_against_literal():
        print(comparison, flush=True)
    print("\nMissing values, and a window of labels")
    for comparison in (*predictions_with_nulls(), *window_against_river()):
        print(comparison, flush=True)
    print("\nPredict, then learn: 4 classes of two clusters, 64 features (half of them noise), drift")
    comparisons, lines = against_river()
    print("\n".join([*map(str, comparisons), "", *lines, LEGEND]))
    print(f"\n{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()

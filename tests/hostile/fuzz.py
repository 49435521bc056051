"""`make fuzz`: the functions of `fuzzing` on bytes that coverage chooses, for as long as FUZZ_SECONDS says.

Run in an environment of its own (`.venv-fuzz`, with atheris). Each target is a process with its share of the time;
what it found stays in `build/fuzz/TARGET` for the next run. Exit code 1 where an input failed: the input is kept there,
too, and `python -m tests.hostile.fuzz TARGET FILE` runs it again.
"""

import os
import subprocess
import sys
import warnings
from pathlib import Path

FOLDER = Path("build/fuzz")
SHARES = {"wire": 0.02, "decode": 0.25, "schema": 0.3, "step": 0.43}
LONGEST = {"wire": 64, "decode": 1_000, "schema": 800, "step": 600}
TOO_SLOW_S = 20  # for one input
MEMORY_MB = 1_500


def main() -> int:
    """Run all targets, or one of them (as a process of the run of all)."""
    if len(sys.argv) > 1:
        _fuzz(sys.argv[1], sys.argv[2:])
        return 0
    seconds = float(os.environ.get("FUZZ_SECONDS", "300"))
    failed = [target for target, share in SHARES.items() if not _run(target, max(1, round(share * seconds)))]
    print(f"failed: {', '.join(failed)}; the inputs are in {FOLDER}" if failed else "nothing was found")
    return int(bool(failed))


def _run(target: str, seconds: int) -> bool:
    folder = FOLDER / target
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    limits = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST[target]}",
        f"-timeout={TOO_SLOW_S}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-artifact_prefix={folder}/",
        "-print_final_stats=1",
        "-verbosity=0",
        "-use_value_profile=1",
    ]
    print(f"{target}: {seconds} s", flush=True)
    command = [sys.executable, "-m", "tests.hostile.fuzz", target, *limits, str(corpus)]
    return subprocess.run(command, check=False).returncode == 0  # noqa: S603  ours


def _fuzz(target: str, arguments: list[str]) -> None:
    import atheris  # noqa: PLC0415  only in .venv-fuzz

    with atheris.instrument_imports(include=["eml.stream"]):
        from tests.hostile import fuzzing  # noqa: PLC0415  instrumented as it is imported

    warnings.simplefilter("error")  # an overflow in numpy counts
    atheris.Setup([sys.argv[0], *arguments], fuzzing.TARGETS[target])
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())

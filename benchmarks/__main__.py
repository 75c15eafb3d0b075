"""python -m benchmarks [--quick] [--only PART]: print the tables that the docs quote.

No number here is a promise; `python -m benchmarks > docs/benchmarks.md` makes that page.
"""

import argparse
import contextlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks import accuracy, complete, cost, degree, denoising, ner, picture_size, qubo

PARTS = {
    "accuracy": accuracy,
    "complete": complete,
    "degree": degree,
    "denoising": denoising,
    "picture-size": picture_size,
    "qubo": qubo,
    "cost": cost,
    "ner": ner,
}


def header() -> list[str]:
    """What ran, on what."""
    processor = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    versions = ", ".join(f"{name} {version(name)}" for name in ("herded", "numpy", "numba"))
    return [
        "# What was measured",
        "",
        f"Output of `python -m benchmarks` on {os.cpu_count()} cores of {processor}, Python "
        f"{platform.python_version()}, {versions}. Times are CPU times of one thread, medians of",
        "alternating repeats, and meant as ratios: machines are noisy.",
    ]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--quick", action="store_true", help="fewer models and repeats")
    options.add_argument("--only", choices=PARTS)
    chosen = options.parse_args()
    print("\n".join(header()) + "\n", flush=True)
    for name in [chosen.only] if chosen.only else PARTS:
        for line in PARTS[name].lines(chosen.quick):
            print(line, flush=True)
        print()


main()

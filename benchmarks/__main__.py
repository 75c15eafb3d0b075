"""python -m benchmarks [--quick] [--only PART] [--models DIR]: print the tables of the docs.

No number here is a promise; `python -m benchmarks > docs/benchmarks.md` makes that page, and
`python -m benchmarks --only uai --models DIR > docs/models.md` the one on models from files.
"""

import argparse
import contextlib
import os
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks import (
    accuracy,
    complete,
    cost,
    degree,
    denoising,
    lattice,
    ner,
    picture_size,
    qubo,
    uai,
)

PARTS = {
    "accuracy": accuracy,
    "complete": complete,
    "degree": degree,
    "denoising": denoising,
    "picture-size": picture_size,
    "qubo": qubo,
    "cost": cost,
    "lattice": lattice,
    "ner": ner,
}
APART = {"uai": uai}  # on a page of its own


def header(only: str | None) -> list[str]:
    """What ran, on what."""
    processor = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    command = f"python -m benchmarks{f' --only {only}' if only else ''}"
    versions = ", ".join(f"{name} {version(name)}" for name in ("herded", "numpy", "numba"))
    where = (
        f"Output of `{command}` on {os.cpu_count()} cores of {processor}, Python "
        f"{platform.python_version()}, {versions}."
    )
    if only in APART:
        return ["# What was measured", "", where]
    return [
        "# What was measured",
        "",
        f"{where} Times are CPU times of one thread, medians of",
        "alternating repeats, and meant as ratios: machines are noisy.",
    ]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--quick", action="store_true", help="fewer models and repeats")
    options.add_argument("--only", choices=[*PARTS, *APART])
    options.add_argument("--models", metavar="DIR", help="UAI models; or set HERDED_UAI")
    chosen = options.parse_args()
    if chosen.models:
        os.environ["HERDED_UAI"] = chosen.models
    print("\n".join(header(chosen.only)) + "\n", flush=True)
    parts = {**PARTS, **APART}
    for name in [chosen.only] if chosen.only else PARTS:
        for line in parts[name].lines(chosen.quick):
            print(line, flush=True)
        print()


main()

"""python -m benchmarks [--quick] [--only PART]: print the tables that the docs quote.

Times are CPU time of one thread, medians of alternating repeats, and read as ratios: machines are
noisy, and no number here is a promise.
"""

import argparse

from benchmarks import accuracy, complete, cost, degree, denoising

PARTS = {
    "accuracy": accuracy,
    "complete": complete,
    "degree": degree,
    "denoising": denoising,
    "cost": cost,
}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--quick", action="store_true", help="fewer models and repeats")
    options.add_argument("--only", choices=PARTS)
    chosen = options.parse_args()
    for name in [chosen.only] if chosen.only else PARTS:
        for line in PARTS[name].lines(chosen.quick):
            print(line, flush=True)
        print()


main()

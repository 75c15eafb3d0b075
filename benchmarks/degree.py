"""Models of high degree, where Algorithm 1's weights do not fit: pooled weights with slack.

Reads the UAI 2014 models Alchemy_11 (degree 59) and CSP_12 (degree 17) from the folder named by
HERDED_UAI, or beside the checkout; without them it says so.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import herded as hd
from benchmarks.uai import read

NEARBY = Path(__file__).parents[2] / "shared" / "data" / "uai"
SWEEPS = (1_000, 10_000)


def lines(quick: bool) -> Iterator[str]:
    yield "## High degree"
    yield ""
    folder = Path(os.environ.get("HERDED_UAI", NEARBY))
    if not folder.is_dir():
        yield f"(skipped: no UAI models at {folder.name}; set HERDED_UAI to their folder)"
        return
    seeds = range(2 if quick else 5)
    yield f"Mean absolute marginal error, Rao-Blackwellised, {len(seeds)} seeds"
    yield ""
    yield "| model | degree | method | " + " | ".join(f"{s:,} sweeps" for s in SWEEPS) + " |"
    yield "|---|---|---|" + "---|" * len(SWEEPS)
    for name in ("Alchemy_11", "CSP_12"):
        model, truth = read(folder / name / f"{name}.uai")
        degree = max(len(model.neighbours(i)) for i in range(model.n_variables))
        for label, method in (
            ("Gibbs", lambda seed: hd.Gibbs(seed=seed)),
            (
                "herded, pooled, slack 1.5",
                lambda seed: hd.HerdedGibbs(weights="pooled", slack=1.5, seed=seed),
            ),
        ):
            keep = [hd.ErrorCurve(truth, at=SWEEPS, rao_blackwell=True)]
            errors = [
                hd.infer(model, method(seed), sweeps=max(SWEEPS), keep=keep).curve.errors[0]
                for seed in seeds
            ]
            row = " | ".join(f"{error:.1e}" for error in np.mean(errors, axis=0))
            yield f"| {name} | {degree} | {label} | {row} |"

"""How often do warnings come, and how often are they right? Random models with exact answers."""

import warnings
from collections.abc import Iterator
from textwrap import wrap

import numpy as np

import herded as hd
from benchmarks.support.random_models import MODES, SHAPES, ZEROS, Maker
from herded.methods.default_weights import default_weights
from herded.run.diagnostics.chain_agreement import find_disagreement

SWEEPS = (100, 1_000, 10_000)
CHAINS = (2, 4, 8)
WIDTH = 100


def lines(quick: bool) -> Iterator[str]:
    warnings.simplefilter("ignore", hd.HerdedWarning)
    seeds = range(2 if quick else 12)
    yield "## Warnings"
    yield ""
    yield from _disagreement(seeds)
    yield ""
    yield from _confinement(seeds)


def _disagreement(seeds: range) -> Iterator[str]:
    makers = {**SHAPES, **MODES}
    yield from wrap(
        f"Chains that disagree: {len(makers)} kinds of models without zeros, {len(seeds)} of each, "
        "by `recommend`'s herding and by Gibbs sampling. The error is the largest of any marginal; "
        "that of a hundred sweeps is mostly chance, which is no disagreement.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield (
        "| sweeps | chains | warned, error below 0.02 | warned, error below 0.05 | "
        "silent, error above 0.05 |"
    )
    yield "|---|---|---|---|---|"
    found: dict[tuple[int, int], list[tuple[float, bool]]] = {}
    for make in makers.values():
        for seed in seeds:
            model = make(np.random.default_rng([7, seed]))
            truth = hd.infer(model, hd.Exact()).marginals
            for method in (default_weights(model, seed=seed), hd.Gibbs(seed=seed)):
                for sweeps in SWEEPS:
                    run = hd.infer(model, method, sweeps=sweeps, chains=max(CHAINS))
                    for chains in CHAINS:
                        some = run.chain_marginals[:chains]
                        error = float(np.abs(some.mean(axis=0) - truth).max())
                        warned = bool(find_disagreement(model, some, sweeps))
                        found.setdefault((sweeps, chains), []).append((error, warned))
    for (sweeps, chains), runs in sorted(found.items()):
        good = [warned for error, warned in runs if error < 0.02]
        fair = [warned for error, warned in runs if error < 0.05]
        silent = [not warned for error, warned in runs if error > 0.05]
        cells = " | ".join(f"{sum(part)} of {len(part)}" for part in (good, fair, silent))
        yield f"| {sweeps:,} | {chains} | {cells} |"


def _confinement(seeds: range) -> Iterator[str]:
    yield from wrap(
        f"Hard zeros, {len(seeds)} models of each kind, `recommend`'s herding, 3,000 sweeps. "
        "Warned for states out of reach, or by chains that disagree; the error is the largest of "
        "any marginal.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield "| model | chains | warned, error below 0.05 | silent, error above 0.05 |"
    yield "|---|---|---|---|"
    for name, make in ZEROS.items():
        for chains in (1, 4):
            found = [_with_zeros(make, seed, chains) for seed in seeds]
            good = [warned for error, warned in found if error < 0.05]
            silent = [not warned for error, warned in found if error > 0.05]
            cells = " | ".join(f"{sum(part)} of {len(part)}" for part in (good, silent))
            yield f"| {name} | {chains} | {cells} |"


def _with_zeros(make: Maker, seed: int, chains: int) -> tuple[float, bool]:
    """The largest error of any marginal, and whether something was said."""
    model = make(np.random.default_rng([7, seed]))
    truth = hd.infer(model, hd.Exact()).marginals
    method = default_weights(model, seed=seed)
    run = hd.infer(model, method, sweeps=3_000, chains=chains)
    return float(np.abs(run.marginals - truth).max()), bool(run.warnings)

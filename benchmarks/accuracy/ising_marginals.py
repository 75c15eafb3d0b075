"""Marginal error on 10 x 10 Ising grids against the exact answer."""

from collections.abc import Iterator

import numpy as np

import herded as hd

SWEEPS = (1_000, 10_000)
METHODS = {
    "Gibbs": lambda seed: hd.Gibbs(seed=seed),
    "herded, blanket": lambda seed: hd.HerdedGibbs(seed=seed),
    "herded, pooled": lambda seed: hd.HerdedGibbs(weights="pooled", seed=seed),
    "herded, blanket, slack 0.7": lambda seed: hd.HerdedGibbs(slack=0.7, seed=seed),
}


def random_ising(scale: float, rng: np.random.Generator) -> hd.Lattice:
    """J and h uniform on (-scale, scale)."""
    couplings = rng.uniform(-scale, scale, (10, 9)), rng.uniform(-scale, scale, (9, 10))
    return hd.ising_grid(rng.uniform(-scale, scale, (10, 10)), couplings)


def lines(quick: bool) -> Iterator[str]:
    yield "## Accuracy on sparse graphs"
    yield ""
    models = 2 if quick else 5
    yield f"Mean absolute marginal error, 10x10 Ising, {models} models, Rao-Blackwellised"
    yield ""
    yield "| J, h uniform on | method | " + " | ".join(f"{s:,} sweeps" for s in SWEEPS) + " |"
    yield "|---|---|" + "---|" * len(SWEEPS)
    for scale in (0.3, 1.0):
        rng = np.random.default_rng(1)
        drawn = [random_ising(scale, rng) for _ in range(models)]
        exact = [hd.infer(model, hd.Exact()).marginals for model in drawn]
        for name, method in METHODS.items():
            errors = [
                hd.infer(
                    model,
                    method(seed),
                    sweeps=max(SWEEPS),
                    keep=[hd.ErrorCurve(truth, at=SWEEPS, rao_blackwell=True)],
                ).curve.errors[0]
                for seed, (model, truth) in enumerate(zip(drawn, exact, strict=True))
            ]
            row = " | ".join(f"{error:.1e}" for error in np.mean(errors, axis=0))
            yield f"| (-{scale}, {scale}) | {name} | {row} |"

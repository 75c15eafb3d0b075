"""The rule of `recommend`: the weights it takes on models of many shapes, and what they gain."""

from collections.abc import Iterator

import numpy as np

import herded as hd
from benchmarks.support.random_models import SHAPES, Maker
from herded.methods.default_weights import default_weights

SWEEPS, CHAINS = 10_000, 4


def lines(quick: bool) -> Iterator[str]:
    count = 2 if quick else 5
    yield "## Which weights"
    yield ""
    yield f"Mean absolute error of marginals, {count} random models of each kind with exact"
    yield f"answers, {CHAINS} chains of {SWEEPS:,} sweeps: herding in time and Gibbs sampling,"
    yield "Rao-Blackwellised and by frequencies"
    yield ""
    yield "| model | weights | herded | Gibbs | ratio | herded, frequencies | Gibbs | ratio |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, make in SHAPES.items():
        yield _row(name, make, count)


def _row(name: str, make: Maker, count: int) -> str:
    errors = np.zeros((2, 2))
    for seed in range(count):
        model = make(np.random.default_rng([5, seed]))
        truth = hd.ErrorCurve(hd.infer(model, hd.Exact()).marginals)
        method = default_weights(model)
        for m, sampler in enumerate((method, hd.Gibbs())):
            keep = [hd.Marginals(rao_blackwell=True)]
            run = hd.infer(model, sampler, sweeps=SWEEPS, chains=CHAINS, keep=keep)
            errors[0, m] += truth.error(model, run.marginals) / count
            errors[1, m] += truth.error(model, run.frequencies) / count
    cells = [f"{herded:.1e} | {gibbs:.1e} | {herded / gibbs:.2f}" for herded, gibbs in errors]
    weights = method.weights + (f", slack {method.slack:g}" if method.slack else "")
    return f"| {name} | {weights} | {' | '.join(cells)} |"

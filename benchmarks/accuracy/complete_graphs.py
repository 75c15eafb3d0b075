"""Theorem 2: on complete graphs the joint's total variation falls as 1 / T."""

from collections.abc import Iterator

import numpy as np

import herded as hd

SWEEPS = np.unique(np.round(np.logspace(3, 6, 25)).astype(int))


def complete_graph(n: int, scale: float, seed: int) -> hd.FactorGraph:
    """An Ising model on n nodes, J and h uniform on (-scale, scale)."""
    rng = np.random.default_rng([n, seed])
    edges = [(i, j) for i in range(n) for j in range(i)]
    h, coupling = rng.uniform(-scale, scale, n), rng.uniform(-scale, scale, len(edges))
    spins = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return hd.pairwise_model(np.stack([-h, h], axis=1), edges, coupling[:, None, None] * spins)


def distances(model: hd.FactorGraph, method: hd.HerdedGibbs | hd.Gibbs) -> np.ndarray:
    """Total variation of the empirical joint after each of SWEEPS."""
    truth = hd.infer(model, hd.Exact()).joint
    counts, done, state, found = np.zeros_like(truth), 0, None, []
    for sweeps in SWEEPS:
        step = int(sweeps - done)
        result = hd.infer(model, method, sweeps=step, start=state, keep=[hd.Joint()])
        counts, done, state = counts + result.joint * step, sweeps, result.state
        found.append(0.5 * np.abs(counts / done - truth).sum())
    return np.array(found)


def lines(quick: bool) -> Iterator[str]:
    yield "## Theorem 2 on complete graphs"
    yield ""
    models = 2 if quick else 6
    yield f"Complete graphs, {models} models each: fitted slope of log d_v(P_T, pi) over log T,"
    yield "T from 10^3 to 10^6 (median, shallowest), and the median d_v at 10^6"
    yield ""
    yield "| J, h uniform on | nodes | herded slope | shallowest | herded d_v | Gibbs d_v |"
    yield "|---|---|---|---|---|---|"
    for scale in (0.5, 1.0):
        for n in (4, 6, 8):
            slopes, last, gibbs = [], [], []
            for seed in range(models):
                model = complete_graph(n, scale, seed)
                d = distances(model, hd.HerdedGibbs(phases="half"))
                slopes.append(np.polyfit(np.log(SWEEPS), np.log(d), 1)[0])
                last.append(d[-1])
                gibbs.append(distances(model, hd.Gibbs(seed=seed))[-1])
            yield (
                f"| (-{scale}, {scale}) | {n} | {np.median(slopes):.2f} | {max(slopes):.2f} "
                f"| {np.median(last):.1e} | {np.median(gibbs):.1e} |"
            )

"""High degrees: pooled weights with slack need linear memory and beat Gibbs at 10,000 sweeps."""

from pathlib import Path

import numpy as np
import pytest

import herded as hd

UAI = Path(__file__).parents[3] / "shared" / "data" / "uai"
POOLED = {"weights": "pooled", "slack": 1.5}


def words(path):
    return iter(path.read_text().split()[1:])


def read(name):
    """A UAI model and its exact marginals."""
    text = words(UAI / name / f"{name}.uai")
    cards = [int(next(text)) for _ in range(int(next(text)))]
    scopes = [[int(next(text)) for _ in range(int(next(text)))] for _ in range(int(next(text)))]
    factors = []
    for scope in scopes:
        table = np.array([float(next(text)) for _ in range(int(next(text)))])
        factors.append((scope, np.log(table).reshape([cards[i] for i in scope])))
    text = words(UAI / name / f"{name}.uai.MAR")
    marginals = np.zeros((int(next(text)), max(cards)))
    for row in marginals:
        k = int(next(text))
        row[:k] = [float(next(text)) for _ in range(k)]
    return hd.FactorGraph(cards, factors), marginals


def hubs(seed):
    """Two hubs, each tied to forty others: degree 41, yet exactly solvable."""
    rng = np.random.default_rng(seed)
    edges = [(0, 1)] + [(hub, leaf) for leaf in range(2, 42) for hub in (0, 1)]
    coupling = rng.uniform(-0.3, 0.3, len(edges))[:, None, None] * [[1, -1], [-1, 1]]
    return hd.pairwise_model(rng.normal(0, 0.3, (42, 2)), edges, coupling)


def mean_error(model, truth, method, seeds=1):
    keep = [hd.ErrorCurve(truth, at=[10_000], rao_blackwell=True)]
    runs = [hd.infer(model, method(seed), sweeps=10_000, keep=keep) for seed in range(seeds)]
    return np.mean([run.curve.errors[0, 0] for run in runs])


def test_a_uai_model_of_high_degree():
    name = "CSP_12"
    if not (UAI / name).is_dir():
        pytest.skip("the UAI models are not on this machine")
    model, truth = read(name)
    layout = hd.HerdedGibbs(**POOLED).compile(model)
    assert layout.kind == "factor" and layout.memory < 2000 * model.n_variables
    herded = mean_error(model, truth, lambda seed: hd.HerdedGibbs(**POOLED, seed=seed), 2)
    assert herded < mean_error(model, truth, hd.Gibbs, 2)


def test_hubs_of_high_degree():
    """The same claim where nothing needs to be downloaded; the mean of three models."""
    errors = np.zeros(2)
    for seed in range(3):
        model = hubs(seed)
        with pytest.raises(hd.MemoryLimitError, match="variable 0 has 41 neighbours"):
            hd.HerdedGibbs().compile(model)
        truth = hd.infer(model, hd.Exact()).marginals
        errors += [
            mean_error(model, truth, lambda s: hd.HerdedGibbs(**POOLED, seed=s)),
            mean_error(model, truth, hd.Gibbs),
        ]
    assert errors[0] < errors[1]

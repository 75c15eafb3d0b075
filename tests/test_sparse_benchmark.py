"""The benchmark's expert samples the same model as `herded` does."""

import numpy as np

import herded as hd
from benchmarks.sparse import NODES, STEPS, Sparse, expert_exp, expert_table


def test_the_expert_has_the_conditionals_of_the_model():
    sparse = Sparse(6)
    degree = len(sparse.neighbour) / NODES
    assert degree == 6
    x = np.random.default_rng(1).integers(0, 2, NODES)
    for i in (0, 1, 77, NODES - 1):
        part = slice(sparse.start[i], sparse.start[i + 1])
        field = sparse.alone[i] + sparse.strength[part] @ x[sparse.neighbour[part]]
        scores = [sparse.model.log_score(np.where(np.arange(NODES) == i, k, x)) for k in (0, 1)]
        np.testing.assert_allclose(field, scores[1] - scores[0], atol=1e-8)


def test_the_expert_draws_from_them():
    """One variable alone: its frequency within five standard errors, and of the table's step."""
    start, nobody = np.zeros(2, np.int64), np.zeros(0, np.uint32)
    alone, draws = np.array([0.7]), 100_000
    sigmoid = 1 / (1 + np.exp(-np.arange(-24 * STEPS, 24 * STEPS + 1) / STEPS))
    for kernel, table in ((expert_exp, ()), (expert_table, (sigmoid,))):
        block = np.zeros((draws, 1), np.uint8)
        seed = np.array([88172645463325252], np.uint64)
        kernel(start, nobody, np.zeros(0), alone, *table, np.zeros(1, np.uint8), seed, block)
        p = 1 / (1 + np.exp(-0.7))
        assert abs(block.mean() - p) < 5 * np.sqrt(p * (1 - p) / draws) + 0.25 / STEPS


def test_herded_on_fields_agrees_with_the_expert():
    sparse, sweeps = Sparse(6), 400
    block = np.zeros((sweeps, NODES), np.uint8)
    seed, x = np.array([88172645463325252], np.uint64), np.zeros(NODES, np.uint8)
    expert_exp(sparse.start, sparse.neighbour, sparse.strength, sparse.alone, x, seed, block)
    found = hd.infer(sparse.model, hd.Gibbs(), sweeps=sweeps, burn_in=20, progress=False)
    assert found.provenance["plan"] == "field"
    gap = found.marginals[:, 1] - block[20:].mean(axis=0)
    assert np.abs(gap).mean() < 0.06 and abs(gap.mean()) < 0.005

"""The benchmark's experts sample the same models as `herded` does."""

import numpy as np
import pytest

import herded as hd
from benchmarks.herds import pair_model_speed
from benchmarks.speed.many_states import ManyStates, expert_products, expert_sums
from benchmarks.speed.sparse_graphs import NODES, STEPS, Sparse, expert_exp, expert_table


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
    assert found.provenance["layout"] == "field"
    gap = found.marginals[:, 1] - block[20:].mean(axis=0)
    assert np.abs(gap).mean() < 0.06 and abs(gap.mean()) < 0.005


@pytest.mark.parametrize("shared", [False, True])
def test_the_expert_of_many_states_has_the_conditionals_of_the_model(shared):
    """Frequencies of one variable whose neighbours stay: within five standard errors."""
    sparse, draws = ManyStates(3, shared, nodes=40), 40_000
    x = np.random.default_rng(1).integers(0, 3, 40)
    start, nobody = np.zeros(2, np.int64), np.zeros(0, np.uint32)
    for i in (0, 7, 39):
        scores = [sparse.model.log_score(np.where(np.arange(40) == i, k, x)) for k in range(3)]
        p = np.exp(scores - np.logaddexp.reduce(scores))
        part = slice(sparse.start[i], sparse.start[i + 1])
        rows = sparse.logs[sparse.which[part], x[sparse.neighbour[part]]]
        # The variable alone is sampled: its neighbours' rows are a part of what it is by itself.
        alone = sparse.alone[i] + rows.sum(axis=0)
        for kernel, change in ((expert_products, np.exp), (expert_sums, np.array)):
            block, seed = np.zeros((draws, 1), np.uint8), np.array([88172645463325252], np.uint64)
            tables = change(np.zeros((0, 3, 3))), change(alone[None])
            told = (start, nobody, nobody.astype(np.int64), *tables)
            kernel(*told, np.zeros(1, np.uint8), seed, block)
            found = np.bincount(block[:, 0], minlength=3) / draws
            assert (np.abs(found - p) < 5 * np.sqrt(p * (1 - p) / draws)).all()


@pytest.mark.parametrize("shared", [False, True])
def test_herded_on_pairs_agrees_with_the_experts(shared):
    """Marginals of 200 variables: the root mean square of 2 standard errors of correlated draws."""
    sparse, sweeps = ManyStates(4, shared, nodes=200), 4000
    found = hd.infer(sparse.model, hd.Gibbs(), sweeps=sweeps, burn_in=20, layout="pairs")
    for kernel, change in ((expert_products, np.exp), (expert_sums, np.array)):
        block, seed = np.zeros((sweeps, 200), np.uint8), np.array([88172645463325252], np.uint64)
        tables = change(sparse.logs), change(sparse.alone)
        told = (sparse.start, sparse.neighbour, sparse.which, *tables)
        kernel(*told, np.zeros(200, np.uint8), seed, block)
        shares = np.stack([(block[20:] == k).mean(axis=0) for k in range(4)], axis=1)
        gap = found.marginals - shares
        assert np.sqrt((gap**2).mean()) < 2 * np.sqrt(2 * 0.25 * 0.75 / sweeps)


def test_the_benchmark_of_herds_of_many_states():
    """Its models are laid out on every layout that takes them, and swept."""
    for name, model in pair_model_speed.models(quick=True):
        works = pair_model_speed.works(model, 1)
        assert (f"Gibbs(herd={pair_model_speed.HERD}), table" in works) == (
            "8x8" in name and "3" in name
        )
        works[f"Gibbs(herd={pair_model_speed.HERD}), pairs"]()

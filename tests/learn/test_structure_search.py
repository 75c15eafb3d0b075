"""find_structure: the twin's bits, graphs that are found again, a sentence for what is wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import MethodError, ModelError
from herded.learn.fitting.log_linear import build_log_linear
from herded.learn.fitting.objectives import TrainingRows
from herded.learn.structure.ising_pseudolikelihood import spin_pseudo_likelihood
from herded.learn.structure.structure_search import PairSpins
from tests.conformance.twins.learning.boltzmann import naive_spin_pseudo_likelihood
from tests.support.example_budget import examples
from tests.support.strategies import seeds

RING = hd.ising_grid(np.full(8, 0.1), 0.6, periodic=True)
RING_EDGES = [[i, i + 1] for i in range(7)] + [[0, 7]]


def samples(model, rows, seed=0):
    keep = [hd.Samples(every=200)]
    found = hd.infer(model, hd.Gibbs(seed=seed, herd=rows), sweeps=200, keep=keep).samples
    return found.reshape(rows, model.n_variables)


@examples(20)
@given(st.integers(1, 6), st.integers(2, 5), seeds)
def test_spins_have_the_bits_of_their_twin(rows, n, seed):
    rng = np.random.default_rng(seed)
    spins, weight = rng.choice([-1.0, 1.0], (rows, n)), rng.random(rows)
    field, coupling = rng.normal(size=n), rng.normal(size=(n, n))
    of_field, of_coupling = np.zeros(n), np.zeros((n, n))
    value = spin_pseudo_likelihood(spins, weight, field, coupling, of_field, of_coupling)
    twin = naive_spin_pseudo_likelihood(spins, weight, field, coupling)
    assert value == twin[0]
    np.testing.assert_array_equal(of_field, twin[1])
    np.testing.assert_array_equal(of_coupling, twin[2])


def test_the_pseudo_likelihood_is_that_of_fit():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (30, 4))
    x = rng.normal(size=10)
    edges = np.stack(np.triu_indices(4, 1), axis=1)
    family = build_log_linear(
        hd.pairwise_model(np.zeros((4, 2)), edges, np.zeros((6, 2, 2))), groups="ising"
    )
    value, gradient = PairSpins.of(2.0 * rows - 1.0).at(x)
    other, of_other = TrainingRows(family, rows).pseudo(x)
    assert value == pytest.approx(other, abs=1e-12)
    np.testing.assert_allclose(gradient, of_other, atol=1e-12)


@pytest.mark.parametrize("choose", ["ebic", "held-out"])
def test_a_ring_is_found(choose):
    data = samples(RING, 1500)
    found = hd.learn.find_structure(data, choose=choose)
    edges = found.edges.tolist()
    assert all(sorted(edge) in edges for edge in RING_EDGES)
    assert len(edges) == 8 or choose == "held-out"
    of_ring = [edge in [sorted(e) for e in RING_EDGES] for edge in edges]
    np.testing.assert_allclose(found.couplings[of_ring], 0.6, atol=0.15)
    assert found.path[0].edges == 0 and len(found.path) == 15
    assert found.penalty == min(found.path, key=lambda point: point.score).penalty
    assert f"{len(edges)} edges between 8 spins" in repr(found)
    again = hd.learn.find_structure(data, choose=choose)
    np.testing.assert_array_equal(found.couplings, again.couplings)
    refit = hd.learn.fit(found.model, data, groups="ising")
    assert refit.converged and len(refit.parameters) == 8 + len(edges)


def test_independent_spins_have_no_edges():
    data = np.random.default_rng(1).integers(0, 2, (500, 6))
    found = hd.learn.find_structure(data, names=list("abcdef"))
    assert len(found.edges) == 0 and found.model.names == tuple("abcdef")
    few = hd.learn.find_structure(data, penalties=[0.5, 0.1])
    assert [point.penalty for point in few.path] == [0.5, 0.1]


DATA = np.random.default_rng(2).integers(0, 2, (20, 3))


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (DATA * [1, 0, 1], {}, "expected variables that vary, but variable 1 is 0 in every row"),
        (DATA[:1], {}, "expected two rows of data or more, got 1"),
        (DATA[:, :1], {}, r"expected data of shape \(rows, 2 or more variables\)"),
        (DATA + 1, {}, "expected states 0 and 1, got 2 of variable"),
        (DATA - 1, {}, "expected states 0 and 1, got -1 of variable"),
        (DATA / 2, {}, "expected whole numbers as data"),
        (np.where(DATA == 0, np.nan, 1), {}, "expected whole numbers in data, got NaN at"),
        (DATA, {"choose": "aic"}, 'expected choose="ebic" or "held-out"'),
        (DATA, {"gamma": 2}, "expected gamma from 0 to 1"),
        (DATA, {"penalties": [0.0]}, "expected penalties as a number of them"),
        (DATA, {"penalties": 0}, "expected penalties as a number of them"),
        (DATA, {"held_out": 0.99}, "expected held_out as a share between 0 and 1"),
        (DATA, {"seed": -1}, "expected a whole number of 0 or more as seed"),
    ],
)
def test_what_is_wrong_is_a_sentence(data, options, said):
    with pytest.raises((ModelError, MethodError), match=rf"^{said}"):
        hd.learn.find_structure(data, **options)

"""Exact inference against enumeration, transfer matrices and the UAI competition's answers."""

import itertools
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from herded.errors import InfeasibleError, MemoryLimitError, MethodError
from herded.methods.exact.solver import Exact
from herded.methods.protocol import Solver
from herded.models.chain import chain_model
from herded.models.factor_graph import FactorGraph
from herded.models.lattice_builders import ising_grid, potts_grid
from herded.models.pairwise import pairwise_model
from tests.conformance.twins.enumerated_joint import naive_joint, naive_log_z, naive_viterbi
from tests.support.example_budget import examples
from tests.support.strategies import models
from tests.support.timeouts import ending

UAI = Path(__file__).parents[3] / "shared" / "data" / "uai"


def solve(model, **options):
    method = Exact()
    layout = method.compile(model, **options)
    state = method.init(layout)
    method.advance(layout, state, state.total)
    return method.answer(layout, state)


def marginal(joint, *kept):
    return joint.sum(axis=tuple(i for i in range(joint.ndim) if i not in kept))


def test_is_a_solver():
    assert isinstance(Exact(), Solver)
    assert Exact.capabilities.in_one_step
    layout = Exact().compile(FactorGraph([2], []))
    state = Exact().init(layout)
    assert (state.sweep, state.converged) == (0, False)
    assert not Exact().answer(layout, state).converged
    Exact().advance(layout, state, 0)
    assert (state.sweep, state.converged) == (1, True)
    with pytest.raises(MethodError, match='expected the layout "factor"'):
        Exact().compile(FactorGraph([2], []), kind="table")


# -- against enumeration -----------------------------------------------------------------------


@given(models())
def test_agrees_with_enumeration(model):
    answer, joint = solve(model), naive_joint(model)
    assert answer.joint.shape == tuple(model.cardinalities)
    np.testing.assert_allclose(answer.joint, joint, atol=1e-12)
    np.testing.assert_allclose(answer.log_z, naive_log_z(model), atol=1e-9)
    assert answer.marginals.shape == (model.n_variables, model.cardinalities.max())
    for i, k in enumerate(model.cardinalities):
        np.testing.assert_allclose(answer.marginals[i, :k], marginal(joint, i), atol=1e-12)
        assert (answer.marginals[i, k:] == 0).all()
    linked = [(i, int(j)) for i in range(model.n_variables) for j in model.neighbours(i) if i < j]
    assert list(answer.pairs) == linked
    for pair, table in answer.pairs.items():
        np.testing.assert_allclose(table, marginal(joint, *pair), atol=1e-12)


@given(models())
def test_best_state_agrees_with_enumeration(model):
    answer = solve(model)
    _, log_score = naive_viterbi(model)
    assert answer.state.dtype == np.int64
    np.testing.assert_allclose(answer.log_score, log_score, atol=1e-9)
    assert model.log_score(answer.state) == answer.log_score


@given(models(zeros=(0.0, 0.5)))
def test_impossible_states_have_probability_zero(model):
    answer = solve(model)
    impossible = naive_joint(model) == 0
    assert (answer.joint[impossible] == 0).all()
    assert abs(answer.joint.sum() - 1) < 1e-12


def test_clamped_variables_are_one_hot():
    model = pairwise_model(np.zeros((3, 3)), [(0, 1), (1, 2)], np.eye(3)).given({0: 2, 1: 1})
    answer = solve(model)
    np.testing.assert_array_equal(answer.marginals[:2], np.eye(3)[[2, 1]])
    np.testing.assert_array_equal(answer.pairs[0, 1], np.outer(np.eye(3)[2], np.eye(3)[1]))
    np.testing.assert_allclose(answer.pairs[1, 2][1], answer.marginals[2])
    assert answer.pairs[1, 2][[0, 2]].sum() == 0


def test_everything_clamped():
    answer = solve(
        FactorGraph([2, 3], [((0, 1), np.arange(6.0).reshape(2, 3))]).given({0: 1, 1: 0})
    )
    assert answer.log_z == answer.log_score == 3.0
    assert answer.state.tolist() == [1, 0]
    assert answer.joint[1, 0] == 1.0 == answer.joint.sum()


def test_no_factors_at_all():
    answer = solve(FactorGraph([2, 4], []))
    assert answer.log_z == pytest.approx(np.log(8))
    assert answer.pairs == {}
    np.testing.assert_allclose(answer.marginals, [[0.5, 0.5, 0, 0], [0.25] * 4])


def test_impossible_models_are_refused():
    with np.errstate(divide="ignore"):
        differ, equal = np.log(1 - np.eye(2)), np.log(np.eye(2))
    model = FactorGraph([2, 2], [((0, 1), differ), ((0, 1), equal)])
    with pytest.raises(InfeasibleError, match="expected some state of positive probability"):
        solve(model)


# -- numbers of any size -----------------------------------------------------------------------


@examples(50)
@given(models(scales=(1e4,), max_factors=5))
def test_huge_potentials(model):
    answer = solve(model)
    np.testing.assert_allclose(answer.log_z, naive_log_z(model), rtol=1e-12, atol=1e-7)
    np.testing.assert_allclose(answer.joint, naive_joint(model), atol=1e-7)
    assert np.isfinite(answer.marginals).all()


def test_huge_potentials_cancel():
    """A large constant in one factor and its negative in another leave the rest untouched."""
    shift = np.full((2, 2), 1e4)
    model = FactorGraph([2, 2], [((0, 1), shift), ((0, 1), -shift), ((0,), [0.0, 1.0])])
    answer = solve(model)
    np.testing.assert_allclose(answer.marginals[0, 1], np.e / (1 + np.e))
    assert answer.log_z == pytest.approx(np.log(2 * (1 + np.e)))


def test_a_long_chain_neither_overflows_nor_underflows():
    for coupling in (50.0, -50.0):
        table = coupling * (2 * np.eye(2) - 1)
        answer = solve(chain_model(np.zeros((300, 2)), table))
        log_z = np.log(2) + 299 * np.logaddexp(coupling, -coupling)
        assert answer.log_z == pytest.approx(log_z, rel=1e-12)
        np.testing.assert_allclose(answer.marginals, 0.5)
        assert answer.joint is None


# -- larger models -----------------------------------------------------------------------------


def transfer_matrix(field, right, down):
    """log Z and P(x = 1) of an Ising grid, row by row over all 2^W states of a row."""
    h, w = field.shape
    spins = np.array(list(itertools.product([-1.0, 1.0], repeat=w)))
    row = [spins @ field[r] + (spins[:, 1:] * spins[:, :-1]) @ right[r] for r in range(h)]
    between = [(spins * down[r]) @ spins.T for r in range(h - 1)]
    above, below = [np.zeros(2**w)], [np.zeros(2**w)]
    for r in range(h - 1):
        above.append(np.logaddexp.reduce((above[-1] + row[r])[:, None] + between[r], axis=0))
        s = h - 1 - r
        below.append(np.logaddexp.reduce((below[-1] + row[s])[None] + between[s - 1], axis=1))
    log_z = np.logaddexp.reduce(above[-1] + row[-1])
    ones = [
        np.exp(a + b + u - log_z) @ (spins > 0)
        for a, b, u in zip(above, below[::-1], row, strict=True)
    ]
    return log_z, np.array(ones)


def random_grid(h, w, strength, seed=0):
    rng = np.random.default_rng(seed)
    shapes = (h, w), (h, w - 1), (h - 1, w)
    return [rng.uniform(-strength, strength, shape) for shape in shapes]


def test_ising_grid_agrees_with_the_transfer_matrix():
    field, right, down = random_grid(12, 8, 1.0)
    model = ising_grid(field, (right, down))
    with ending():
        answer = solve(model)
    log_z, ones = transfer_matrix(field, right, down)
    assert answer.log_z == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(answer.marginals[:, 1].reshape(12, 8), ones, atol=1e-12)
    assert model.log_score(answer.state) == pytest.approx(answer.log_score)
    flips = answer.state ^ np.eye(96, dtype=np.int64)
    assert (model.log_score(flips) <= answer.log_score).all()


def test_lattice_with_evidence():
    rng = np.random.default_rng(1)
    model = potts_grid(rng.normal(size=(2, 3, 3)), 0.7).given({(0, 1): 2, (1, 2): 0})
    np.testing.assert_allclose(solve(model).joint, naive_joint(model), atol=1e-12)


@pytest.mark.parametrize("periodic", [False, True])
def test_pairs_and_marginals_are_consistent(periodic):
    rng = np.random.default_rng(2)
    answer = solve(ising_grid(rng.normal(size=(5, 6)), 0.4, periodic=periodic))
    assert len(answer.pairs) == (60 if periodic else 49)
    for (i, j), table in answer.pairs.items():
        np.testing.assert_allclose(table.sum(axis=1), answer.marginals[i], atol=1e-12)
        np.testing.assert_allclose(table.sum(axis=0), answer.marginals[j], atol=1e-12)


@pytest.mark.parametrize("name", ["Grids_12", "Promedus_13", "Pedigree_12", "CSP_12"])
def test_uai_competition(name):
    folder = UAI / name
    if not folder.exists():
        pytest.skip(f"no UAI models at {UAI}")
    model, expected = read_uai(folder / f"{name}.uai")
    answer = solve(model)
    np.testing.assert_allclose(answer.marginals, expected, atol=1e-6)
    (row,) = (r for r in (UAI / "SUMMARY.tsv").read_text().splitlines() if r.startswith(name))
    assert answer.log_z / np.log(10) == pytest.approx(float(row.split("\t")[11]), abs=1e-4)


def read_uai(path):
    """A model with its evidence, and its published marginals."""
    words = iter(path.read_text().split()[1:])
    cards = [int(next(words)) for _ in range(int(next(words)))]
    scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
    factors = []
    for scope in scopes:
        table = np.array([float(next(words)) for _ in range(int(next(words)))])
        with np.errstate(divide="ignore"):
            factors.append((scope, np.log(table).reshape([cards[i] for i in scope])))
    _, *evidence = (int(word) for word in Path(f"{path}.evid").read_text().split())
    words = iter(Path(f"{path}.MAR").read_text().split()[2:])
    marginals = np.zeros((len(cards), max(cards)))
    for i in range(len(cards)):
        k = int(next(words))
        marginals[i, :k] = [float(next(words)) for _ in range(k)]
    given = dict(zip(evidence[::2], evidence[1::2], strict=True))
    return FactorGraph(cards, factors).given(given), marginals


# -- memory --------------------------------------------------------------------------------------


def test_large_grids_are_refused_before_anything_is_allocated():
    model = ising_grid(np.zeros((40, 40)))
    tracemalloc.start()
    with pytest.raises(
        MemoryLimitError, match=r"at most 100\.0 MiB.*use HerdedGibbs, or raise max_memory="
    ):
        solve(model, max_memory=100 * 2**20)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_dense_models_are_refused_at_once():
    n = 500
    edges = list(itertools.combinations(range(n), 2))
    model = pairwise_model(np.zeros((n, 2)), edges, np.zeros((2, 2)))
    with ending(), pytest.raises(MemoryLimitError, match="with 500 variables in a cluster"):
        solve(model, max_memory=np.inf)  # more axes than an array can have


def test_the_estimate_covers_what_is_allocated():
    model = ising_grid(*random_grid(9, 16, 0.5)[:1])
    layout = Exact().compile(model)
    state = Exact().init(layout)
    tracemalloc.start()
    Exact().advance(layout, state, state.total)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * layout.memory + 2e6


def test_variables_of_one_state_cost_nothing():
    """A hundred of them in one factor: more axes than an array can have."""
    cards = [1] * 100 + [2, 2]
    graph = FactorGraph.from_arrays(
        cards, np.array([0, 102]), np.arange(102), np.log([1.0, 2.0, 3.0, 4.0])
    )
    answer = solve(graph)
    np.testing.assert_allclose(answer.marginals[-2:], [[0.3, 0.7], [0.4, 0.6]])
    np.testing.assert_allclose(answer.pairs[100, 101], [[0.1, 0.2], [0.3, 0.4]])
    assert answer.joint is None

"""Viterbi against enumeration, `Exact` and another program's answers."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from herded.errors import InfeasibleError, MemoryLimitError, MethodError
from herded.methods.exact.solver import Exact
from herded.methods.protocol import Solver
from herded.methods.viterbi.solver import Viterbi
from herded.models.chain import chain_model, skip_chain_model
from herded.models.factor_graph import FactorGraph
from herded.models.lattice_builders import ising_grid
from herded.models.pairwise import pairwise_model
from tests.conformance.twins.enumerated_joint import naive_log_scores, naive_viterbi
from tests.support.strategies import chains
from tests.support.timeouts import ending

IEER = Path(__file__).parents[3] / "shared" / "data" / "ieer"


def solve(model, method=None, **options):
    method = method or Viterbi()
    layout = method.compile(model, **options)
    state = method.init(layout)
    method.advance(layout, state, 1)
    return method.answer(layout, state)


def test_is_a_solver():
    assert isinstance(Viterbi(), Solver)
    assert Viterbi.capabilities.in_one_step
    layout = Viterbi().compile(chain_model(np.zeros((2, 2)), np.eye(2)))
    state = Viterbi().init(layout)
    assert (state.sweep, state.converged) == (0, False)
    assert not Viterbi().answer(layout, state).converged
    Viterbi().advance(layout, state, 0)
    assert (state.sweep, state.converged) == (1, True)
    answer = Viterbi().answer(layout, state)
    assert answer.marginals is None and answer.log_z is None
    with pytest.raises(MethodError, match='expected the layout "factor"'):
        Viterbi().compile(layout.model, kind="grid")


@given(chains())
def test_agrees_with_enumeration(model):
    answer = solve(model)
    _, log_score = naive_viterbi(model)
    assert answer.state.dtype == np.int64
    np.testing.assert_allclose(answer.log_score, log_score, atol=1e-9)
    assert model.log_score(answer.state) == answer.log_score


@given(chains(whole=True))
def test_ties_go_to_the_lowest_state_along_the_chain(model):
    layout = Viterbi().compile(model)
    state = Viterbi().init(layout)
    Viterbi().advance(layout, state, 1)
    scan = layout.arrays.scan
    starts = scan.segment_start
    for first, last in zip(starts[:-1], starts[1:] - 1, strict=True):
        assert scan.order[first] <= scan.order[last]
    # Whole log-potentials add up exactly: all best states are known, and so is the first.
    scores = naive_log_scores(model)
    best = np.argwhere(scores == scores.max())[:, scan.order]
    assert state.x[scan.order].tolist() == min(best.tolist())


def test_many_long_chains_agree_with_exact():
    rng = np.random.default_rng(0)
    model = chain_model(
        rng.normal(size=(300, 5)), rng.normal(size=(299, 5, 5)), lengths=[100, 1, 199]
    )
    answer, exact = solve(model), solve(model, Exact())
    np.testing.assert_array_equal(answer.state, exact.state)
    assert answer.log_score == exact.log_score


def test_huge_potentials_and_hard_zeros():
    """Only one state is possible, and it is 1e4 worse at every step than it would like."""
    table = np.array([[1e4, -np.inf], [-np.inf, -1e4]])
    unary = np.zeros((1000, 2))
    unary[500, 0] = -np.inf
    answer = solve(chain_model(unary, table))
    assert (answer.state == 1).all()
    assert answer.log_score == -999e4


def test_evidence_cuts_loops_and_branches():
    rng = np.random.default_rng(1)
    ring = pairwise_model(rng.normal(size=(5, 3)), [(i, (i + 1) % 5) for i in range(5)], np.eye(3))
    star = pairwise_model(rng.normal(size=(5, 3)), [(0, i) for i in range(1, 5)], -np.eye(3))
    for model in (ring.given({2: 1}), star.given({0: 2})):
        best, log_score = naive_viterbi(model)
        answer = solve(model)
        np.testing.assert_array_equal(answer.state, best)
        assert answer.log_score == pytest.approx(log_score)


def test_a_grid_of_one_row_is_a_chain():
    model = ising_grid(np.array([[3.0, -1.0, -1.0, 2.0]]), 1.5)
    assert solve(model).state.tolist() == [1, 1, 1, 1]


def test_everything_clamped():
    answer = solve(chain_model(np.eye(2), np.eye(2)).given({0: 0, 1: 1}))
    assert answer.state.tolist() == [0, 1]
    assert answer.log_score == 2.0


# -- what it refuses ---------------------------------------------------------------------------


def test_branches_are_refused():
    names = ["hub", "a", "b", "c"]
    model = pairwise_model(np.zeros((4, 2)), [(0, 1), (0, 2), (0, 3)], np.eye(2), names=names)
    with pytest.raises(MethodError, match=r"expected chains.*'hub' has 3 neighbours: use Exact"):
        solve(model)


def test_loops_are_refused():
    model = skip_chain_model(np.zeros((5, 2)), np.eye(2), [(1, 4)], np.eye(2), lengths=[1, 4])
    with pytest.raises(MethodError, match="variable 1 is on a loop, with 2 neighbours: use Exact"):
        solve(model)


def test_factors_of_three_are_refused_unless_one_is_clamped():
    model = FactorGraph([2, 2, 2], [((0, 1, 2), np.arange(8.0).reshape(2, 2, 2))])
    with pytest.raises(MethodError, match="expected chains"):
        solve(model)
    assert solve(model.given({1: 0})).state.tolist() == [1, 0, 1]


def test_impossible_models_are_refused():
    with np.errstate(divide="ignore"):
        differ, equal = np.log(1 - np.eye(2)), np.log(np.eye(2))
    model = FactorGraph([2, 2], [((0, 1), differ), ((1, 0), equal)])
    with pytest.raises(InfeasibleError, match="expected some state of positive probability"):
        solve(model)


def test_max_memory_is_respected():
    with pytest.raises(MemoryLimitError, match="raise max_memory="):
        solve(chain_model(np.zeros((100, 5)), np.eye(5)), max_memory=1000)


# -- at scale ----------------------------------------------------------------------------------


def test_many_chains():
    rng = np.random.default_rng(2)
    lengths = rng.multinomial(65_000 - 2_800, np.full(2_800, 1 / 2_800)) + 1
    model = chain_model(rng.normal(size=(65_000, 4)), rng.normal(size=(4, 4)), lengths=lengths)
    solve(chain_model(np.zeros((2, 4)), np.eye(4)))  # compiles the kernels
    with ending():
        answer = solve(model)
    flipped = answer.state[None].repeat(50, axis=0)
    at = rng.integers(0, 65_000, 50)
    flipped[np.arange(50), at] = (flipped[np.arange(50), at] + 1) % 4
    assert (model.log_score(flipped) < answer.log_score).all()


@pytest.mark.parametrize("name", ["conll", "mix"])
def test_agrees_with_the_stanford_tagger(name):
    path = IEER / f"stanford_crf_{name}_chains.npz"
    if not path.exists():
        pytest.skip(f"no chains at {path}")
    data = np.load(path)
    lengths, log_next = data["lengths"], data["logcond"].astype(np.float64)
    first = np.cumsum(lengths) - lengths
    unary = np.zeros((len(log_next), 4))
    unary[first] = log_next[first, 0]  # the tag before a sentence is O
    answer = solve(chain_model(unary, log_next[1:], lengths=lengths))
    np.testing.assert_array_equal(answer.state, data["viterbi"])

"""Belief propagation against its slow twin, and against enumeration on trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from herded.errors import InfeasibleError, MemoryLimitError, MethodError
from herded.methods.belief_propagation.solver import BeliefPropagation
from herded.methods.protocol import Solver
from herded.models.chain import chain_model
from herded.models.factor_graph import FactorGraph
from herded.models.lattice_builders import ising_grid
from tests.conformance.twins.samplers.solvers import naive_belief_propagation
from tests.support.example_budget import examples

UPDATES = st.sampled_from(["sequential", "parallel"])
DAMPING = st.sampled_from([1.0, 0.5, 0.2])


@st.composite
def models(draw, tree=False):
    """Up to 6 variables of 1 to 3 states, factors of 0 to 3 variables, evidence, hard zeros.

    One state is planted: no zero forbids it and no evidence contradicts it. A tree grows by
    factors that hang one or two new variables on an old one.
    """
    cards = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    n = len(cards)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if tree:
        scopes, n_old = [(), (0,), (int(rng.integers(n)),)], 1
        while n_old < n:
            new = range(n_old, min(n, n_old + int(rng.integers(1, 3))))
            scopes.append(tuple(rng.permutation([int(rng.integers(n_old)), *new]).tolist()))
            n_old = new.stop
    else:
        scope = st.lists(st.integers(0, n - 1), max_size=3, unique=True)
        scopes = draw(st.lists(scope, max_size=7))
    names = rng.permutation(n)  # so that index order is not the order of growth
    sizes = [cards[i] for i in np.argsort(names)]
    planted = [int(rng.integers(k)) for k in sizes]
    forbid = draw(st.sampled_from([0.0, 0.3]))
    factors = []
    for scope in scopes:
        variables = [int(names[i]) for i in scope]
        table = rng.normal(size=[sizes[i] for i in variables])
        forbidden = np.array(rng.random(table.shape) < forbid)
        forbidden[tuple(planted[i] for i in variables)] = False
        factors.append((variables, np.where(forbidden, -np.inf, table)))
    clamped = draw(st.sets(st.integers(0, n - 1), max_size=2))
    return FactorGraph(sizes, factors).given({i: planted[i] for i in clamped})


def run(model, sweeps, **options):
    """The layout's way: compile, init, advance, answer."""
    method = BeliefPropagation(**options)
    layout = method.compile(model)
    state = method.init(layout)
    method.advance(layout, state, sweeps)
    return method.answer(layout, state), state


def assert_exact(model, answer):
    """Marginals, pair marginals and log Z are those of the enumerated joint."""
    shape = tuple(map(int, model.cardinalities))
    scores = np.asarray(model.log_score(np.array(list(np.ndindex(*shape)))))
    log_z = np.logaddexp.reduce(scores)
    joint = np.exp(scores - log_z).reshape(shape)
    np.testing.assert_allclose(answer.log_z, log_z, rtol=1e-10, atol=1e-10)
    every = set(range(len(shape)))
    for i, k in enumerate(shape):
        marginal = joint.sum(axis=tuple(every - {i}))
        np.testing.assert_allclose(answer.marginals[i, :k], marginal, atol=1e-10)
        assert (answer.marginals[i, k:] == 0).all()
    for pair, belief in answer.pairs.items():
        marginal = joint.sum(axis=tuple(every - set(pair)))
        np.testing.assert_allclose(belief, marginal, atol=1e-10)


@examples(100)
@given(models(), DAMPING, UPDATES, st.integers(0, 4))
def test_twin(model, damping, updates, sweeps):
    # Not bit for bit: the twin multiplies probabilities where the kernel adds logarithms.
    answer, state = run(model, sweeps, damping=damping, updates=updates, tolerance=0.0)
    marginals, log_z, pairs = naive_belief_propagation(model, damping, updates, sweeps)
    assert state.sweep == sweeps
    np.testing.assert_allclose(answer.marginals, marginals, rtol=0, atol=1e-12)
    np.testing.assert_allclose(answer.log_z, log_z, rtol=1e-11, atol=1e-11)
    assert answer.pairs.keys() == pairs.keys()
    for pair, belief in pairs.items():
        np.testing.assert_allclose(answer.pairs[pair], belief, rtol=0, atol=1e-12)


@examples(100)
@given(models(tree=True), st.sampled_from([1.0, 0.7]), UPDATES)
def test_exact_on_trees(model, damping, updates):
    answer, _ = run(model, 200, damping=damping, updates=updates, tolerance=1e-12)
    assert answer.converged
    assert_exact(model, answer)


def test_two_sequential_sweeps_do_a_chain():
    rng = np.random.default_rng(1)
    model = chain_model(rng.normal(size=(7, 3)), rng.normal(size=(6, 3, 3))).given({4: 2})
    answer, state = run(model, 100)
    assert state.sweep == 3 and answer.converged  # the third sees that nothing moved
    assert_exact(model, answer)
    assert_exact(model, run(model, 2)[0])
    assert set(answer.pairs) == {(t, t + 1) for t in range(6)}


def test_mixed_cardinalities_arity_three_and_a_reversed_pair():
    rng = np.random.default_rng(2)
    factors = [((3, 0, 1), rng.normal(size=(2, 4, 3))), ((2, 1), rng.normal(size=(5, 3)))]
    model = FactorGraph([4, 3, 5, 2], [*factors, ((2,), rng.normal(size=5)), ((), -0.3)])
    answer, _ = run(model, 50)
    assert answer.pairs[1, 2].shape == (3, 5)
    assert_exact(model, answer)


def test_hard_zeros_are_exact_however_damped():
    equal = np.where(np.eye(3, dtype=bool), 0.0, -np.inf)
    edges = [((0, 1), equal), ((1, 2), equal), ((2, 0), equal)]  # a loop, where zeros still hold
    model = FactorGraph([3, 3, 3], [*edges, ((0,), [0.0, 1.0, 2.0])]).given({2: 1})
    answer, _ = run(model, 3, damping=0.1)
    np.testing.assert_array_equal(answer.marginals, np.tile([0.0, 1.0, 0.0], (3, 1)))
    np.testing.assert_allclose(answer.log_z, 1.0, rtol=1e-12)


def test_potentials_far_beyond_the_range_of_floats():
    # exp(-2000) is 0 in floating point; as a hard zero it would empty the support.
    agree = np.array([[0.0, -2000.0], [-2000.0, 0.0]])
    unaries = [((0,), [0.0, -5000.0]), ((2,), [-5001.0, 0.0])]
    model = FactorGraph([2, 2, 2], [((0, 1), agree), ((1, 2), agree), *unaries])
    answer, _ = run(model, 10)
    assert_exact(model, answer)


def test_an_empty_support_is_told():
    equal = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
    model = FactorGraph([2, 2, 2], [((0, 1), equal), ((1, 2), equal)], names=["a", "b", "c"])
    for updates in ("sequential", "parallel"):
        with pytest.raises(InfeasibleError, match="every state of variable 'b'"):
            run(model.given({"a": 0, "c": 1}), 1, updates=updates)
    unaries = [((0,), [0.0, -np.inf]), ((1,), [-np.inf, 0.0])]
    model = FactorGraph([2, 2], [((0, 1), equal), *unaries])
    assert run(model, 0)[0].log_z == -np.inf
    with pytest.raises(InfeasibleError, match="every state of variable"):
        run(model, 5)


def test_damping_takes_part_of_the_step():
    model = FactorGraph([2, 2], [((0, 1), [[0.0, 1.0], [2.0, -1.0]])])
    full, _ = run(model, 1, updates="parallel")
    half, _ = run(model, 1, updates="parallel", damping=0.5)
    np.testing.assert_allclose(half.marginals, (full.marginals + 0.5) / 2, rtol=1e-14)


def test_it_stops_when_converged_and_a_resumed_run_is_the_same():
    model = ising_grid(np.linspace(-0.4, 0.5, 20).reshape(4, 5), 0.2)
    whole, state = run(model, 1000)
    assert state.converged and state.change < 1e-9 and state.sweep < 100
    method = BeliefPropagation()
    layout = method.compile(model)
    parts = method.init(layout)
    for sweeps in (1, 2, 997):
        method.advance(layout, parts, sweeps)
    assert parts.sweep == state.sweep
    np.testing.assert_array_equal(method.answer(layout, parts).marginals, whole.marginals)


def test_close_on_a_weakly_coupled_grid():
    model = ising_grid(np.random.default_rng(3).normal(size=(3, 4)), 0.1)
    answer, _ = run(model, 100)
    states = np.array(list(np.ndindex(*[2] * 12)))
    scores = model.log_score(states)
    weights = np.exp(scores - np.logaddexp.reduce(scores))
    np.testing.assert_allclose(answer.marginals[:, 1], weights @ states, atol=1e-3)
    np.testing.assert_allclose(answer.log_z, np.logaddexp.reduce(scores), atol=1e-2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"damping": 0.0}, r"expected damping in \(0, 1\], got 0.0"),
        ({"damping": 1.5}, r"expected damping in \(0, 1\], got 1.5"),
        ({"damping": float("nan")}, r"expected damping in \(0, 1\], got nan"),
        ({"updates": "random"}, "expected updates .* got 'random'"),
        ({"tolerance": -1.0}, "expected a tolerance of 0 or more, got -1.0"),
    ],
)
def test_wrong_options(options, sentence):
    with pytest.raises(MethodError, match=sentence):
        BeliefPropagation(**options)


@pytest.mark.parametrize("kind", ["table", "grid"])
def test_other_plans_are_refused(kind):
    with pytest.raises(MethodError, match=f'"factor" for belief propagation, got {kind!r}'):
        BeliefPropagation().compile(ising_grid(np.zeros((2, 2))), kind=kind)


def test_messages_above_max_memory_are_refused():
    with pytest.raises(MemoryLimitError, match="expected messages of at most 100 bytes"):
        BeliefPropagation().compile(ising_grid(np.zeros((8, 8))), max_memory=100)


def test_it_is_a_solver():
    assert (
        isinstance(BeliefPropagation(), Solver) and not BeliefPropagation.capabilities.in_one_step
    )

"""Mean field against its slow twin, against enumeration, and against what is proved of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from herded.errors import MethodError
from herded.methods.mean_field.solver import MeanField
from herded.methods.protocol import Solver
from herded.models.factor_graph import FactorGraph
from herded.models.lattice_builders import ising_grid
from tests.conformance.twins.samplers.solvers import naive_mean_field
from tests.support.example_budget import examples

UPDATES = st.sampled_from(["sequential", "parallel"])
DAMPING = st.sampled_from([1.0, 0.5, 0.1])


@st.composite
def models(draw, zeros=True):
    """Up to 5 variables of 1 to 3 states, factors of 0 to 3 variables, evidence, hard zeros.

    One state is planted: no zero forbids it and no evidence contradicts it.
    """
    cards = draw(st.lists(st.integers(1, 3), min_size=1, max_size=5))
    n = len(cards)
    scopes = draw(st.lists(st.lists(st.integers(0, n - 1), max_size=3, unique=True), max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    planted = [int(rng.integers(k)) for k in cards]
    forbid = draw(st.sampled_from([0.0, 0.3])) if zeros else 0.0
    factors = []
    for scope in scopes:
        table = rng.normal(size=[cards[i] for i in scope])
        forbidden = np.array(rng.random(table.shape) < forbid)
        forbidden[tuple(planted[i] for i in scope)] = False
        factors.append((scope, np.where(forbidden, -np.inf, table)))
    clamped = draw(st.sets(st.integers(0, n - 1), max_size=2))
    return FactorGraph(cards, factors).given({i: planted[i] for i in clamped})


def run(model, sweeps, **options):
    """The layout's way: compile, init, advance, answer."""
    method = MeanField(**options)
    layout = method.compile(model)
    state = method.init(layout)
    method.advance(layout, state, sweeps)
    return method.answer(layout, state), state


def exact_log_z(model):
    states = np.array(list(np.ndindex(*map(int, model.cardinalities))))
    return np.logaddexp.reduce(model.log_score(states))


@examples(100)
@given(models(), DAMPING, UPDATES, st.integers(0, 4))
def test_twin(model, damping, updates, sweeps):
    # Not bit for bit: the twin sums whole tables in their order, numpy's exp is not libm's.
    answer, state = run(model, sweeps, damping=damping, updates=updates, tolerance=0.0)
    q, bound = naive_mean_field(model, damping, updates, sweeps)
    assert state.sweep == sweeps
    np.testing.assert_allclose(answer.marginals, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(answer.log_z, bound, rtol=1e-12, atol=1e-12)


@examples(60)
@given(models(), DAMPING, UPDATES)
def test_bound(model, damping, updates):
    method = MeanField(damping=damping, updates=updates, tolerance=0.0)
    layout = method.compile(model)
    state = method.init(layout)
    log_z = exact_log_z(model)
    for _ in range(5):
        answer = method.answer(layout, state)
        assert answer.log_z <= log_z + 1e-9
        np.testing.assert_allclose(answer.marginals.sum(axis=1), 1.0, rtol=1e-12)
        method.advance(layout, state, 1)


@examples(60)
@given(models(zeros=False), DAMPING)
def test_sequential_sweeps_never_lower_the_bound(model, damping):
    # True of damped steps too: the bound is concave in each q_i.
    method = MeanField(damping=damping, tolerance=0.0)
    layout = method.compile(model)
    state = method.init(layout)
    before = -np.inf
    for _ in range(8):
        now = method.answer(layout, state).log_z
        assert now >= before - 1e-10
        before = now
        method.advance(layout, state, 1)


@pytest.mark.parametrize("updates", ["sequential", "parallel"])
def test_exact_on_independent_variables(updates):
    tables = [np.array([0.3, -1.0]), np.array([0.0, 2.0, -np.inf]), np.array([0.5])]
    more = np.array([1.0, 0.0])
    factors = [((i,), table) for i, table in enumerate(tables)] + [((0,), more), ((), 0.7)]
    model = FactorGraph([2, 3, 1, 2], factors)  # no factor at the last variable
    answer, state = run(model, 10, updates=updates)
    first = np.exp(tables[0] + more)
    np.testing.assert_allclose(answer.marginals[0, :2], first / first.sum(), rtol=1e-14)
    np.testing.assert_allclose(answer.marginals[3], [0.5, 0.5, 0.0], rtol=1e-14)
    np.testing.assert_allclose(answer.log_z, exact_log_z(model), rtol=1e-14)
    assert answer.converged and state.sweep == 1  # it started at the answer


def test_evidence_is_certain_and_stays():
    table = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, 0.25]])
    model = FactorGraph([2, 3], [((0, 1), table)]).given({1: 2})
    answer, _ = run(model, 5)
    np.testing.assert_array_equal(answer.marginals[1], [0, 0, 1])
    one = np.exp(table[:, 2])
    np.testing.assert_allclose(answer.marginals[0, :2], one / one.sum(), rtol=1e-14)
    np.testing.assert_allclose(answer.log_z, exact_log_z(model), rtol=1e-14)


def test_everything_clamped():
    model = FactorGraph([2, 2], [((0, 1), [[1.0, 2.0], [3.0, 4.0]])]).given({0: 1, 1: 0})
    answer, _ = run(model, 3)
    assert answer.converged and answer.log_z == 3.0


def test_hard_zeros():
    implies = np.array([[0.0, 0.0], [-np.inf, 0.0]])  # x0 = 1 needs x1 = 1
    model = FactorGraph([2, 2], [((0, 1), implies), ((1,), [0.0, -np.inf])])
    answer, _ = run(model, 5)
    np.testing.assert_array_equal(answer.marginals, [[1, 0], [1, 0]])
    assert answer.log_z == 0.0


def test_a_variable_that_would_lose_every_state_keeps_its_q():
    equal = np.where(np.eye(2, dtype=bool), 0.0, -np.inf)
    model = FactorGraph([2, 2], [((0, 1), equal), ((0,), [0.0, 1.0])])
    answer, _ = run(model, 5)
    np.testing.assert_allclose(answer.marginals[0, 1], 1 / (1 + np.exp(-1)), rtol=1e-14)
    np.testing.assert_array_equal(answer.marginals[1], [0.5, 0.5])
    assert answer.log_z == -np.inf


def test_damping_takes_part_of_the_step():
    model = FactorGraph([2, 2], [((0, 1), [[0.0, 1.0], [2.0, -1.0]]), ((1,), [0.0, 0.5])])
    start, _ = run(model, 0, updates="parallel")
    full, _ = run(model, 1, updates="parallel")
    half, _ = run(model, 1, updates="parallel", damping=0.5)
    middle = (start.marginals + full.marginals) / 2
    np.testing.assert_allclose(half.marginals, middle, rtol=1e-14)


def test_it_stops_when_converged_and_a_resumed_run_is_the_same():
    model = ising_grid(np.linspace(-0.4, 0.5, 20).reshape(4, 5), 0.2)
    whole, state = run(model, 1000)
    assert state.converged and state.change < 1e-9 and state.sweep < 100
    method = MeanField()
    layout = method.compile(model)
    parts = method.init(layout)
    for sweeps in (1, 2, 997):
        method.advance(layout, parts, sweeps)
    assert parts.sweep == state.sweep
    np.testing.assert_array_equal(method.answer(layout, parts).marginals, whole.marginals)


def test_grid_obeys_the_mean_field_equations():
    field = np.random.default_rng(3).normal(size=(4, 4))
    answer, _ = run(ising_grid(field, 0.3), 1000, tolerance=1e-13)
    mean = (2 * answer.marginals[:, 1] - 1).reshape(4, 4)
    around = np.pad(mean, 1)
    around = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
    np.testing.assert_allclose(mean, np.tanh(field + 0.3 * around), atol=1e-12)


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
        MeanField(**options)


@pytest.mark.parametrize("kind", ["table", "grid"])
def test_other_plans_are_refused(kind):
    with pytest.raises(MethodError, match=f'"factor" for mean field, got {kind!r}'):
        MeanField().compile(ising_grid(np.zeros((2, 2))), kind=kind)


def test_it_is_a_solver():
    assert isinstance(MeanField(), Solver) and not MeanField.capabilities.in_one_step

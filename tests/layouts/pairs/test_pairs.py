"""The pairs layout: conditionals from products of rows, equal to its twin bit for bit."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import herded as hd
from herded.layouts.pairs.arrays import compile_pairs, find_pair_interactions
from herded.layouts.proposal import Refusal
from herded.models.constraints.start_states import start_state
from herded.run.memory.method_estimate import estimate_run_memory
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.test_joints import drawn_variation, total_variations
from tests.conformance.twins.integer_conditionals import naive_fixed_vector
from tests.conformance.twins.plain_model import Naive
from tests.conformance.twins.samplers.algorithm_1 import naive_gibbs, naive_herded_gibbs
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import SCANS, advance, assert_equal
from tests.support.strategies import linked_pairs

# Each number of states that all variables have is a kernel of its own to compile; the code of
# these differs for three, for four, for at most eight, and for any. Gibbs shares the products.
CARDINALITIES = {
    "three": (3, 3),
    "four": (4, 4),
    "eight": (8, 8),
    "mixed": (1, 5),
    "wide": (18, 19),
}
CASES = [(w, c) for w in ("pooled", "slack") for c in CARDINALITIES]
CASES += [(None, c) for c in ("four", "eight", "mixed", "wide")]


@pytest.fixture(autouse=True)
def _quiet():
    """Uncompiled, words of 64 bits overflow aloud."""
    with np.errstate(over="ignore"):
        yield


def drawn_model(data, least, most, zeros=(0.0, 0.2)):
    """A model for the pairs layout, with several numbers of states where it may have them."""
    model = data.draw(linked_pairs(least, most, 5 if least > 6 else 9, zeros))
    assume(not isinstance(find_pair_interactions(model), Refusal))
    assume(least == most or len(set(model.cardinalities[model.evidence < 0].tolist())) != 1)
    return model


@pytest.mark.parametrize(("weights", "cardinalities"), CASES)
@examples(12)
@given(data=st.data())
def test_equal_to_the_naive_twin(weights, cardinalities, data):
    model = drawn_model(data, *CARDINALITIES[cardinalities])
    seed, chain = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 1))
    scan = data.draw(st.sampled_from(SCANS))
    assume(scan != "jacobi" or not model.has_hard_zeros)
    if scan == "permutation":
        scan = data.draw(st.permutations(range(model.n_variables)))
    options = {"scan": scan, "seed": seed}
    sweeps = data.draw(st.sampled_from((1, 12, 140 if weights else 30)))  # pools split at 128
    x0 = start_state(model, stream_key(seed, chain, 3))
    told = {"chain": chain, "x0": x0, "sweeps": sweeps, "kind": "pairs"}
    if weights is None:
        method = hd.Gibbs(**options)
        expected = naive_gibbs(model, **options, **told)
    else:
        options["phases"] = data.draw(st.sampled_from(("half", "random")))
        options["slack"] = 1.0 if weights == "slack" else 0.0
        method = hd.HerdedGibbs(weights="pooled", **options)
        expected = naive_herded_gibbs(model, weights="pooled", **options, **told)
    layout = method.compile(model, kind="pairs")
    assert layout.kind == "pairs"
    cut = data.draw(st.integers(0, sweeps))
    assert_equal(advance(method, layout, x0, sweeps, chain, cuts=[cut]), expected)


@examples(60)
@given(data=st.data(), seed=st.integers(0, 9))
def test_conditionals_are_within_their_bound(data, seed):
    """2^-25 for each factor, and two quanta, of what the other layouts have."""
    model = drawn_model(data, 2, 5)
    x = start_state(model, stream_key(seed))
    exact, fixed = Naive(model, True), Naive(model, True, "pairs")
    for i in exact.free:
        factors = sum(i in scope for scope, _ in exact.factors)
        gaps = np.subtract(exact.conditional(i, x), fixed.conditional(i, x))
        assert np.abs(gaps).max() <= 2**24 * factors * 2.0**-25 + 2


def ring(states, n=5, seed=0, scale=0.5):
    rng = np.random.default_rng(seed)
    ends = [(i, (i + 1) % n) for i in range(n)]
    tables = rng.uniform(-scale, scale, (n, states, states))
    return hd.pairwise_model(rng.uniform(-scale, scale, (n, states)), ends, tables)


def mixed_ring():
    """Cardinalities 2 to 4, an impossible pair, one variable clamped."""
    rng, cards = np.random.default_rng(3), [3, 2, 4, 3, 2]
    tables = [rng.uniform(-0.5, 0.5, (cards[i], cards[(i + 1) % 5])) for i in range(5)]
    tables[0][1, 1] = -np.inf
    factors = [((i, (i + 1) % 5), table) for i, table in enumerate(tables)]
    return hd.FactorGraph(cards, factors).given({4: 1})


@pytest.mark.skipif(UNCOMPILED, reason="many sweeps")
@pytest.mark.parametrize("model", [ring(4, 4), ring(8, 3), mixed_ring()], ids=["4", "8", "mixed"])
def test_joints_are_those_of_the_model(model, monkeypatch):
    """Gibbs and pools with slack nearly as good as draws: as where conditionals are tabulated."""
    monkeypatch.setattr(
        "herded.layouts.general.table_layout.MAX_ENTRIES_PER_VARIABLE", 0
    )  # or these would have tables
    drawn = drawn_variation(model, 20_000)
    found = [total_variations(model, hd.Gibbs(seed=s), [20_000])[0] for s in range(6)]
    assert hd.Gibbs().compile(model).kind == "pairs"
    assert 0.75 * drawn < np.mean(found) < 1.35 * drawn
    pooled = hd.HerdedGibbs("pooled", slack=1.0)
    assert total_variations(model, pooled, [20_000])[0] < 1.35 * drawn


@pytest.mark.skipif(UNCOMPILED, reason="many sweeps")
def test_pools_have_no_plateau_while_they_split(monkeypatch):
    """As on complete graphs with tables: 100 times the sweeps, a quarter of the error or less."""
    monkeypatch.setattr("herded.layouts.general.table_layout.MAX_ENTRIES_PER_VARIABLE", 0)
    for states in (3, 4):
        rng = np.random.default_rng(states)
        ends = list(itertools.combinations(range(4), 2))
        tables = rng.uniform(-0.5, 0.5, (len(ends), states, states))
        model = hd.pairwise_model(rng.uniform(-0.5, 0.5, (4, states)), ends, tables)
        pooled = hd.HerdedGibbs("pooled")
        assert pooled.compile(model).kind == "pairs"
        first, last = total_variations(model, pooled, [1_000, 100_000])
        assert last < first / 4


def star(leaves, table, states=3):
    ends = [(0, leaf) for leaf in range(1, leaves + 1)]
    return hd.pairwise_model(np.zeros((leaves + 1, states)), ends, table)


def test_equal_tables_are_kept_once():
    one = compile_pairs(find_pair_interactions(star(7, np.eye(3))))
    assert one.rows.shape == (3 * 4,) and one.rows.ctypes.data % 64 == 0
    rng = np.random.default_rng(0)
    each = compile_pairs(find_pair_interactions(star(7, rng.normal(size=(7, 3, 3)))))
    assert each.rows.shape == (2 * 7 * 3 * 4,)


def test_rows_of_equal_tables_have_the_same_bits():
    """Two tables on six edges are two, seen from either end; the bits are those of the twin."""
    rng = np.random.default_rng(1)
    table, odd = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    model = star(6, np.stack([table, odd, table, table, odd, table]))
    method, x0 = hd.HerdedGibbs("pooled"), np.zeros(7, int)
    layout = method.compile(model, kind="pairs")
    assert len(layout.arrays.rows) == 2 * 2 * 3 * 4
    expected = naive_herded_gibbs(model, weights="pooled", x0=x0, sweeps=50, kind="pairs")
    assert_equal(advance(method, layout, x0, 50), expected)


def test_chosen_where_tables_would_be_large():
    model = star(20, np.eye(3))
    for method in (hd.Gibbs(), hd.HerdedGibbs("pooled"), hd.HerdedGibbs("pooled", slack=1.0)):
        layout = method.compile(model)
        assert layout.kind == "pairs" and len(layout.hash) == 16
        assert hd.infer(model, method, sweeps=3).provenance["layout"] == "pairs"
    assert hd.HerdedGibbs("lazy").compile(model).kind == "factor"
    assert hd.Gibbs().compile(star(2, np.eye(3))).kind == "table"
    told = hd.HerdedGibbs("pooled").propose(model)
    layout = hd.HerdedGibbs("pooled").compile(model)
    taken = sum(array.nbytes for array in layout.arrays[1:])
    assert told.kind == "pairs" and told.memory == layout.memory
    assert taken < told.memory - told.chain_memory


def test_not_chosen_where_rows_would_be_mostly_air():
    """Rows are as wide as the widest variable."""
    method = hd.HerdedGibbs("pooled")
    rng = np.random.default_rng(0)
    ends = [(i, i + k) for i in range(1, 251) for k in range(1, 6)]  # too many for tables
    factors = [(pair, rng.normal(size=(2, 2))) for pair in ends]
    model = hd.FactorGraph([2000] + [2] * 255, [([0, 1], rng.normal(size=(2000, 2))), *factors])
    assert method.compile(model).kind == "factor"
    assert method.compile(model, kind="pairs").memory > 2**26
    model = star(20, rng.normal(size=(20, 30, 30)), 30)
    need = method.compile(model).memory
    assert method.compile(model).kind == "pairs"
    assert method.compile(model, max_memory=need / 2).kind == "factor"
    with pytest.raises(hd.MemoryLimitError, match="couplings and weights"):
        method.compile(model, kind="pairs", max_memory=need / 2)


def test_equal_tables_of_unequal_cardinalities_are_kept_once():
    rng = np.random.default_rng(2)
    wide, narrow = rng.normal(size=(3, 5)), rng.normal(size=(3, 2))
    ends = [(0, 1, wide), (0, 2, narrow), (0, 3, wide), (0, 4, narrow), (5, 6, wide)]
    model = hd.FactorGraph([3, 5, 2, 5, 2, 3, 5], [((a, b), table) for a, b, table in ends])
    layout, x0 = hd.Gibbs().compile(model, kind="pairs"), np.zeros(7, int)
    assert len(layout.arrays.rows) == (5 + 3 + 2 + 3) * 5
    expected = naive_gibbs(model, x0=x0, sweeps=30, kind="pairs")
    assert_equal(advance(hd.Gibbs(), layout, x0, 30), expected)


@pytest.mark.parametrize("equal", [True, False])
def test_compiling_stays_under_its_estimate(equal):
    rng = np.random.default_rng(0)
    n, states = 3000, 8
    ends = rng.integers(0, n, size=(6 * n, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    tables = (
        np.tile(np.eye(states), (len(ends), 1, 1))
        if equal
        else rng.normal(size=(len(ends), states, states))
    )
    starts = 2 * np.arange(len(ends) + 1)
    model = hd.FactorGraph.from_arrays([states] * n, starts, ends.ravel(), tables.ravel())
    hd.Gibbs().compile(model, kind="pairs")  # compiles kernels
    tracemalloc.start()
    try:
        layout = hd.Gibbs().compile(model, kind="pairs")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < estimate_run_memory(model, hd.Gibbs()) and layout.memory > 0.5 * peak


@pytest.mark.parametrize(
    ("model", "method", "reason"),
    [
        (star(2, np.eye(2), 2), hd.Gibbs(), "no variable of more than two states"),
        (hd.FactorGraph([3] * 3, [((0, 1, 2), np.zeros((3,) * 3))]), hd.Gibbs(), "more than two"),
        (star(2, 81.0 * np.eye(3)), hd.Gibbs(), "of a pair differ by more than 80"),
        (star(20, 31.0 * np.eye(3)), hd.Gibbs(), "around a variable differ by more than 600"),
        (star(2, 2.0**21 + np.zeros((3, 3))), hd.Gibbs(), "log-potentials beyond"),
        (star(2, np.eye(3)), hd.HerdedGibbs(), "weights='blanket'"),
    ],
)
def test_a_forced_layout_says_why_it_cannot(model, method, reason):
    with pytest.raises(hd.MethodError, match=f"pairs layout.*{reason}.*drop layout="):
        method.compile(model, kind="pairs")


def test_impossible_neighbours_leave_all_states_alike():
    """A context that no state allows: as in the other layouts, every state is as likely."""
    table = np.zeros((3, 3))
    table[0] = [0.0, -math.inf, -math.inf]
    table[1] = [-math.inf, 0.0, -math.inf]
    model = hd.FactorGraph([3] * 3, [((1, 0), table), ((2, 0), table)])
    twin = Naive(model, True, "pairs")
    assert twin.conditional(0, [0, 0, 1]) == naive_fixed_vector([0.0] * 3)
    x0 = np.array([0, 0, 1])
    expected = naive_gibbs(model, x0=x0, sweeps=9, kind="pairs")
    method = hd.Gibbs()
    assert_equal(advance(method, method.compile(model, kind="pairs"), x0, 9), expected)

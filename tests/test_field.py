"""The field plan: whole-number couplings and a tabulated sigmoid, equal to its twin bit for bit."""

import math

import numpy as np
import pytest
from compiled import SCANS, UNCOMPILED, advance, assert_equal, quick
from hypothesis import given
from hypothesis import strategies as st
from naive.conditional import naive_exp, naive_sigmoid
from naive.model import Naive
from naive.samplers import naive_gibbs, naive_herded_gibbs
from strategies import binary_pairs

import herded as hd
from herded.plan.field import (
    NEAR,
    compile_field,
    coupling_of,
    field_couplings,
    fixed_sigmoid,
    neighbour_of,
    sigmoid_table,
)
from herded.plan.support import start_state
from herded.stream import stream_key


@pytest.fixture(autouse=True)
def _quiet():
    """Uncompiled, words of 64 bits overflow aloud."""
    with np.errstate(over="ignore"):
        yield


@pytest.mark.parametrize("weights", ["pooled", None])
@quick(60)
@given(data=st.data())
def test_equal_to_the_naive_twin(weights, data):
    model = data.draw(binary_pairs())
    seed, chain = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 1))
    scan = data.draw(st.sampled_from(SCANS))
    if scan == "permutation":
        scan = data.draw(st.permutations(range(model.n_variables)))
    options = {"scan": scan, "seed": seed}
    sweeps = data.draw(st.sampled_from((1, 12, 140)))  # pools split at 128
    x0 = start_state(model, stream_key(seed, chain, 3))
    told = {"chain": chain, "x0": x0, "sweeps": sweeps, "kind": "field"}
    if weights is None:
        method = hd.Gibbs(**options)
        expected = naive_gibbs(model, **options, **told)
    else:
        options["phases"] = data.draw(st.sampled_from(("half", "random")))
        method = hd.HerdedGibbs(weights=weights, **options)
        expected = naive_herded_gibbs(model, weights=weights, **options, **told)
    plan = method.compile(model, kind="field")
    assert plan.kind == "field"
    cut = data.draw(st.integers(0, sweeps))
    assert_equal(advance(method, plan, x0, sweeps, chain, cuts=[cut]), expected)


@quick(60)
@given(model=binary_pairs(), seed=st.integers(0, 9))
def test_conditionals_are_within_their_bound(model, seed):
    """2^-24 for the table, 2^-26 for each factor and a quantum, of what the other plans have."""
    x = start_state(model, stream_key(seed))
    exact, fixed = Naive(model, False), Naive(model, False, "field")
    for i in exact.free:
        factors = sum(i in scope for scope, _ in exact.factors)
        bound = 2**31 * (2.0**-24 + factors * 2.0**-26) + 2
        assert abs(exact.conditional(i, x) - fixed.conditional(i, x)) < bound


fields = st.one_of(
    st.integers(-24 * 2**24, 24 * 2**24),
    st.sampled_from((-(2**60), 2**60, 0, -23 * 2**24, 23 * 2**24 - 1, 23 * 2**24)),
)


@quick(200)
@given(field=fields)
def test_sigmoid(field):
    found = int(fixed_sigmoid(field, sigmoid_table()))
    assert found == naive_sigmoid(field)
    assert abs(found / 2**31 - 1 / (1 + naive_exp(-field / 2**24))) < 2.0**-24 + 2.0**-30


def test_probabilities_reach_0_and_1():
    table = sigmoid_table()
    assert fixed_sigmoid(-(2**60), table) == 0
    assert fixed_sigmoid(0, table) == 2**30
    assert fixed_sigmoid(2**60, table) == 2**31


def star(leaves, coupling=1.0):
    table = [[0.0, 0.0], [0.0, coupling]]
    ends = [(0, leaf) for leaf in range(1, leaves + 1)]
    return hd.pairwise(np.zeros((leaves + 1, 2)), ends, table)


def test_neighbours_beyond_the_near_ones():
    couplings, _ = field_couplings(star(NEAR + 3))
    arrays = compile_field(couplings)
    assert [neighbour_of(link) for link in arrays.near[:NEAR]] == list(range(1, NEAR + 1))
    first = arrays.far_start[0]
    far = arrays.far[first : first + 4]
    assert [neighbour_of(link) for link in far[:3]] == [NEAR + 1, NEAR + 2, NEAR + 3]
    assert [coupling_of(link) for link in far] == [2**24] * 3 + [0]
    assert arrays.far[arrays.far_start[1]] == 0
    assert arrays.near.ctypes.data % 64 == 0  # a row is a cache line


@pytest.mark.parametrize("coupling", [-127.0, -(2.0**-24), 2.0**-24, 127.0])
def test_links_hold_any_coupling(coupling):
    couplings, _ = field_couplings(star(1, coupling))
    near = compile_field(couplings).near
    assert [coupling_of(link) for link in near[::NEAR]] == [round(coupling * 2**24)] * 2
    assert [neighbour_of(link) for link in near[::NEAR]] == [1, 0]


def test_couplings_of_0_are_no_neighbours():
    couplings, _ = field_couplings(star(3, 0.0))
    assert len(couplings.coupling) == 0


def test_chosen_where_tables_would_be_large():
    pooled = hd.HerdedGibbs(weights="pooled")
    assert pooled.compile(star(4)).kind == "table"
    assert pooled.compile(star(20)).kind == "field"
    assert hd.Gibbs().compile(star(20)).kind == "field"
    assert hd.HerdedGibbs(weights="lazy").compile(star(20)).kind == "factor"
    assert hd.HerdedGibbs(weights="pooled", slack=1.0).compile(star(20)).kind == "factor"
    assert pooled.compile(star(20, 128.0)).kind == "factor"


@pytest.mark.parametrize(
    ("model", "method", "reason"),
    [
        (hd.pairwise(np.zeros((2, 3)), [(0, 1)], np.eye(3)), hd.Gibbs(), "not binary"),
        (hd.FactorGraph([2] * 3, [((0, 1, 2), np.zeros((2, 2, 2)))]), hd.Gibbs(), "more than two"),
        (star(2, -math.inf), hd.Gibbs(), "log-potentials beyond"),
        (star(2, 128.0), hd.Gibbs(), "couplings beyond 127"),
        (star(2), hd.HerdedGibbs(), "weights='blanket'"),
        (star(2), hd.HerdedGibbs(weights="pooled", slack=1.0), "slack"),
    ],
)
def test_a_forced_plan_says_why_it_cannot(model, method, reason):
    with pytest.raises(hd.MethodError, match=reason):
        method.compile(model, kind="field")


@pytest.mark.skipif(UNCOMPILED, reason="many sweeps")
def test_marginals_are_those_of_the_model():
    """Gibbs on fields against exact inference: 4 standard errors of independent draws, or so."""
    rng = np.random.default_rng(5)
    ends = [(i, j) for i in range(10) for j in range(i)]
    model = hd.pairwise(rng.normal(size=(10, 2)), ends, 0.2 * rng.normal(size=(45, 2, 2)))
    truth = hd.infer(model, hd.Exact()).marginals
    found = hd.infer(model, hd.Gibbs(), sweeps=20_000, plan="field", keep=[hd.Marginals(True)])
    assert np.abs(found.marginals - truth).max() < 0.01
    assert found.provenance["plan"] == "field" and len(found.provenance["tables"]) == 16


@quick(15)
@given(model=binary_pairs(max_variables=11), seed=st.integers(0, 3))
def test_tables_of_more_neighbours_than_near_ones(model, seed):
    """The table plan reads its first NEAR neighbours apart from the others too."""
    method = hd.HerdedGibbs(seed=seed, phases="random")
    x0 = start_state(model, stream_key(seed))
    expected = naive_herded_gibbs(model, seed=seed, phases="random", x0=x0, sweeps=12)
    assert_equal(advance(method, method.compile(model), x0, 12), expected)

"""The field layout: whole-number couplings, a tabulated sigmoid, and its twin bit for bit."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.layouts.binary_pairs.arrays import (
    MAX_NEAR_NEIGHBOURS,
    compile_binary_pairs,
    coupling_of,
    find_couplings,
    fixed_sigmoid,
    neighbour_of,
    sigmoid_table,
)
from herded.layouts.binary_pairs.incremental_fields import (
    MIN_SWEEPS_TO_STORE_FIELDS,
    MIN_VARIABLES_TO_STORE_FIELDS,
    sum_fields_of_segment,
    sweep_with_stored_fields,
)
from herded.layouts.visit_order import SEQUENTIAL, ScanArrays
from herded.models.constraints.start_states import start_state
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.exp_log import exp
from tests.conformance.twins.integer_conditionals import naive_sigmoid
from tests.conformance.twins.plain_model import Naive
from tests.conformance.twins.samplers.algorithm_1 import naive_gibbs, naive_herded_gibbs
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import SCANS, advance, assert_equal
from tests.support.strategies import binary_pairs


@pytest.fixture(autouse=True)
def _quiet():
    """Uncompiled, words of 64 bits overflow aloud."""
    with np.errstate(over="ignore"):
        yield


@pytest.mark.parametrize("weights", ["pooled", None])
@examples(60)
@given(data=st.data())
def test_equal_to_the_naive_twin(weights, data):
    model = data.draw(binary_pairs())
    seed, chain = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 1))
    scan = data.draw(st.sampled_from(SCANS))
    if scan == "permutation":
        scan = data.draw(st.permutations(range(model.n_variables)))
    options = {"scan": scan, "seed": seed}
    sweeps = data.draw(st.sampled_from((1, 12, 140 if weights else 30)))  # pools split at 128
    x0 = start_state(model, stream_key(seed, chain, 3))
    told = {"chain": chain, "x0": x0, "sweeps": sweeps, "kind": "field"}
    if weights is None:
        method = hd.Gibbs(**options)
        expected = naive_gibbs(model, **options, **told)
    else:
        options["phases"] = data.draw(st.sampled_from(("half", "random")))
        method = hd.HerdedGibbs(weights=weights, **options)
        expected = naive_herded_gibbs(model, weights=weights, **options, **told)
    layout = method.compile(model, kind="field")
    assert layout.kind == "field"
    cut = data.draw(st.integers(0, sweeps))
    assert_equal(advance(method, layout, x0, sweeps, chain, cuts=[cut]), expected)


def many_spins(n, degree, strength, seed=0, apart=0):
    """So many that fields may follow flips, three of them known; the last `apart` by themselves."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n - apart, (n * degree // 2, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    tables = strength * rng.normal(size=(len(ends), 2, 2))
    model = hd.pairwise_model(rng.normal(size=(n, 2)), ends, tables)
    return model.given({int(i): int(i) % 2 for i in rng.choice(n, 3, replace=False)})


FOLLOWED = [
    (weights, 12, strength, scan)
    for weights in ("pooled", None)
    for strength in (0.1, 3.0)  # nearly all flip, hardly any
    for scan in ("sequential", "checkerboard")
]


@pytest.mark.parametrize(
    ("weights", "degree", "strength", "scan"),
    [*FOLLOWED, ("pooled", 2, 0.1, "sequential"), (None, 40, 0.1, "checkerboard")],
)
def test_fields_that_follow_flips_equal_the_naive_twin(weights, degree, strength, scan):
    model = many_spins(MIN_VARIABLES_TO_STORE_FIELDS + 12, degree, strength, apart=5)
    splits = (weights, degree, strength, scan) == ("pooled", 12, 0.1, "sequential")  # at sweep 128
    sweeps = 6 if UNCOMPILED else 140 if splits else 20
    x0 = start_state(model, stream_key(0))
    told = {"x0": x0, "sweeps": sweeps, "kind": "field", "scan": scan}
    if weights is None:
        method, expected = hd.Gibbs(scan=scan), naive_gibbs(model, **told)
    else:
        method = hd.HerdedGibbs(weights=weights, scan=scan)
        expected = naive_herded_gibbs(model, weights=weights, **told)
    layout = method.compile(model, kind="field")
    # too few to follow, just enough, many
    cuts = [2] if UNCOMPILED else [3, 3 + MIN_SWEEPS_TO_STORE_FIELDS]
    assert_equal(advance(method, layout, x0, sweeps, cuts=cuts), expected)


@pytest.mark.parametrize("weights", ["pooled", None])
def test_followed_fields_are_what_sums_would_be(weights):
    method = hd.Gibbs() if weights is None else hd.HerdedGibbs(weights=weights)
    layout = method.compile(many_spins(90, 10, 0.5, apart=7), kind="field")
    f, order = layout.arrays, layout.scan.order
    state = method.init(layout, start_state(layout.model, stream_key(1)))
    x, w = state.x, layout.chain_arrays(state).w
    fields, flipped = np.zeros(90, np.int64), np.zeros(90, np.uint32)
    sum_fields_of_segment(f, order, x, fields)
    for sweep in range(4):
        told = layout.contexts.mode, stream_key(0), np.uint64(90 * sweep), 90, np.uint32(31)
        before, row = x.copy(), np.zeros(90, np.uint8)
        flips = sweep_with_stored_fields(
            f, told, order, f.batch_start, x, w, row, np.zeros(0), fields, flipped
        )
        assert flips == (x != before).sum() > 0
        assert np.array_equal(row[order], x[order])
        again = np.zeros(90, np.int64)
        sum_fields_of_segment(f, order, x, again)
        assert np.array_equal(fields[order], again[order])


@examples(60)
@given(model=binary_pairs(), shuffled=st.randoms(use_true_random=False))
def test_batches_have_no_neighbours_and_are_as_long_as_can_be(model, shuffled):
    scan = shuffled.sample(range(model.n_variables), model.n_variables)
    layout = hd.Gibbs(scan=scan).compile(model, kind="field")
    couplings = find_couplings(model)
    linked = set(zip(couplings.first.tolist(), couplings.second.tolist(), strict=True))
    starts, order = layout.arrays.batch_start, layout.scan.order
    assert (np.diff(starts) > 0).all() and starts[-1] == len(order)
    batches = [order[a:b].tolist() for a, b in itertools.pairwise(starts)]
    for batch in batches:
        assert not any((i, j) in linked for i in batch for j in batch)
    segments = layout.scan.segment_start
    assert np.array_equal(starts[layout.arrays.first_batch], segments)
    for batch, after, start in zip(batches, batches[1:], starts[1:], strict=False):
        assert start in segments or any((after[0], i) in linked for i in batch)


@examples(60)
@given(model=binary_pairs(), seed=st.integers(0, 9))
def test_conditionals_are_within_their_bound(model, seed):
    """2^-24 for the table, 2^-26 for each factor and a quantum, of what the other layouts have."""
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


@examples(200)
@given(field=fields)
def test_sigmoid(field):
    found = int(fixed_sigmoid(field, sigmoid_table()))
    assert found == naive_sigmoid(field)
    assert abs(found / 2**31 - 1 / (1 + exp(-field / 2**24))) < 2.0**-24 + 2.0**-30


def test_probabilities_reach_0_and_1():
    table = sigmoid_table()
    assert fixed_sigmoid(-(2**60), table) == 0
    assert fixed_sigmoid(0, table) == 2**30
    assert fixed_sigmoid(2**60, table) == 2**31


def in_order(n):
    return ScanArrays(np.array([SEQUENTIAL]), np.arange(n), np.array([0, n]))


def star(leaves, coupling=1.0):
    table = [[0.0, 0.0], [0.0, coupling]]
    ends = [(0, leaf) for leaf in range(1, leaves + 1)]
    return hd.pairwise_model(np.zeros((leaves + 1, 2)), ends, table)


def test_neighbours_beyond_the_near_ones():
    couplings = find_couplings(star(MAX_NEAR_NEIGHBOURS + 3))
    arrays = compile_binary_pairs(couplings, in_order(MAX_NEAR_NEIGHBOURS + 4))
    assert [neighbour_of(link) for link in arrays.near[:MAX_NEAR_NEIGHBOURS]] == list(
        range(1, MAX_NEAR_NEIGHBOURS + 1)
    )
    first = arrays.far_start[0]
    far = arrays.far[first : first + 4]
    assert [neighbour_of(link) for link in far[:3]] == [
        MAX_NEAR_NEIGHBOURS + 1,
        MAX_NEAR_NEIGHBOURS + 2,
        MAX_NEAR_NEIGHBOURS + 3,
    ]
    assert [coupling_of(link) for link in far] == [2**24] * 3 + [0]
    assert arrays.far[arrays.far_start[1]] == 0
    assert arrays.near.ctypes.data % 64 == 0  # a row is a cache line


@pytest.mark.parametrize("coupling", [-127.0, -(2.0**-24), 2.0**-24, 127.0])
def test_links_hold_any_coupling(coupling):
    couplings = find_couplings(star(1, coupling))
    near = compile_binary_pairs(couplings, in_order(2)).near
    assert [coupling_of(link) for link in near[::MAX_NEAR_NEIGHBOURS]] == [
        round(coupling * 2**24)
    ] * 2
    assert [neighbour_of(link) for link in near[::MAX_NEAR_NEIGHBOURS]] == [1, 0]


def test_couplings_of_0_are_no_neighbours():
    couplings = find_couplings(star(3, 0.0))
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
        (hd.pairwise_model(np.zeros((2, 3)), [(0, 1)], np.eye(3)), hd.Gibbs(), "not binary"),
        (hd.FactorGraph([2] * 3, [((0, 1, 2), np.zeros((2, 2, 2)))]), hd.Gibbs(), "more than two"),
        (star(2, -math.inf), hd.Gibbs(), "log-potentials beyond"),
        (star(2, 128.0), hd.Gibbs(), "couplings beyond 127"),
        (star(2), hd.HerdedGibbs(), "weights='blanket'"),
        (star(2), hd.HerdedGibbs(weights="pooled", slack=1.0), "slack"),
    ],
)
def test_a_forced_layout_says_why_it_cannot(model, method, reason):
    with pytest.raises(hd.MethodError, match=reason):
        method.compile(model, kind="field")


@pytest.mark.skipif(UNCOMPILED, reason="many sweeps")
def test_marginals_are_those_of_the_model():
    """Gibbs on fields against exact inference: 4 standard errors of independent draws, or so."""
    rng = np.random.default_rng(5)
    ends = [(i, j) for i in range(10) for j in range(i)]
    model = hd.pairwise_model(rng.normal(size=(10, 2)), ends, 0.2 * rng.normal(size=(45, 2, 2)))
    truth = hd.infer(model, hd.Exact()).marginals
    found = hd.infer(model, hd.Gibbs(), sweeps=20_000, layout="field", keep=[hd.Marginals(True)])
    assert np.abs(found.marginals - truth).max() < 0.01
    assert found.provenance["layout"] == "field" and len(found.provenance["tables"]) == 16


@examples(15)
@given(model=binary_pairs(max_variables=11), seed=st.integers(0, 3))
def test_tables_of_more_neighbours_than_near_ones(model, seed):
    """The table layout reads its first MAX_NEAR_NEIGHBOURS neighbours apart from the others too."""
    method = hd.HerdedGibbs(seed=seed, phases="random")
    x0 = start_state(model, stream_key(seed))
    expected = naive_herded_gibbs(model, seed=seed, phases="random", x0=x0, sweeps=12)
    assert_equal(advance(method, method.compile(model), x0, 12), expected)

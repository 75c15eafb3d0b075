"""Herds on binary pairwise models (layouts "field" and "dense"): the twin's bits, and the law."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import herded as hd
from herded.draws.systematic import SystematicDraw
from herded.draws.systematic_lanes import lane_bits
from herded.layouts.binary_pairs.dense_herd import DenseHerdLayout
from herded.layouts.binary_pairs.herd import MAX_UNFILLED_VARIABLES, BinaryPairsHerdLayout
from herded.layouts.binary_pairs.herd_arrays import BLOCK_LANES, pack_members, sigmoid_of_field
from herded.layouts.packing.member_bits import BitPlaces, unpack_states
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.system import threads
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.herds.binary_pairs import (
    naive_dense_herd,
    naive_field_herd,
    naive_lane_bits,
)
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import sweep_layout
from tests.support.strategies import binary_pairs, seeds

compiled = pytest.mark.skipif(UNCOMPILED, reason="too slow without a compiler")
KINDS = {
    "field": (BinaryPairsHerdLayout, naive_field_herd),
    "dense": (DenseHerdLayout, naive_dense_herd),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def propose(kind, model, members, kept=False, seed=0, scan="auto", forced=True):
    """A proposal or why there is none, and the draw."""
    draw = SystematicDraw(seed, members, kept)
    return KINDS[kind][0].propose(LayoutRequest(model, draw, scan, None), forced), draw


def starts_of(model, members, seed=0):
    """Random states (members, N) that agree with the evidence."""
    x = np.random.default_rng(seed).integers(0, 2, (members, model.n_variables))
    return np.where(model.evidence < 0, x, model.evidence)


def run(layout, draw, x0, sweeps, chain=0, cuts=(), betas=None, pool=None):
    """Samples (sweeps, members, N), sums of p (N,) and the counts of states (N, .)."""
    state = layout.start(draw, x0, chain=chain, tally=True, total=sweeps)
    np.testing.assert_array_equal(layout.values(state), x0)
    state.state_counts, parts = layout.new_counts(), []
    for a, b in zip([0, *cuts], [*cuts, sweeps], strict=True):
        block = np.zeros((b - a, layout.sample_size), layout.sample_type)
        layout.fill(block, state)
        now = None if betas is None else betas[a:b]
        sweep_layout(layout, state, block, draw.step(state.sweep, chain), now, pool)
        parts.append(np.array(layout.members_of(block)))
    assert state.sweep == sweeps
    samples = np.concatenate(parts)
    np.testing.assert_array_equal(layout.values(state), samples[-1])
    counts = layout.unstore(state.state_counts.reshape(layout.n_stored, -1).T).T
    return samples, layout.unstore(state.conditional_sums), counts


# -- the same bits --------------------------------------------------------------------------------

BETAS = np.array([0.0, 1e-7, 0.7, 3.0, np.inf])


@each_kind
@examples(60)
@given(data=st.data(), model=binary_pairs(), seed=st.integers(0, 3), chain=st.integers(0, 2))
def test_the_twin(kind, data, model, seed, chain):
    """Samples and sums are the twin's, counts are those of the samples, cuts change nothing."""
    members = data.draw(st.sampled_from((1, 2, 16, 33) if UNCOMPILED else (1, 7, 16, 63, 65, 150)))
    betas = data.draw(st.sampled_from((None, BETAS)))
    proposal, draw = propose(kind, model, members, data.draw(st.booleans()), seed)
    assume(isinstance(proposal, Proposal))  # fields of 16 bits may be too coarse
    layout, x0 = proposal.build(), starts_of(model, members, seed)
    samples, tally, counts = run(layout, draw, x0, 5, chain, cuts=(2,), betas=betas)
    expected = KINDS[kind][1](layout, draw, x0, 5, chain, betas)
    free, width = model.evidence < 0, int(model.cardinalities.max())
    np.testing.assert_array_equal(samples, expected[0])
    np.testing.assert_array_equal(tally[free], expected[1][free])
    states = samples.reshape(-1, model.n_variables)
    real = np.stack([(states == k).sum(axis=0) for k in range(width)], axis=1)
    np.testing.assert_array_equal(counts[free], real[free][:, 1:] if width == 2 else real[free])


def layers(first, second, missing=0):
    """A Boltzmann machine; some variables of its first layer have no link to the second's first."""
    rng = np.random.default_rng(first)
    pairs = [(i, first + j) for i in range(first) for j in range(second)]
    pairs = [(i, j) for i, j in pairs if j > first or i >= missing]
    tables = rng.normal(0, 0.3, (len(pairs), 2, 2))
    return hd.pairwise_model(rng.normal(0, 0.3, (first + second, 2)), pairs, tables)


@compiled
@pytest.mark.parametrize("members", [5, 64, 81])
@pytest.mark.parametrize(
    ("sizes", "shared"),
    [((70, 35), [True, True, True]), ((30, 48), [True, False]), ((40, 36, 7), [False, False])],
)
def test_lanes_that_have_the_same_neighbours(members, sizes, shared):
    """Lists that fill the last pass or not, idle lanes, and layers that are not quite joined."""
    proposal, draw = propose("field", layers(*sizes), members, seed=1)
    layout, x0 = proposal.build(), starts_of(layers(*sizes), members)
    assert sorted(layout.arrays.shared, reverse=True) == shared
    for betas in (None, BETAS[2:4]):
        samples, tally, _ = run(layout, draw, x0, 2, cuts=(1,), betas=betas)
        expected = naive_field_herd(layout, draw, x0, 2, betas=betas)
        np.testing.assert_array_equal(samples, expected[0])
        np.testing.assert_array_equal(tally, expected[1])


@pytest.mark.parametrize("scan", ["random", "checkerboard", [3, 0, 2, 1, 4, 5]])
def test_scans_of_the_dense_layout(scan):
    model = hd.pairwise_model(np.zeros((6, 2)), [(0, 1), (1, 2), (3, 4)], np.eye(2)).given({5: 1})
    proposal, draw = propose("dense", model, 9, scan=scan)
    layout, x0 = proposal.build(), starts_of(model, 9)
    samples, _, _ = run(layout, draw, x0, 6)
    expected, _ = naive_dense_herd(layout, draw, x0, 6, scan=scan)
    np.testing.assert_array_equal(samples, expected)


@compiled
@each_kind
def test_threads_change_nothing(kind):
    pairs = [(i, i + 1) for i in range(0, 400, 2)]
    model = hd.pairwise_model(np.zeros((400, 2)), pairs, 0.7 * np.eye(2))
    proposal, draw = propose(kind, model, 400)
    layout, x0 = proposal.build(), starts_of(model, 400)
    alone = run(layout, draw, x0, 4)
    with ThreadPoolExecutor(3) as pool:
        together = run(layout, draw, x0, 4, cuts=(1,), pool=pool)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


@compiled
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("betas", [None, BETAS])
def test_threads_share_the_blocks_of_a_colour(kept, betas, monkeypatch):
    """Large colours are shared and small ones go together, and one, two and three threads agree."""
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 600)
    rng = np.random.default_rng(1)
    hub = [(0, i) for i in range(1, 5)] + [(1, 2), (1, 3), (2, 3)]  # colours of a few variables
    pairs = hub + [(i, i + 500) for i in range(5, 500)]
    tables = rng.normal(size=(len(pairs), 2, 2))
    model = hd.pairwise_model(rng.normal(size=(1000, 2)), pairs, tables).given({7: 1, 600: 0})
    proposal, draw = propose("field", model, 70, kept)
    layout, x0 = proposal.build(), starts_of(model, 70)
    alone = run(layout, draw, x0, 5, betas=betas)
    for count in (1, 2, 3):
        with ThreadPoolExecutor(count) as pool:
            sizes = [len(jobs) for jobs in layout.jobs(1, pool)]
            assert sizes == ([1] if count == 1 else [count, count, 1])
            together = run(layout, draw, x0, 5, cuts=(1,), betas=betas, pool=pool)
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)


@examples(100)
@given(members=st.integers(1, 200), n=st.integers(1, 40), seed=seeds)
def test_packed_states_come_back(members, n, seed):
    rng = np.random.default_rng(seed)
    place, states = rng.permutation(n + 7)[:n], rng.integers(0, 2, (members, n))
    packed = pack_members(states, place, n + 8)
    assert packed.dtype == np.uint64 and packed.shape == ((n + 8) * -(-members // 64),)
    places = BitPlaces.of(place, 1)
    for rows in (1, 0):
        words = places.words_of(packed[None][:rows], members)
        np.testing.assert_array_equal(unpack_states(words, members), states[None][:rows])


def test_random_bits_of_lanes():
    """The twin's; no two lanes share bits, and each bit of the output depends on all of a lane."""
    keys = np.random.default_rng(0).integers(0, 2**64, 400, np.uint64)
    words = np.array([[naive_lane_bits(int(key), j) for j in range(BLOCK_LANES)] for key in keys])
    for key, row in zip(keys[:5], words, strict=False):
        a, b = np.uint32(key & np.uint64(2**32 - 1)), np.uint32(key >> np.uint64(32))
        assert [int(lane_bits(a, b, np.uint32(j))) for j in range(BLOCK_LANES)] == row.tolist()
    bits = (words[:, :, None] >> np.arange(32)) & 1
    for flip in (1, 2, 4, 8, 16):
        changed = bits != bits[:, np.arange(BLOCK_LANES) ^ flip]
        assert np.abs(changed.mean(axis=(0, 1)) - 0.5).max() < 0.03
    for a, b in itertools.combinations(range(8), 2):  # five standard deviations
        assert np.abs((bits[:, a] == bits[:, b]).mean(axis=0) - 0.5).max() < 5 * 0.5 / 400**0.5


# -- the model ------------------------------------------------------------------------------------


def fields_in(layout, x):
    """The fields of all variables in a state (N,), as the arrays of layout "field" have them."""
    a = layout.arrays
    stored = np.zeros(layout.n_stored, np.int64)
    stored[a.place] = x
    rows = np.repeat(np.arange(len(a.row_start) - 1), np.diff(a.row_start))
    to = (rows[:, None] * BLOCK_LANES + np.arange(BLOCK_LANES)).reshape(-1)
    fields = np.append(a.alone.astype(np.int64), 0)
    np.add.at(fields, to, a.coupling * stored[a.neighbour])
    return fields[a.place] / 2.0**layout.bits


@examples(60)
@given(model=binary_pairs(), seed=seeds)
def test_fields_are_the_models(model, seed):
    """As near as rounding lets them be, and no two neighbours are in one block."""
    proposal, _ = propose("field", model, 1)
    assume(isinstance(proposal, Proposal))
    layout, x = proposal.build(), starts_of(model, 1, seed)[0]
    found = fields_in(layout, np.where(model.evidence < 0, x, 0))
    block = layout.arrays.place // BLOCK_LANES
    start, neighbours = model.adjacency
    for i in np.flatnonzero(model.evidence < 0):
        near = neighbours[start[i] : start[i + 1]]
        zero, one = x.copy(), x.copy()
        zero[i], one[i] = 0, 1
        expected = model.log_score(one) - model.log_score(zero)
        assert abs(found[i] - expected) < (len(near) + 1) * (2.0**-layout.bits + 1e-6)
        linked = near[model.evidence[near] < 0]
        linked = [j for j in linked if couples(model, i, j)]
        assert (block[linked] != block[i]).all()


def couples(model, i, j):
    """Whether j moves the field of i."""
    fields = []
    for value in (0, 1):
        x = np.maximum(model.evidence, 0)
        x[j] = value
        zero, one = x.copy(), x.copy()
        zero[i], one[i] = 0, 1
        fields.append(model.log_score(one) - model.log_score(zero))
    return abs(fields[0] - fields[1]) > 1e-3


@pytest.mark.parametrize("bits", [-2, 7, 10, 14])
def test_the_table_of_the_sigmoid(bits):
    """Within half a quantum of 2^-31; only what is certain to 31 bits has p = 0 or 1."""
    table = sigmoid_of_field(bits).astype(np.int64)
    field = np.arange(2**16).astype(np.uint16).view(np.int16) / 2.0**bits
    truth = 1 / (1 + np.exp(-np.clip(field, -700, 700)))
    assert np.abs(table / 2.0**31 - truth).max() <= 2.0**-32 * (1 + 1e-6)
    assert (table[0], table[truth > 1 - 1e-11].min(initial=2**31)) == (2**30, 2**31)
    possible = np.abs(field) < 21
    assert table[possible].min() >= 1 and table[possible].max() <= 2**31 - 1


def test_a_sweep_at_temperature_0_takes_the_better_state():
    """And either where both are as good, as evenly as two phases leave it."""
    field = np.array([3.0, -0.01, 0.0, 5.0, 0.002])
    unary = np.stack([np.zeros(5), field], axis=1)
    for kind in KINDS:
        model = hd.FactorGraph([2] * 5, [((i,), unary[i]) for i in range(5)])
        proposal, draw = propose(kind, model, 40)
        layout = proposal.build()
        samples, _, _ = run(layout, draw, np.zeros((40, 5), int), 9, betas=np.full(9, np.inf))
        means = samples.mean(axis=1)
        assert (means[:, [0, 1, 3, 4]] == [1.0, 0.0, 1.0, 1.0]).all()
        assert set(samples[:, :, 2].sum(axis=1).tolist()) <= {19, 20, 21}


@pytest.mark.parametrize(
    ("scale", "edges", "bits"),
    [(0.25, 1, 14), (1.0, 1, 14), (2.0, 5, 11), (4.0, 60, 7), (3.7, 60, None)],
)
def test_the_scale_of_16_bits(scale, edges, bits):
    """As fine as fields fit; a scale too coarse to round at is for whole numbers alone."""
    pairs = [(0, j + 1) for j in range(edges)]
    model = hd.pairwise_model(np.zeros((edges + 1, 2)), pairs, scale * np.diag([0.0, 1.0]))
    proposal, _ = propose("field", model, 64)
    if bits is None:
        assert proposal == Refusal("its fields are too wide for 16 bits")
        assert isinstance(propose("dense", model, 64)[0], Proposal)
    else:
        assert proposal.build().bits == bits


def test_what_they_are_not_for():
    ring = hd.pairwise_model(np.zeros((6, 2)), [(i, (i + 1) % 6) for i in range(6)], np.eye(2))
    three = hd.FactorGraph([2] * 3, [((0, 1, 2), np.arange(8.0).reshape(2, 2, 2))])
    for kind in KINDS:
        assert "more than two variables" in propose(kind, three, 4)[0].reason
        assert "not binary" in propose(kind, hd.FactorGraph([3], []), 4)[0].reason
    assert "visited by colour" in propose("field", ring, 4, scan=[5, 4, 3, 2, 1, 0])[0].reason
    assert "visited by colour" in propose("field", ring, 4, scan="random")[0].reason
    assert "too few variables" in propose("field", ring, 4, forced=False)[0].reason
    with pytest.raises(hd.MethodError, match='got "jacobi"'):
        propose("dense", ring, 4, scan="jacobi")


@pytest.mark.parametrize("n", range(1, MAX_UNFILLED_VARIABLES + 1))
def test_few_variables_fill_no_lanes_however_they_are_coupled(n, monkeypatch):
    """Which is said at once: the same is found for all numbers of sides that are linked fully."""
    monkeypatch.setattr("herded.layouts.binary_pairs.herd.MAX_UNFILLED_VARIABLES", 0)
    for sides in range(1, n + 1):
        pairs = [(i, j) for i in range(n) for j in range(i) if i % sides != j % sides]
        model = hd.pairwise_model(np.zeros((n, 2)), pairs, np.eye(2))
        assert "too few variables" in propose("field", model, 4, forced=False)[0].reason


@each_kind
def test_nothing_to_visit(kind):
    """All is known, one variable by a state that bits do not hold."""
    model = hd.FactorGraph([2, 5], [((0, 1), np.zeros((2, 5)))]).given({0: 1, 1: 4})
    proposal, draw = propose(kind, model, 3)
    samples, _, _ = run(proposal.build(), draw, np.tile([1, 4], (3, 1)), 2)
    assert (samples == [1, 4]).all()


# -- the law --------------------------------------------------------------------------------------


def tiny(name):
    rng = np.random.default_rng(3)
    if name == "ring":
        return hd.pairwise_model(np.zeros((6, 2)), [(i, (i + 1) % 6) for i in range(6)], np.eye(2))
    pairs = list(itertools.combinations(range(5), 2))
    model = hd.pairwise_model(rng.normal(size=(5, 2)), pairs, 0.7 * rng.normal(size=(10, 2, 2)))
    return model.given({2: 1})


@compiled
@each_kind
@pytest.mark.parametrize("members", [1, 16, 100])
@pytest.mark.parametrize("name", ["ring", "complete"])
def test_joint(kind, name, members):
    """No state is further off than draws would be: five standard deviations, every tenth sweep
    counted as a draw of its own."""
    model = tiny(name)
    truth = naive_joint(model).reshape(-1)
    proposal, draw = propose(kind, model, members, seed=5)
    sweeps = 300_000 // members if members > 1 else 30_000  # one has fewer draws: 5 sigmas of them
    samples, tally, _ = run(proposal.build(), draw, starts_of(model, members), sweeps)
    powers = 1 << np.arange(model.n_variables - 1, -1, -1)
    numbers = samples[100:].reshape(-1, model.n_variables) @ powers
    found = np.bincount(numbers, minlength=len(truth)) / len(numbers)
    assert (found[truth == 0] == 0).all()
    possible = truth > 0
    noise = np.sqrt(truth * (1 - truth) / (len(numbers) / 10))[possible]
    assert (np.abs(found - truth)[possible] / noise).max() < 5
    free = model.evidence < 0
    averages = tally[free] / (2.0**31 * members * sweeps)
    most = 2e-3 if members > 1 else 5 * 0.5 / np.sqrt(sweeps)
    assert np.abs(averages - samples.mean(axis=(0, 1))[free]).max() < most


@cache
def zero_field(name):
    """A model without fields, all its states, and their probabilities."""
    if name == "grid":
        model = hd.ising_grid(np.zeros((3, 4)), 0.3)
    else:
        pairs = [(i, (i + 1) % 8) for i in range(8)]
        if name == "complete":
            pairs = list(itertools.combinations(range(8), 2))
        strength = {"ring": 0.5, "complete": 0.1}[name]
        model = hd.pairwise_model(np.zeros((8, 2)), pairs, strength * np.eye(2))
    states = np.array(list(itertools.product((0, 1), repeat=model.n_variables)))
    return model, states, naive_joint(model).reshape(-1)


@compiled
@each_kind
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("members", [4, 16, 64])
@pytest.mark.parametrize("name", ["ring", "grid", "complete"])
def test_members_stay_apart(kind, name, members, kept):
    """Without fields members that draw in a fixed order would collapse to two.

    As many are distinct as among independent chains. Means over the herd of the energy and of the
    squared magnetisation stray no further than those of independent chains, the energy by less in
    layout "field"; four members with kept phases, which are one in layout "dense", stray further.
    """
    model, states, joint = zero_field(name)
    proposal, draw = propose(kind, model, members, kept)
    sweeps = 3_100 if members == 64 else 6_100  # fewer members, nearer to the limits
    samples, _, _ = run(proposal.build(), draw, starts_of(model, members), sweeps)
    numbers = samples[100::5] @ (1 << np.arange(model.n_variables - 1, -1, -1))
    distinct = 1 + (np.diff(np.sort(numbers, axis=1), axis=1) > 0).sum(axis=1).mean()
    assert distinct > 0.98 * (1 - (1 - joint) ** members).sum()
    square = (2.0 * states.mean(axis=1) - 1.0) ** 2
    limits = (1.0, 1.1) if kind == "field" else (1.1, 1.1)
    if kind == "dense" and kept and members == 4:
        limits = (1.8, 1.8)
    for value, limit in zip((model.log_score(states), square), limits, strict=True):
        spread = np.sqrt((joint @ value**2 - (joint @ value) ** 2) / members)
        assert value[numbers].mean(axis=1).std() < limit * spread


@compiled
@pytest.mark.parametrize("field", [0.0, 1.0])
def test_lanes_do_not_agree(field):
    """Variables of one block that know nothing of each other: correlations are those of chance."""
    unary = np.stack([np.zeros(BLOCK_LANES), np.full(BLOCK_LANES, field)], axis=1)
    model = hd.FactorGraph([2] * BLOCK_LANES, [((i,), unary[i]) for i in range(BLOCK_LANES)])
    proposal, draw = propose("field", model, 64)
    samples, _, _ = run(proposal.build(), draw, np.zeros((64, BLOCK_LANES), int), 400)
    squares = []
    for sample in samples:
        table = np.corrcoef(sample.T)[np.triu_indices(BLOCK_LANES, 1)]
        squares.append((table**2).mean())
    assert np.mean(squares) < 1.1 / 63  # independent columns of 64: 1 / 63

"""Herds on Potts lattices: bits of the naive twin, packing, counts, threads, law and spread."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.systematic import SystematicDraw
from herded.layouts.packing.colour_packing import unpack_colours
from herded.layouts.packing.member_bits import BitPlaces, unpack_states
from herded.layouts.potts.herd import PottsHerdLayout
from herded.layouts.potts.herd_arrays import n_planes, pack_herd
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.system import threads
from tests.conformance.twins.herds.potts import naive_order, naive_potts_herd
from tests.support.example_budget import ALL, UNCOMPILED, examples
from tests.support.kernel_runs import sweep_layout
from tests.support.strategies import seeds

compiled_only = pytest.mark.skipif(UNCOMPILED, reason="takes minutes where nothing is compiled")


def laid_out(model, members, kept=False, seed=0):
    draw = SystematicDraw(seed, members, kept)
    found = PottsHerdLayout.propose(LayoutRequest(model, draw, "auto", None), False)
    assert isinstance(found, Proposal), found
    return draw, found.build()


def advance(draw, layout, x0, sweeps, *, chain=0, cuts=(), pool=None, samples=True):
    """The samples (sweeps, members, N), sums and counts (N, K), and the state after them."""
    state = layout.start(draw, x0, chain=chain, tally=True, total=sweeps)
    state.state_counts = layout.new_counts()
    parts = []
    for a, b in zip([0, *cuts], [*cuts, sweeps], strict=True):
        block = np.empty((b - a, layout.sample_size if samples else 0), layout.sample_type)
        sweep_layout(layout, state, block, draw.step(state.sweep, chain), None, pool)
        parts.append(layout.members_of(block) if samples else [])
    assert state.sweep == sweeps
    tally, ones = (
        layout.unstore(sums.reshape(layout.n_stored, -1).T).T
        for sums in (state.conditional_sums, state.state_counts)
    )
    return np.concatenate(parts), tally, ones, state


SIDES = {1: 9, 2: 6, 3: 4, 4: 3}  # the longest, by number of dimensions


MANY = (33, 64) if ALL else (11, 16)  # states: each other number of bits is a kernel of its own


@st.composite
def potts_lattices(draw):
    """Grids of 1 to 4 dimensions, any of them periodic, zeros, evidence and unequal couplings.

    Planes of bits, neighbours, unequal couplings and doubles make kernels of their own, of seconds
    each: states of more planes than two have equal couplings, in one or two dimensions. Compiled,
    doubles have unequal ones.
    """
    dims = draw(st.sampled_from(tuple(SIDES)))
    sides = [draw(st.integers(1, SIDES[dims])) for _ in range(dims)]
    joined = [bool(n > 3 and n % 2 == 0 and draw(st.booleans())) for n in sides]
    counts = (3, 4) if dims > 2 else (3, 4, 5, 8, *MANY)
    states = draw(st.sampled_from((3, 4) if UNCOMPILED else counts))
    rng = np.random.default_rng(draw(seeds))
    strong = (20.0,) if states == 3 else ()  # needs doubles
    scale = draw(st.sampled_from((0.0, 1.0, *strong)))
    edges = (
        [n - (a == axis and not joined[a]) for a, n in enumerate(sides)]
        for axis in reversed(range(dims))
    )
    pair = tuple(np.clip(scale * rng.normal(size=shape), -75, 75) for shape in edges)
    unary = draw(st.sampled_from((0.0, 1.0, 100.0))) * rng.normal(size=(*sides, states))
    unary[rng.random(unary.shape) < draw(st.sampled_from((0.0, 0.4)))] = -np.inf
    unary[..., 1] = np.where(np.isneginf(unary[..., 1]), 0.0, unary[..., 1])
    one = 0.0 if not pair[0].size else float(pair[0].ravel()[0])
    unequal = not UNCOMPILED and scale == 20.0
    coupling = one if states > 4 or not (unequal or draw(st.booleans())) else pair
    model = hd.potts_grid(unary, coupling, periodic=tuple(reversed(joined)))
    known = np.argwhere(rng.random(sides) < draw(st.sampled_from((0.0, 0.3))))
    return model.given({tuple(map(int, at)): 1 for at in known})


@examples(60)
@given(data=st.data())
def test_equal_to_the_naive_twin(data):
    model = data.draw(potts_lattices())
    small = UNCOMPILED or model.log_unary.shape[-1] > 8  # the twin adds up states one by one
    members = data.draw(st.sampled_from((1, 5, 33) if small else (1, 2, 5, 31, 32, 33, 70)))
    kept, chain = data.draw(st.booleans()), data.draw(st.integers(0, 1))
    seed = data.draw(st.integers(0, 3))
    draw, layout = laid_out(model, members, kept, seed)
    x0 = np.ones((members, model.n_variables), np.uint8)
    twin, sums = naive_potts_herd(
        model, members=members, kept=kept, seed=seed, chain=chain, x0=x0, sweeps=3
    )
    samples, tally, ones, state = advance(draw, layout, x0, 3, chain=chain, cuts=(1,))
    np.testing.assert_array_equal(samples, twin)
    np.testing.assert_array_equal(tally, sums)
    np.testing.assert_allclose(tally.sum(axis=1), 3 * members * 2**24, rtol=2**-20)
    counts = (twin[..., None] == np.arange(layout.width)).sum(axis=(0, 1))
    np.testing.assert_array_equal(ones, counts)
    np.testing.assert_array_equal(layout.values(state), twin[-1])


@compiled_only
@pytest.mark.parametrize("members", [160, 1030])
def test_many_members(members):
    """Sums of conditionals of more members than 32 bits hold."""
    rng = np.random.default_rng(4)
    model = hd.potts_grid(rng.normal(size=(2, 3, 5)), 0.8)
    x0 = rng.integers(0, 5, (members, 6)).astype(np.uint8)
    draw, layout = laid_out(model, members)
    twin, sums = naive_potts_herd(model, members=members, kept=False, x0=x0, sweeps=2)
    samples, tally, _, _ = advance(draw, layout, x0, 2)
    np.testing.assert_array_equal(samples, twin)
    np.testing.assert_array_equal(tally, sums)


@examples(40)
@given(seed=seeds, members=st.integers(1, 70), states=st.integers(3, 64), data=st.data())
def test_what_is_packed_is_unpacked(seed, members, states, data):
    shape = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    x = np.random.default_rng(seed).integers(0, states, (members, shape[0] * shape[1]))
    packed = pack_herd(x.astype(np.uint8), shape, n_planes(states), False)
    colours, rows, _, planes, columns = packed[..., 1:-1].shape
    stored = np.arange(colours * rows * columns).reshape(colours, rows, columns)
    places = BitPlaces.of(unpack_colours(stored, *shape), columns, planes)
    found = places.words_of(packed[..., 1:-1].reshape(1, -1), members)
    np.testing.assert_array_equal(unpack_states(found, members), [x])


@compiled_only
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(
    ("shape", "periodic"), [((14, 20), False), ((14, 20), True), ((6, 8, 6), (True, False, True))]
)
def test_bits_do_not_depend_on_threads_and_cuts(shape, periodic, kept, monkeypatch):
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 1)
    rng = np.random.default_rng(3)
    model = hd.potts_grid(rng.normal(size=(*shape, 3)), 0.6, periodic=periodic)
    draw, layout = laid_out(model, 40, kept)
    assert layout.n_parallel_parts > 4
    x0 = rng.integers(0, 3, (40, model.n_variables)).astype(np.uint8)
    expected, sums, counts, last = advance(draw, layout, x0, 6)
    for count, cuts in ((1, (1, 4)), (3, ()), (2, (5,))):
        with ThreadPoolExecutor(count) as pool:
            samples, tally, ones, _ = advance(draw, layout, x0, 6, cuts=cuts, pool=pool)
        np.testing.assert_array_equal(samples, expected)
        np.testing.assert_array_equal(tally, sums)
        np.testing.assert_array_equal(ones, counts)
    _, _, _, state = advance(draw, layout, x0, 6, samples=False)
    np.testing.assert_array_equal(state.x, last.x)


def test_in_an_order_every_place_is_as_likely():
    members, visits = 32, 3000
    places = np.zeros((members, members))
    for visit in range(visits):
        order = [m for m, _ in naive_order(members, 11, visit, visit % 32)]
        assert sorted(order) == list(range(members))
        places[order, range(members)] += 1
    expected = visits / members
    assert ((places - expected) ** 2 / expected).sum() / (members - 1) ** 2 < 1.15


def all_states(shape, states):
    """(states^N, N)."""
    n = math.prod(shape)
    return np.stack(np.unravel_index(np.arange(states**n), (states,) * n), axis=1)


@compiled_only
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(
    ("shape", "states", "members", "coupling"),
    [
        ((2, 2), 3, 40, 0.7),
        ((1, 2), 11, 64, 0.7),
        ((4,), 3, 40, 0.7),
        ((2, 1, 2), 3, 40, 0.7),
        ((1, 2, 2), 3, 40, (0.7, -0.4, 0.1)),
    ],
)
def test_members_have_the_joint_distribution(shape, states, members, coupling, kept):
    rng = np.random.default_rng(6)
    unary = 0.6 * rng.normal(size=(*shape, states))
    unary[(0,) * len(shape)][1] = -np.inf
    model = hd.potts_grid(unary, coupling)
    every = all_states(shape, states)
    joint = np.exp(model.log_score(every))
    joint /= joint.sum()
    draw, layout = laid_out(model, members, kept)
    samples, tally, _, _ = advance(draw, layout, np.zeros((members, every.shape[1]), int) + 2, 5000)
    thin = samples[50::5].reshape(-1, every.shape[1])
    counts = np.bincount(
        np.ravel_multi_index(tuple(thin.T), (states,) * every.shape[1]), minlength=len(every)
    )
    assert counts[joint == 0].sum() == 0
    assert tally[0, 1] == 0
    expected = joint[joint > 0] * len(thin)
    assert expected.min() > 5
    excess = ((counts[joint > 0] - expected) ** 2 / expected).sum() / (len(expected) - 1)
    assert excess < 1.4


@compiled_only
@pytest.mark.parametrize("members", [4, 16, 64])
def test_members_do_not_become_equal_without_a_field(members):
    model, every = hd.potts_grid(np.zeros((1, 4, 3)), 1.0), all_states((1, 4), 3)
    joint = np.exp(model.log_score(every))
    joint /= joint.sum()
    independent = (1 - (1 - joint) ** members).sum()
    draw, layout = laid_out(model, members)
    samples, _, _, _ = advance(draw, layout, np.zeros((members, 4), int), 2000)
    names = np.sort(samples[100:] @ 3 ** np.arange(4), axis=1)
    distinct = 1 + (np.diff(names, axis=1) > 0).sum(axis=1).mean()
    assert distinct > 0.97 * independent


@compiled_only
def test_energies_are_not_noisier_than_those_of_independent_chains():
    shape, states, members = (8, 8), 8, 16
    model = hd.potts_grid(np.zeros((*shape, states)), 0.6, periodic=True)

    def energies(members, herds):
        draw, layout = laid_out(model, members)
        found = []
        for chain in range(herds):
            rng = np.random.default_rng(chain)
            x0 = rng.integers(0, states, (members, 64)).astype(np.uint8)
            x = advance(draw, layout, x0, 60, chain=chain)[0][30:].reshape(-1, *shape)
            found.append(np.mean(x == np.roll(x, 1, axis=1)) + np.mean(x == np.roll(x, 1, axis=2)))
        return np.std(found)

    assert energies(members, 200) < energies(1, 400) / np.sqrt(members)


@pytest.mark.parametrize(
    ("reason", "model"),
    [
        ("3 to 64 states", hd.potts_grid(np.zeros((3, 3, 65)))),
        ("3 to 64 states", hd.potts_grid(np.zeros((3, 3, 2)))),
        ("couplings beyond 75", hd.potts_grid(np.zeros((3, 3, 3)), 80.0)),
        ("so strong", hd.potts_grid(np.zeros((2, 2, 2, 2, 2, 3)), 70.0)),
        ("odd side", hd.potts_grid(np.zeros((3, 4, 3)), periodic=True)),
        ("not a lattice", hd.FactorGraph([3], [((0,), np.zeros(3))])),
    ],
)
def test_no_herd_layout_for(reason, model):
    found = PottsHerdLayout.propose(
        LayoutRequest(model, SystematicDraw(0, 64, False), "auto", None), False
    )
    assert isinstance(found, Refusal) and reason in found.reason


def test_memory_that_is_proposed_is_taken():
    model = hd.potts_grid(np.zeros((20, 21, 5)), 0.3)
    draw = SystematicDraw(0, 100, True)
    found = PottsHerdLayout.propose(LayoutRequest(model, draw, "auto", None), False)
    assert isinstance(found, Proposal)
    layout = found.build()
    starts = np.zeros((100, 420), np.uint8)  # counted twice: they are packed
    state = layout.start(draw, starts, chain=0, tally=True, total=1)
    kept = (state.x, state.conditional_sums, *state.method_arrays.values(), starts, starts)
    taken = layout.bytes + sum(array.nbytes for array in kept)
    assert 0.5 * found.memory < taken < 1.5 * found.memory

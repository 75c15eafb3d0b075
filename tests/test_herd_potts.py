"""Herds on Potts lattices: bits of the naive twin, packing, counts, threads, law and spread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from compiled import UNCOMPILED, quick
from hypothesis import given
from hypothesis import strategies as st
from naive.potts_herd import naive_order, naive_potts_herd
from strategies import seeds

import herded as hd
from herded.draws.together import TogetherDraw
from herded.layouts.potts_herd import PottsHerdLayout
from herded.layouts.potts_herd_arrays import n_planes, pack_herd, unpack_herd
from herded.layouts.protocol import Proposal, Task
from herded.system import threads

compiled_only = pytest.mark.skipif(UNCOMPILED, reason="takes minutes where nothing is compiled")


def laid_out(model, members, kept=False, seed=0):
    draw = TogetherDraw(seed, members, kept)
    found = PottsHerdLayout.propose(Task(model, draw, "auto", None), False)
    assert isinstance(found, Proposal), found
    return draw, found.build()


def advance(draw, layout, x0, sweeps, *, chain=0, cuts=(), pool=None, samples=True):
    """The samples (sweeps, members, N), sums and counts (N, K), and the state after them."""
    state = layout.start(draw, x0, chain=chain, tally=True, total=sweeps)
    state.ones = layout.new_counts()
    parts = []
    for a, b in zip([0, *cuts], [*cuts, sweeps], strict=True):
        block = np.empty((b - a, layout.sample_size if samples else 0), layout.sample_type)
        layout.sweep(state, block, draw.step(state.sweep, chain), None, pool)
        parts.append(layout.members_of(block) if samples else [])
    assert state.sweep == sweeps
    tally, ones = (
        layout.unstore(sums.reshape(layout.n_stored, -1).T).T for sums in (state.tally, state.ones)
    )
    return np.concatenate(parts), tally, ones, state


@st.composite
def potts_lattices(draw):
    """Open and periodic grids of 3 to 64 states, with zeros, evidence and unequal couplings."""
    periodic = draw(st.booleans())
    h, w = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    if periodic:
        h, w = draw(st.sampled_from((4, 6))), draw(st.sampled_from((4, 6)))
    states = draw(st.sampled_from((3, 4) if UNCOMPILED else (3, 4, 5, 8, 9, 16, 20, 33, 64)))
    rng = np.random.default_rng(draw(seeds))
    scale = draw(st.sampled_from((0.0, 1.0, 20.0)))
    shapes = ((h, w), (h, w)) if periodic else ((h, w - 1), (h - 1, w))
    pair = tuple(np.clip(scale * rng.normal(size=shape), -75, 75) for shape in shapes)
    unary = draw(st.sampled_from((0.0, 1.0, 100.0))) * rng.normal(size=(h, w, states))
    unary[rng.random(unary.shape) < draw(st.sampled_from((0.0, 0.4)))] = -np.inf
    unary[..., 1] = np.where(np.isneginf(unary[..., 1]), 0.0, unary[..., 1])
    coupling = float(pair[0].ravel()[0]) if pair[0].size and draw(st.booleans()) else pair
    model = hd.potts_grid(unary, coupling, periodic=periodic)
    pixels = np.argwhere(rng.random((h, w)) < draw(st.sampled_from((0.0, 0.3))))
    return model.given({(int(r), int(c)): 1 for r, c in pixels})


@quick(60)
@given(data=st.data())
def test_equal_to_the_naive_twin(data):
    model = data.draw(potts_lattices())
    members = data.draw(st.sampled_from((1, 2, 5) if UNCOMPILED else (1, 2, 5, 31, 32, 33, 70)))
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
    np.testing.assert_array_equal(tally.sum(axis=1), 3 * members * 2**24)
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


@quick(40)
@given(seed=seeds, members=st.integers(1, 70), states=st.integers(3, 64), data=st.data())
def test_what_is_packed_is_unpacked(seed, members, states, data):
    shape = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 6))
    x = np.random.default_rng(seed).integers(0, states, (members, shape[0] * shape[1]))
    packed = pack_herd(x.astype(np.uint8), shape, n_planes(states), False)
    np.testing.assert_array_equal(unpack_herd(packed[:, 1:-1, ..., 1:-1], members, shape), x)


@compiled_only
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("periodic", [False, True])
def test_bits_do_not_depend_on_threads_and_cuts(periodic, kept, monkeypatch):
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)
    rng = np.random.default_rng(3)
    model = hd.potts_grid(rng.normal(size=(14, 20, 3)), 0.6, periodic=periodic)
    draw, layout = laid_out(model, 40, kept)
    assert layout.parts > 4
    x0 = rng.integers(0, 3, (40, 280)).astype(np.uint8)
    expected, sums, counts, last = advance(draw, layout, x0, 6)
    for count, cuts in ((1, (1, 4)), (3, ()), (2, (5,))):
        with ThreadPoolExecutor(count) as pool:
            samples, tally, ones, _ = advance(draw, layout, x0, 6, cuts=cuts, pool=pool)
        np.testing.assert_array_equal(samples, expected)
        np.testing.assert_array_equal(tally, sums)
        np.testing.assert_array_equal(ones, counts)
    _, _, _, state = advance(draw, layout, x0, 6, samples=False)
    np.testing.assert_array_equal(state.x, last.x)


def test_an_order_is_a_permutation_and_every_place_is_as_likely():
    places = np.zeros((40, 40), int)
    for visit in range(2000):
        order = naive_order(40, 11, visit, visit % 32)
        assert sorted(order) == list(range(40))
        places[order, range(40)] += 1
    words = places[:32, :32] + places[:32, 8:]  # the full word comes first or last
    assert np.abs(words.mean(axis=0) / words.mean() - 1).max() < 0.3
    assert places[:32].sum(axis=1).std() == 0

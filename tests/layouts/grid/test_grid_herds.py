"""Herds on lattices of two states: the bits of the naive twin, packing, threads, members' laws."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.systematic import SystematicDraw
from herded.draws.systematic_lanes import (
    LANES,
    MEMBERS_PER_WORD,
    ORDER_COLUMNS,
    lane_bits,
    member_masks,
)
from herded.layouts.grid.herd import GridHerdLayout
from herded.layouts.grid.herd_bit_kernels import (
    FINE_RANDOM_BYTES_AT,
    LANES_U8,
    P15,
    RANDOM_BYTES_AT,
    ROW_BUFFER_SIZE,
    P,
    round_conditionals,
    round_to_15_bits,
)
from herded.layouts.proposal import LayoutRequest, Proposal
from herded.system import threads
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.herds.grid import naive_herd, naive_lane_bits, naive_place_order
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import sweep_layout
from tests.support.strategies import seeds


@pytest.mark.parametrize("p", [0, 1, 2**16 + 255, 2**24 - 1, 2**30 + 12345, 2**31 - 1, 2**31])
def test_conditionals_are_rounded_without_bias(p):
    """All random bytes up to 15 bits, then all from 15 bits to 7: the mean of p is exact."""
    planes = np.array([p >> 24, p >> 16 & 255, p >> 8 & 255, p & 255], np.uint8).repeat(LANES)
    work, total = np.zeros(int(ROW_BUFFER_SIZE), np.uint8), 0
    chances = np.arange(2**16, dtype=np.uint32).reshape(-1, LANES)
    for row in chances:
        work[FINE_RANDOM_BYTES_AT : FINE_RANDOM_BYTES_AT + LANES_U8] = row >> 8
        work[FINE_RANDOM_BYTES_AT + LANES_U8 : FINE_RANDOM_BYTES_AT + LANES_U8 + LANES_U8] = (
            row & 255
        )
        round_to_15_bits(work, np.uint64(0), planes, np.uint64(0), np.uint64(1))
        rounded = (
            work[P15 : P15 + LANES_U8].astype(int) * 256
            + work[P15 + LANES_U8 : P15 + LANES_U8 + LANES_U8]
        )
        assert (np.abs(rounded * 2**16 - p) < 2**16).all()
        total += int(rounded.sum())
    assert total == p  # 2^16 times p / 2^16
    work[P15 : P15 + LANES_U8], work[P15 + LANES_U8 : P15 + LANES_U8 + LANES_U8] = (
        p >> 24,
        p >> 16 & 255,
    )
    total = 0
    for half in (0, 128):
        work[RANDOM_BYTES_AT : RANDOM_BYTES_AT + LANES_U8] = np.arange(half, half + LANES)
        round_conditionals(work, np.uint64(0), np.uint64(1), 0)
        total += int(work[P : P + LANES_U8].sum(dtype=int))
    assert total == p >> 16


def laid_out(model, draw):
    proposal = GridHerdLayout.propose(LayoutRequest(model, draw, "auto", None), forced=True)
    assert isinstance(proposal, Proposal)
    return proposal.build()


def starts(model, members, rng):
    """States of all members that agree with the evidence and have no forbidden pixel."""
    x = rng.integers(0, 2, (members, model.n_variables))
    forbidden = np.isneginf(model.log_unary).reshape(-1, 2)
    x = np.where(forbidden.any(axis=1), forbidden[:, 0], x)
    return np.where(model.evidence >= 0, model.evidence, x).astype(np.uint8)


def advance(layout, draw, x0, sweeps, chain=0, cuts=(), pool=None):
    """Samples (sweeps, members, N) and the state after them, with sums and counts."""
    state = layout.start(draw, x0, chain=chain, tally=True, total=sweeps)
    state.state_counts = layout.new_counts()
    parts = []
    for a, b in zip([0, *cuts], [*cuts, sweeps], strict=True):
        block = np.full((b - a, layout.sample_size), 0xAB, layout.sample_type)
        sweep_layout(layout, state, block, draw.step(state.sweep, chain), pool=pool)
        parts.append(layout.members_of(block))
    assert state.sweep == sweeps
    return np.concatenate(parts), state


@st.composite
def grids(draw, most_side=9):
    """Lattices of two states, open or periodic, with zeros and evidence."""
    rng, periodic, equal = (
        np.random.default_rng(draw(seeds)),
        draw(st.booleans()),
        draw(st.booleans()),
    )
    side = (
        st.integers(2, most_side // 2).map(lambda n: 2 * n)
        if periodic
        else st.integers(1, most_side)
    )
    h, w = draw(side), draw(side)
    shapes = ((h, w), (h, w)) if periodic else ((h, w - 1), (h - 1, w))
    coupling = rng.normal() if equal else tuple(0.5 * rng.normal(size=shape) for shape in shapes)
    unary = rng.normal(size=(h, w, 2))
    unary[rng.random((h, w)) < 0.1, rng.integers(2)] = -np.inf
    if draw(st.booleans()):
        model = hd.ising_grid(unary[..., 1].clip(-3, 3), coupling, periodic=periodic)
    else:
        model = hd.potts_grid(unary, coupling, periodic=periodic)
    known = np.argwhere(rng.random((h, w)) < draw(st.sampled_from((0.0, 0.2))))
    possible = np.isneginf(model.log_unary[..., 0]).astype(int)
    return model.given({(int(r), int(c)): int(possible[r, c]) for r, c in known})


@examples(40)
@given(
    model=grids(),
    members=st.integers(1, 40),
    kept=st.booleans(),
    chain=st.integers(0, 1),
    seed=seeds,
)
def test_herd_equal_to_the_naive_twin(model, members, kept, chain, seed):
    sweeps = 1 if UNCOMPILED else 3
    draw = SystematicDraw(seed, members, kept)
    layout = laid_out(model, draw)
    x0 = starts(model, members, np.random.default_rng(seed))
    cuts = () if UNCOMPILED else (1,)
    samples, state = advance(layout, draw, x0, sweeps, chain, cuts)
    expected, tally, phases = naive_herd(
        model, members=members, kept=kept, seed=seed, chain=chain, x0=x0, sweeps=sweeps
    )
    np.testing.assert_array_equal(samples, expected)
    np.testing.assert_array_equal(layout.values(state), expected[-1])
    np.testing.assert_array_equal(layout.unstore(state.conditional_sums), tally)
    np.testing.assert_array_equal(layout.unstore(state.state_counts), expected.sum(axis=(0, 1)))
    if kept:
        sites = layout.arrays.rows * layout.arrays.columns
        for high in (0, 1):
            lanes = state.method_arrays["phases"][:, :, :, high].reshape(
                2, layout.n_parallel_parts, -1
            )
            left = layout.unstore(lanes[..., :sites].reshape(-1))
            np.testing.assert_array_equal(left, phases[:, high])


@pytest.mark.skipif(UNCOMPILED, reason="several cells and words take minutes in Python")
@pytest.mark.parametrize(
    ("shape", "periodic", "members"),
    [
        ((34, 66), True, 23),
        ((5, 301), False, 16),
        ((3, 120), False, 71),
        ((1, 3), False, 260),
    ],
)
def test_cells_and_words_equal_to_the_naive_twin(shape, periodic, members):
    rng = np.random.default_rng(1)
    model = hd.ising_grid(rng.normal(size=shape), 0.3, periodic=periodic)
    draw = SystematicDraw(5, members, kept=False)
    x0 = starts(model, members, rng)
    samples, state = advance(laid_out(model, draw), draw, x0, 2)
    expected, tally, _ = naive_herd(model, members=members, seed=5, x0=x0, sweeps=2)
    np.testing.assert_array_equal(samples, expected)
    np.testing.assert_array_equal(laid_out(model, draw).unstore(state.conditional_sums), tally)


@examples(40)
@given(model=grids(), members=st.integers(1, 100), seed=seeds)
def test_packing_and_back(model, members, seed):
    draw = SystematicDraw(0, members, kept=False)
    layout = laid_out(model, draw)
    x0 = np.random.default_rng(seed).integers(0, 2, (members, model.n_variables)).astype(np.uint8)
    state = layout.start(draw, x0, chain=0, tally=False, total=1)
    np.testing.assert_array_equal(layout.values(state), x0)
    block = np.stack([layout.packed(state)] * 2)
    assert block.shape == (2, layout.sample_size) and block.dtype == layout.sample_type
    np.testing.assert_array_equal(layout.members_of(block), np.stack([x0, x0]))
    state.x = layout.pack(1 - x0)
    for step in (1, 3):  # some of the variables
        then, now = layout.states_at_burn_in_end_and_now(state, step)
        np.testing.assert_array_equal(then, x0[:, ::step])
        np.testing.assert_array_equal(now, 1 - x0[:, ::step])
    one = np.broadcast_to(x0[0], x0.shape)  # a start that all members share
    np.testing.assert_array_equal(layout.pack(one), layout.pack(one.copy()))


@pytest.mark.skipif(UNCOMPILED, reason="many strips take minutes in Python")
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(("shape", "periodic"), [((60, 520), True), ((1400, 8), False)])
def test_threads_cuts_and_waves_change_no_bit(shape, periodic, kept, monkeypatch, waves_within):
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 1)
    rng = np.random.default_rng(3)
    right = rng.normal(size=(shape[0], shape[1] - (not periodic)))
    down = rng.normal(size=(shape[0] - (not periodic), shape[1]))
    for coupling in (0.3, (right, down)):
        model = hd.ising_grid(rng.normal(size=shape), coupling, periodic=periodic)
        draw = SystematicDraw(2, 20, kept)
        layout = laid_out(model, draw)
        assert layout.n_parallel_parts > 10
        x0 = starts(model, 20, rng)
        waves_within(1)  # one half-sweep after the other
        expected, state = advance(layout, draw, x0, 6)
        for count, near, cuts in (
            (1, 2**18, ()),
            (2, 2**16, (1, 4)),
            (2, 2**30, ()),
            (5, 2**30, (5,)),
        ):
            waves_within(near)
            with ThreadPoolExecutor(count) as pool:
                samples, other = advance(layout, draw, x0, 6, cuts=cuts, pool=pool)
            np.testing.assert_array_equal(samples, expected)
            for name, array in state.arrays().items():
                np.testing.assert_array_equal(other.arrays()[name], array)
            np.testing.assert_array_equal(other.state_counts, state.state_counts)


@pytest.mark.skipif(UNCOMPILED, reason="long runs")
@pytest.mark.parametrize("members", [3, 16, 40])
@pytest.mark.parametrize("equal", [True, False])
def test_members_have_the_joint_distribution(members, equal):
    """Pearson's statistic of one member, thinned, with all rare states as one: at most 63 degrees
    of freedom, far beyond 1 in 10^4.
    """
    rng = np.random.default_rng(8)
    coupling = 0.4 if equal else (rng.normal(size=(2, 2)), rng.normal(size=(1, 3)))
    model = hd.ising_grid(0.5 * rng.normal(size=(2, 3)), coupling)
    draw = SystematicDraw(11, members, kept=False)
    layout = laid_out(model, draw)
    samples, _ = advance(layout, draw, starts(model, members, rng), 40_000)
    joint = naive_joint(model).reshape(-1)
    for member in (0, members - 1):
        names = samples[100::20, member] @ (1 << np.arange(5, -1, -1))
        counts = np.bincount(names, minlength=64)
        rare = joint * len(names) < 5
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(joint[~rare], joint[rare].sum()) * len(names)
        assert ((counts - expected) ** 2 / expected).sum() < 120


@pytest.mark.skipif(UNCOMPILED, reason="long runs")
@pytest.mark.parametrize("members", [4, 16, 20, 64])
def test_no_collapse_without_fields(members):
    """Members stay distinct, and their energies as spread as those of separate chains.

    At random orders every pair of members is a little anticorrelated, which is felt in what is
    quadratic where members are few: 4 of them may spread by sqrt(1 + 1 / 3) more.
    """
    model = hd.ising_grid(np.zeros((16, 16)), 0.1, periodic=True)
    draw, means, alone = SystematicDraw(1, members, kept=False), [], []
    layout, rng = laid_out(model, draw), np.random.default_rng(0)
    for chain in range(300):
        x0 = starts(model, members, rng)
        state = layout.start(draw, x0, chain=chain, tally=False, total=20)
        sweep_layout(layout, state, np.empty((20, 0), np.uint8), draw.step(0, chain))
        x = 2 * layout.values(state).reshape(members, 16, 16) - 1
        assert len({member.tobytes() for member in x}) == members
        energy = (x * np.roll(x, 1, 1) + x * np.roll(x, 1, 2)).mean(axis=(1, 2))
        means.append(energy.mean())
        alone.append(energy)
    assert np.std(means) < 1.35 * np.std(alone) / np.sqrt(members)


def test_orders_of_lanes():
    """Every column has each place once; spare places come last, with empty masks."""
    for members in (1, 9, 16, 23, 64):
        full, last = member_masks(members)
        live = (members - 1) % MEMBERS_PER_WORD + 1
        assert (np.sort(full, axis=0) == (1 << np.arange(MEMBERS_PER_WORD))[:, None]).all()
        assert (np.sort(last[:live], axis=0) == (1 << np.arange(live))[:, None]).all()
        assert not last[live:].any()
        for column in (0, 77, ORDER_COLUMNS - 1):
            expected = [1 << k for k in naive_place_order(column, live)]
            assert last[:live, column].tolist() == expected


def test_lane_bits_equal_to_the_naive_twin_and_avalanche():
    """A change of one bit of the lane's number or of the key changes every bit half of the time."""
    rng = np.random.default_rng(0)
    few = 200
    keys = rng.integers(0, 2**32, (few, 2), np.uint32)
    lanes = rng.integers(0, 2**16, few).astype(np.uint32)
    bits = np.array(
        [naive_lane_bits(int(a), int(b), int(j)) for (a, b), j in zip(keys, lanes, strict=True)]
    )
    with np.errstate(over="ignore"):
        found = [lane_bits(a, b, j) for (a, b), j in zip(keys, lanes, strict=True)]
    np.testing.assert_array_equal(found, bits)
    many = 2000
    a, b = (rng.integers(0, 2**32, many).astype(object) for _ in "ab")
    j = rng.integers(0, 2**16, many).astype(object)
    before = naive_lane_bits(a, b, j)
    flips = [naive_lane_bits(a, b, j ^ 1 << k) for k in range(16)]
    flips += [naive_lane_bits(a ^ 1 << k, b, j) for k in range(32)]
    for after in flips:
        changed = (before ^ after).astype(np.uint32)
        share = ((changed[:, None] >> np.arange(10, 32, dtype=np.uint32)) & 1).mean(axis=0)
        assert (abs(share - 0.5) < 0.1).all()


def test_phases_of_lanes_are_uniform_and_independent():
    """Both phases and what decides about rounding: means, and products with each other, with those
    of neighbours and of the next key.
    """
    lanes = np.arange(4096).astype(object)
    z = np.array([naive_lane_bits(k * 977, 31 * k + 5, lanes) for k in range(16)])
    numbers = (z >> 25) / 2**7, (z >> 18) % 2**7 / 2**7, (z >> 10) % 2**8 / 2**8
    all_u = [u.astype(float) - u.mean() for u in numbers]
    error = 4 / np.sqrt(12 * 12 * z.size)
    for k, u in enumerate(all_u):
        assert abs(float(numbers[k].mean()) - 0.5) < 4 / np.sqrt(12 * z.size) + 2**-8
        other = all_u[k - 1]
        for v in (other, *(np.roll(u, *by) for by in ((1, 1), (2, 1), (1, 0)))):
            assert abs((u * v).mean()) < error


@pytest.mark.parametrize(
    ("model", "members", "reason"),
    [
        (hd.ising_grid(np.zeros((5, 6))), 8, "lanes would idle"),
        (hd.ising_grid(np.zeros((5, 8)), periodic=True), 8, "odd side"),
        (hd.potts_grid(np.zeros((8, 8, 3))), 8, "more than two states"),
        (hd.FactorGraph([2], []), 8, "not a lattice"),
    ],
)
def test_what_it_is_not_for(model, members, reason):
    draw = SystematicDraw(0, members, kept=False)
    refusal = GridHerdLayout.propose(LayoutRequest(model, draw, "auto", None), forced=False)
    assert reason in refusal.reason

"""Kernels of lattices of any dimension: the naive twins' bits, threads and waves, members' laws."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.systematic import SystematicDraw
from herded.layouts.grid_nd import layout as grid_nd_layout
from herded.layouts.grid_nd.herd import GridNDHerdLayout
from herded.layouts.potts.herd import PottsHerdLayout
from herded.layouts.proposal import LayoutRequest, Proposal
from herded.run.recording.count_kernels import VARIABLES_PER_GROUP
from herded.system import threads
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.samplers.grid_nd import naive_cube, naive_cube_herd
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import advance, assert_equal, sweep_layout
from tests.support.strategies import seeds

SIDES = {1: (1, 9), 2: (1, 7), 3: (1, 6), 4: (1, 4), 5: (1, 2)}  # by number of dimensions


@st.composite
def cubes(draw, dimensions=(1, 2, 3, 4, 5)):
    """Lattices of two states with equal couplings, any of the axes periodic, zeros and evidence."""
    dims = draw(st.sampled_from(dimensions))
    rng = np.random.default_rng(draw(seeds))
    sides = [draw(st.integers(*SIDES[dims])) for _ in range(dims)]
    joined = [bool(n > 3 and n % 2 == 0 and draw(st.booleans())) for n in sides]
    coupling = float(rng.normal()) or 1.0
    options = {"coupling": coupling, "periodic": tuple(reversed(joined))}
    if draw(st.booleans()):
        model = hd.ising_grid(rng.normal(size=sides), **options)
    else:
        unary = rng.normal(size=(*sides, 2))
        unary[rng.random(sides) < 0.1, rng.integers(2)] = -np.inf
        model = hd.potts_grid(unary, **options)
    known = np.argwhere(rng.random(sides) < draw(st.sampled_from((0.0, 0.2))))
    possible = np.isneginf(model.log_unary[..., 0]).astype(int)
    return model.given({tuple(map(int, at)): int(possible[tuple(at)]) for at in known})


def laid_out(model, draw, kind=GridNDHerdLayout):
    proposal = kind.propose(LayoutRequest(model, draw, "auto", None), forced=True)
    assert isinstance(proposal, Proposal)
    return proposal.build()


def starts(model, members, rng):
    """States of all members that agree with the evidence and have no forbidden pixel."""
    x = rng.integers(0, 2, (members, model.n_variables))
    forbidden = np.isneginf(model.log_unary).reshape(-1, 2)
    x = np.where(forbidden.any(axis=1), forbidden[:, 0], x)
    return np.where(model.evidence >= 0, model.evidence, x).astype(np.uint8)


def advance_herd(layout, draw, x0, sweeps, chain=0, cuts=(), pool=None):
    """Samples (sweeps, members, N) and the state after them, with sums and counts."""
    state = layout.start(draw, x0, chain=chain, tally=True, total=sweeps)
    state.state_counts = layout.new_counts()
    parts = []
    for a, b in zip([0, *cuts], [*cuts, sweeps], strict=True):
        block = np.full((b - a, layout.sample_size), 0xAB, layout.sample_type)
        sweep_layout(layout, state, block, draw.step(state.sweep, chain), pool=pool)
        parts.append(layout.members_of(block))
    return np.concatenate(parts), state


@pytest.mark.parametrize("weights", [None, "shared"])
@examples(40)
@given(data=st.data())
def test_chains_equal_to_the_naive_twin(weights, data):
    """Those of two dimensions only where one axis is periodic and the other is not."""
    model = data.draw(cubes())
    options = {"phases": data.draw(st.sampled_from(("half", "random")))} if weights else {}
    method = hd.HerdedGibbs(weights, **options) if weights else hd.Gibbs()
    task = LayoutRequest(model, method.draw, "auto", None)
    layout = grid_nd_layout.GridNDLayout.propose(task, forced=True).build()
    x0 = starts(model, 1, np.random.default_rng(0))[0]
    expected = naive_cube(model, weights=weights, **options, x0=x0, sweeps=5)
    assert_equal(advance(method, layout, x0, 5, cuts=(2,)), expected)


@examples(40)
@given(cubes(), st.integers(1, 40), st.booleans(), st.integers(0, 1), seeds)
def test_herds_equal_to_the_naive_twin(model, members, kept, chain, seed):
    sweeps = 1 if UNCOMPILED else 3
    draw = SystematicDraw(seed, members, kept)
    layout = laid_out(model, draw)
    x0 = starts(model, members, np.random.default_rng(seed))
    samples, state = advance_herd(layout, draw, x0, sweeps, chain, () if UNCOMPILED else (1,))
    expected, tally, phases = naive_cube_herd(
        model, members=members, kept=kept, seed=seed, chain=chain, x0=x0, sweeps=sweeps
    )
    np.testing.assert_array_equal(samples, expected)
    np.testing.assert_array_equal(layout.unstore(state.conditional_sums), tally)
    np.testing.assert_array_equal(layout.unstore(state.state_counts), expected.sum(axis=(0, 1)))
    np.testing.assert_array_equal(layout.values(state), expected[-1])
    if kept:
        _, strips, cells, _, lanes = state.method_arrays["phases"].shape
        left = state.method_arrays["phases"].swapaxes(2, 3).reshape(2, strips, 2, cells * lanes)
        places = left[..., : layout.frame.places].transpose(2, 0, 1, 3).reshape(2, -1)
        np.testing.assert_array_equal(layout.unstore(places).T, phases)


@pytest.mark.skipif(UNCOMPILED, reason="many strips take minutes in Python")
@pytest.mark.parametrize("joined", [(True, False, True), (False, True, False)])
def test_threads_cuts_and_waves_change_no_bit(joined, monkeypatch, waves_within):
    """Also where strips have one layer, two, and a last one fewer."""
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 1)
    rng = np.random.default_rng(3)
    for shape in ((22, 24, 40), (52, 8, 64), (26, 10, 30)):
        model = hd.ising_grid(rng.normal(size=shape), 0.3, periodic=joined)
        draw, gibbs = SystematicDraw(2, 20, kept=False), hd.Gibbs(seed=1)
        herd, single = laid_out(model, draw), gibbs.compile(model)
        assert herd.n_parallel_parts == single.n_parallel_parts > 4 and single.kind == "grid"
        x0 = starts(model, 20, rng)
        waves_within(1)  # one half-sweep after the other
        expected, state = advance_herd(herd, draw, x0, 5)
        alone = advance(gibbs, single, x0[0], 5)
        for count, near, cuts in ((1, 2**18, ()), (2, 2**16, (1, 4)), (5, 2**30, (3,))):
            waves_within(near)
            with ThreadPoolExecutor(count) as pool:
                samples, other = advance_herd(herd, draw, x0, 5, cuts=cuts, pool=pool)
                assert_equal(advance(gibbs, single, x0[0], 5, pool=pool), alone[:2])
            np.testing.assert_array_equal(samples, expected)
            np.testing.assert_array_equal(other.x, state.x)
            np.testing.assert_array_equal(other.conditional_sums, state.conditional_sums)


@pytest.mark.skipif(UNCOMPILED, reason="long runs")
@pytest.mark.parametrize("members", [3, 20])
def test_members_have_the_joint_distribution(members):
    """Pearson's statistic of one member, thinned, rare states as one: far beyond 1 in 10^4."""
    rng = np.random.default_rng(8)
    model = hd.ising_grid(0.5 * rng.normal(size=(2, 2, 2)), 0.3)
    draw = SystematicDraw(11, members, kept=False)
    samples, _ = advance_herd(laid_out(model, draw), draw, starts(model, members, rng), 40_000)
    joint = naive_joint(model).reshape(-1)
    for member in (0, members - 1):
        names = samples[100::10, member] @ (1 << np.arange(7, -1, -1))
        counts = np.bincount(names, minlength=256)
        rare = joint * len(names) < 5
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(joint[~rare], joint[rare].sum()) * len(names)
        assert ((counts - expected) ** 2 / expected).sum() < len(counts) + 5 * np.sqrt(
            2 * len(counts)
        )


@pytest.mark.skipif(UNCOMPILED, reason="long runs")
def test_no_collapse_without_fields():
    """Members stay distinct, and the herd's energy spreads no more than that of separate chains."""
    model = hd.ising_grid(np.zeros((8, 8, 8)), 0.1, periodic=True)
    draw, means, alone = SystematicDraw(1, 16, kept=False), [], []
    layout, rng = laid_out(model, draw), np.random.default_rng(0)
    for chain in range(300):
        state = layout.start(draw, starts(model, 16, rng), chain=chain, tally=False, total=10)
        sweep_layout(layout, state, np.empty((10, 0), np.uint8), draw.step(0, chain))
        x = 2 * layout.values(state).reshape(16, 8, 8, 8) - 1
        assert len({member.tobytes() for member in x}) == 16
        energy = sum((x * np.roll(x, 1, axis)).mean(axis=(1, 2, 3)) for axis in (1, 2, 3))
        means.append(energy.mean())
        alone.append(energy)
    assert np.std(means) < 1.15 * np.std(alone) / np.sqrt(16)


@pytest.mark.skipif(UNCOMPILED, reason="long runs")
def test_energy_of_the_high_temperature_series():
    """-d log Z / dK per spin, log Z = log(2 cosh(K)^3) + 3 v^4 + 22 v^6 + ..., v = tanh(K).

    Further terms, and loops around a cube of eight, are a tenth of a standard error; without loops
    the energy would be off by twenty.
    """
    model = hd.ising_grid(np.zeros((8, 8, 8)), 0.1, periodic=True)
    options = {"sweeps": 200, "burn_in": 20, "chains": 8, "keep": [hd.Samples(every=2)]}
    x = 2 * hd.infer(model, hd.Gibbs(herd=64, seed=1), **options).samples.astype(np.int8) - 1
    x = x.reshape(8, -1, 8, 8, 8)
    bonds = sum((x * np.roll(x, 1, axis)).mean(axis=(1, 2, 3, 4)) for axis in (2, 3, 4))
    v = np.tanh(0.1)
    expected = 3 * v + (1 - v * v) * (12 * v**3 + 132 * v**5 + 1500 * v**7)
    assert (
        abs(bonds.mean() - expected) < 4 * bonds.std(ddof=1) / np.sqrt(8) < 0.3 * (expected - 3 * v)
    )


def test_counts_are_those_of_samples():
    """Large lattices count states as they sweep, small ones keep samples: the same marginals."""
    model = hd.ising_grid(np.zeros((24, 24, 24)), 0.2, periodic=True)
    assert model.n_variables > VARIABLES_PER_GROUP
    options = {"sweeps": 20, "progress": False}
    counted = hd.infer(model, hd.Gibbs(), keep=[hd.Marginals(rao_blackwell=False)], **options)
    kept = hd.infer(model, hd.Gibbs(), keep=[hd.Samples()], **options)
    np.testing.assert_allclose(counted.marginals[..., 1].ravel(), kept.samples[0].mean(axis=0))


@pytest.mark.parametrize("states", [2, 3])
def test_samples_further_apart_than_blocks(states):
    """A block may have no sample that is kept."""
    model = hd.potts_grid(np.zeros((8, 8, 8, states)), 0.2)
    for method in (hd.Gibbs(), hd.Gibbs(herd=4)):
        result = hd.infer(model, method, sweeps=90, burn_in=7, keep=[hd.Samples(every=40)])
        assert result.samples.shape == (method.herd, 2, 512)


def test_which_layout():
    """Equal couplings and two colours go to the kernels of lattices, others to graphs."""
    cube24 = hd.ising_grid(np.zeros((8, 8, 8)), 0.2, periodic=True)
    assert hd.Gibbs().compile(cube24).kind == "grid"
    assert isinstance(hd.Gibbs(herd=8).compile(cube24), GridNDHerdLayout)
    cylinder = hd.ising_grid(np.zeros((20, 20)), 0.2, periodic=(True, False))
    assert hd.Gibbs().compile(cylinder).kind == "grid"
    odd = hd.ising_grid(np.zeros((7, 8, 8)), 0.2, periodic=True)
    axes = hd.ising_grid(np.zeros((8, 8, 8)), (0.2, 0.2, 0.1))
    potts = hd.potts_grid(np.zeros((8, 8, 8, 3)), 0.2)
    assert isinstance(hd.Gibbs(herd=8).compile(potts), PottsHerdLayout)
    other = hd.potts_grid(np.zeros((4, 4, 4, 3)), (0.2, 0.2, 0.1))
    assert isinstance(hd.Gibbs(herd=8).compile(other), PottsHerdLayout)
    many = hd.ising_grid(np.zeros((2,) * 8), 0.2)
    for model in (odd, axes, many):
        for method in (hd.Gibbs(), hd.Gibbs(herd=8)):
            assert method.compile(model).kind != "grid"
            with pytest.raises(hd.HerdedError, match="expected a model for the grid layout"):
                method.compile(model, kind="grid")

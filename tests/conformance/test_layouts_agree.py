"""One run, many ways: layouts, waves, blocks and threads change no bit."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import herded as hd
from herded.layouts.general.context_weights import WEIGHT_MODES
from herded.models.constraints.start_states import start_state
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.plain_model import Naive
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import RULES, advance, assert_equal, runs
from tests.support.strategies import lattices

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.mark.parametrize("weights", ["blanket", "pooled", "lazy", "full"])
@examples(25)
@given(data=st.data())
def test_tables_and_factors_agree(weights, data):
    """The same bits whether conditionals are tabulated or summed (weights that start half way)."""
    rule = data.draw(st.sampled_from(tuple(RULES)))
    run = data.draw(runs(rule))
    model, x0 = run["model"], run["x0"]
    options = {name: run[name] for name in ("slack", "scan", "seed")} | {"phases": "half"}
    other = "lazy" if weights == "blanket" else weights
    table, factor = hd.HerdedGibbs(weights, **options), hd.HerdedGibbs(other, **options)
    found = advance(table, table.compile(model, kind="table"), x0, 30)
    assert_equal(advance(factor, factor.compile(model, kind="factor"), x0, 30), found)


@pytest.mark.parametrize("weights", ["blanket", "shared"])
@examples(60)
@given(data=st.data())
def test_lattice_layout_is_the_checkerboard_scan(weights, data):
    """On one grid, from half way on, the lattice layout and the table layout give the same bits.

    With "shared" only where the tables merge the contexts that the lattice counts together: five
    counts, all of different probability, so with a coupling that is not 0 and no saturation.
    """
    shared = weights == "shared"
    model = data.draw(lattices(evidence=False, uniform=shared))
    method = hd.HerdedGibbs(weights, scan="checkerboard", phases="half")
    x0 = start_state(model, stream_key(0, 0, 3))
    packed, table = method.compile(model, kind="grid"), method.compile(model, kind="table")
    if shared:
        assume(_counts_are_conditionals(model))
    found = advance(method, packed, x0, 20)
    assert_equal(advance(method, table, x0, 20), found)


def _counts_are_conditionals(model):
    """Whether two contexts of a site have one conditional just when they have one count."""
    plain = Naive(model, vector=False)
    for i in plain.free:
        seen = {}
        for around in np.ndindex(*(2 for _ in plain.neighbours[i])):
            x = dict(zip(plain.neighbours[i], around, strict=True))
            seen.setdefault(plain.conditional(i, x), set()).add(sum(around))
        counts = [c for group in seen.values() for c in group]
        if len(counts) != len(set(counts)) or any(len(group) > 1 for group in seen.values()):
            return False
    return True


@pytest.mark.parametrize("weights", ["blanket", "shared", None])
@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 9), (9, 1), (2, 2), (5, 5), (3, 1030), (300, 5), (40, 61)]
)
def test_waves_equal_one_sweep_at_a_time(shape, weights):
    """A wave of many sweeps over several strips: the bits of one sweep after another."""
    if UNCOMPILED and shape != (5, 5):
        pytest.skip("other shapes are compared with the naive twin")
    rng = np.random.default_rng(3)
    model = hd.ising_grid(rng.normal(size=shape), 0.5)
    method = hd.Gibbs() if weights is None else hd.HerdedGibbs(weights)
    x0, layout = rng.integers(0, 2, shape[0] * shape[1]), method.compile(model)
    sweeps = 12 if UNCOMPILED else 37
    together = advance(method, layout, x0, sweeps)
    assert_equal(advance(method, layout, x0, sweeps, cuts=range(1, sweeps)), together)
    assert_equal(advance(method, layout, x0, sweeps, cuts=[5, 5, sweeps - 4]), together)


SAMPLERS = [
    *(hd.HerdedGibbs(w, scan=scan) for w in WEIGHT_MODES for scan in ("auto", "random", "jacobi")),
    *(hd.HerdedGibbs(w, 0.7, "random", "random") for w in WEIGHT_MODES),
    *(hd.Gibbs(scan=scan) for scan in ("auto", "random", "jacobi")),
    *(hd.Gibbs(scan=scan, schedule="linear") for scan in ("auto", "random", "jacobi")),
    *(hd.HerdedGibbs(scan=scan, schedule="linear") for scan in ("auto", "random", "jacobi")),
]


@pytest.mark.parametrize("states", [2, 3])
def test_blocks_do_not_matter(states):
    """One call of 150 sweeps, calls of one sweep, and something between: every sampler."""
    rng = np.random.default_rng(7)
    unary = rng.normal(size=(7, states))
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)]  # three components
    model = hd.pairwise_model(unary, edges, rng.normal(size=(5, states, states)))
    x0, sweeps = np.zeros(7, int), 20 if UNCOMPILED else 150
    for method in SAMPLERS:
        layout = method.compile(model)
        together = advance(method, layout, x0, sweeps)
        assert_equal(advance(method, layout, x0, sweeps, cuts=range(1, sweeps)), together)
        assert_equal(advance(method, layout, x0, sweeps, cuts=[0, 3, sweeps // 2]), together)


@pytest.mark.skipif(UNCOMPILED, reason="a million updates")
@pytest.mark.parametrize("scan", ["auto", "random", "jacobi"])
def test_threads_do_not_matter(scan):
    """Components on two threads: the bits of one thread, whatever runs them."""
    rng = np.random.default_rng(9)
    n, sweeps = 600, 500  # so many updates are worth two threads
    edges = [(i, i + 1) for i in range(n - 1) if i % 3 != 2]  # 200 chains of three
    model = hd.pairwise_model(rng.normal(size=(n, 2)), edges, rng.normal(size=(len(edges), 2, 2)))
    methods = [hd.HerdedGibbs(w, scan=scan) for w in WEIGHT_MODES]
    for method in [*methods, hd.HerdedGibbs("pooled", 1.0, scan), hd.Gibbs(scan=scan)]:
        keep = [hd.Samples(every=10), hd.Marginals(rao_blackwell=True)]
        one, two = (
            hd.infer(model, method, sweeps=sweeps, keep=keep, threads=threads) for threads in (1, 2)
        )
        np.testing.assert_array_equal(one.samples, two.samples)
        np.testing.assert_array_equal(one.marginals, two.marginals)


@pytest.mark.parametrize("schedule", [None, "linear"])
@pytest.mark.parametrize("method", [hd.Gibbs, hd.HerdedGibbs])
def test_random_scans_are_seeded(method, schedule):
    """Another seed, another order: two variables that copy each other show who went first."""
    model = hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], [[99.0, 0.0], [0.0, 99.0]])
    ends = set()
    for seed in range(10):
        one = method(seed=seed, scan="random", schedule=schedule)
        sample, *_ = advance(one, one.compile(model), np.array([0, 1]), 1)
        ends.add(tuple(sample[0].tolist()))
    assert ends == {(0, 0), (1, 1)}

"""Lattice kernels: periodic grids, threads and waves."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.layouts.packing import wavefront
from herded.run import sampler_run
from herded.run.recording.count_kernels import VARIABLES_PER_GROUP, count_ones_in_samples
from herded.system import threads
from tests.conformance.twins.samplers.grid import naive_lattice
from tests.support.example_budget import ALL, examples
from tests.support.kernel_runs import advance, assert_equal
from tests.support.strategies import seeds

WEIGHTS = ["blanket", "shared", None]


def method_of(weights, **options):
    return hd.Gibbs() if weights is None else hd.HerdedGibbs(weights=weights, **options)


@st.composite
def periodic_lattices(draw, equal, evidence=(0.0, 0.2)):
    """Even binary grids whose borders meet, with zeros and evidence."""
    h, w = 2 * draw(st.integers(2, 4)), 2 * draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(seeds))
    pair = (0.5 * rng.normal(size=(h, w)), 0.5 * rng.normal(size=(h, w)))
    coupling = rng.normal() if equal else pair
    if draw(st.booleans()):
        model = hd.ising_grid(rng.normal(size=(h, w)), coupling, periodic=True)
    else:
        unary = rng.normal(size=(h, w, 2))
        unary[rng.random((h, w)) < 0.1, 1] = -np.inf
        model = hd.potts_grid(unary, coupling, periodic=True)
    pixels = np.argwhere(rng.random((h, w)) < draw(st.sampled_from(evidence)))
    return model.given({(int(r), int(c)): 0 for r, c in pixels})


@pytest.mark.parametrize("weights", WEIGHTS)
@examples(25)
@given(data=st.data())
def test_periodic_lattice_equal_to_the_naive_twin(weights, data):
    equal = weights == "shared" or data.draw(st.booleans())
    model = data.draw(periodic_lattices(equal))
    options = {}
    if weights is not None:
        options["phases"] = data.draw(st.sampled_from(("half", "random")))
    method = method_of(weights, **options)
    layout = method.compile(model)
    assert layout.kind == "grid"
    x0 = np.maximum(model.evidence, 0)
    expected = naive_lattice(model, weights=weights, **options, x0=x0, sweeps=9)
    assert_equal(advance(method, layout, x0, 9, cuts=(4,)), expected)


@examples(25)
@given(data=st.data())
def test_periodic_lattice_layout_is_the_checkerboard_scan(data):
    """From half way on, the bits of the table layout: conditionals are sums in the same order."""
    model = data.draw(periodic_lattices(equal=data.draw(st.booleans()), evidence=(0.0,)))
    method = hd.HerdedGibbs(scan="checkerboard", phases="half")
    x0 = np.maximum(model.evidence, 0)
    packed, table = method.compile(model, kind="grid"), method.compile(model, kind="table")
    assert_equal(advance(method, packed, x0, 12), advance(method, table, x0, 12))


@pytest.mark.parametrize("shape", [(5, 6), (6, 5)])
def test_an_odd_ring_has_no_two_colours(shape):
    model = hd.ising_grid(np.zeros(shape), 0.3, periodic=True)
    assert hd.HerdedGibbs().compile(model).kind == "table"
    with pytest.raises(hd.HerdedError, match="odd side"):
        hd.HerdedGibbs().compile(model, kind="grid")


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("shape", "periodic"), [((24, 520), True), ((1400, 8), False)])
def test_bits_do_not_depend_on_threads(shape, periodic, weights, monkeypatch, waves_within):
    """Nor on the length of waves: many strips, one to five threads, short and long waves."""
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 1)
    rng = np.random.default_rng(3)
    model = hd.ising_grid(rng.normal(size=shape), 0.4, periodic=periodic)
    options = {} if weights is None else {"phases": "random"}
    method = method_of(weights, **options)
    layout = method.compile(model)
    assert layout.arrays.p.shape[1] > 10
    x0 = rng.integers(0, 2, model.n_variables)
    if weights == "shared" or ALL:
        expected = naive_lattice(model, weights=weights, **options, x0=x0, sweeps=2)
    else:  # the twins of others are in test_kernels.py
        expected = advance(method, layout, x0, 2)
    for count, near in ((1, 2**14), (1, 2**30), (2, 2**18), (5, 2**14), (5, 2**30)):
        waves_within(near)
        with ThreadPoolExecutor(count) as pool:
            assert_equal(advance(method, layout, x0, 2, pool=pool), expected)


def test_waves_are_as_long_as_a_cache_holds():
    """Strips of both colours beside each other: here of 10 KiB, 256 KiB, 1 MiB and 1 GiB."""
    sizes = 10 * 2**10, 2**18, 2**20, 2**30
    assert [wavefront.wave_length(100 * size, 100) for size in sizes] == [64, 16, 8, 1]


@examples(200)
@given(
    strips=st.integers(1, 40),
    halves=st.integers(1, 12),
    length=st.integers(1, 15),
    periodic=st.booleans(),
    count=st.integers(1, 9),
)
def test_schedules_respect_what_strips_need(strips, halves, length, periodic, count):
    """Every strip once in every half-sweep, after its neighbours' last and before their next.

    Jobs of one phase run at once: what a job looks at must do whether another that changes it has
    not yet begun or is through.
    """
    done = np.zeros(strips, int)  # half-sweeps behind each strip
    for jobs in wavefront.wave_schedule(strips, halves, length, periodic, count):
        visits = [list(_visits(job, strips)) for job in jobs]
        owner = {strip: number for number, job in enumerate(visits) for _, strip in job}
        before, after = done.copy(), done.copy()
        np.add.at(after, [strip for job in visits for _, strip in job], 1)
        for number, job in enumerate(visits):
            for half, strip in job:
                assert owner[strip] == number and done[strip] == half
                beside = [strip - 1, strip + 1]
                beside = [s % strips for s in beside if periodic or 0 <= s < strips]
                for other in (s for s in beside if s != strip):
                    mine = owner.get(other) == number
                    seen = {done[other]} if mine else {before[other], after[other]}
                    assert seen <= {half, half + 1}
                done[strip] += 1
    assert (done == halves).all()


def _visits(regions, strips):
    """(half-sweep, strip) in the order in which the kernel sweeps regions."""
    for begin, end, first, last, first_slope, last_slope in regions.tolist():
        for front in range(first, last + 2 * (end - begin) + strips):
            for k in range(end - begin):
                if first + first_slope * k <= front - k < last + last_slope * k:
                    yield begin + k, (front - k) % strips


@examples(60)
@given(n=st.integers(1, 20_000), sweeps=st.sampled_from((1, 3, 255, 256, 300)), seed=seeds)
def test_counts_of_ones_equal_plain_sums(n, sweeps, seed):
    """Counted in bytes: also where more samples than a byte can count are 1."""
    rng = np.random.default_rng(seed)
    block = (rng.random((sweeps, n)) < rng.choice([0.5, 1.0])).astype(np.uint8)
    counts = rng.integers(0, 2**40, n)
    expected = counts + block.sum(axis=0)
    cut = rng.integers(0, n // VARIABLES_PER_GROUP + 2)
    count_ones_in_samples(block, counts, cut, n // VARIABLES_PER_GROUP + 1)
    count_ones_in_samples(block, counts, 0, cut)
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("keep", [None, [hd.Marginals(rao_blackwell=True)]])
@pytest.mark.parametrize("periodic", [False, True])
def test_infer_on_a_lattice_has_the_same_bits_on_all_threads(periodic, keep, monkeypatch):
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 1)
    monkeypatch.setattr(sampler_run, "MIN_UPDATES_FOR_THREADS", 1)
    model = hd.ising_grid(np.random.default_rng(4).normal(size=(40, 700)), 0.3, periodic=periodic)
    runs = [
        hd.infer(model, hd.HerdedGibbs(), sweeps=40, burn_in=3, keep=keep, threads=n)
        for n in (1, 2, 3)
    ]
    for other in runs[1:]:
        np.testing.assert_array_equal(runs[0].marginals, other.marginals)

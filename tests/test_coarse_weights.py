"""Weights of 16 bits: what is certain stays so, what is possible stays possible, errors are small.

That the kernels equal their naive twins is in test_kernels.py and test_lattice.py.
"""

import numpy as np
import pytest
from compiled import advance
from hypothesis import given, settings
from hypothesis import strategies as st

import herded as hd
from herded.draws.fixed_point import coarse_scalar
from herded.run.memory import run_memory

ONE = 2**31


@settings(deadline=None)
@given(st.integers(1, ONE - 1))
def test_what_is_possible_stays_possible(p):
    """Rounded to the nearest step, but never to 0 or 1."""
    coarse = int(coarse_scalar(np.uint32(p)))
    assert 1 <= coarse <= 2**15 - 1
    assert abs(coarse * 2**16 - p) <= (2**15 if 2**15 <= p < ONE - 2**15 else 2**16)


def test_what_is_certain_stays_certain():
    assert coarse_scalar(np.uint32(0)) == 0
    assert coarse_scalar(np.uint32(ONE)) == 2**15
    unary = np.zeros((4, 6, 2))
    unary[1, 2, 0] = unary[3, 3, 1] = -np.inf
    model = hd.potts_grid(unary, 0.7).given({(0, 0): 1})
    result = hd.infer(model, hd.HerdedGibbs(bits=16), sweeps=70_000, keep=[hd.Marginals()])
    for place, state in {(1, 2): 1, (3, 3): 0, (0, 0): 1}.items():
        assert result.marginals[place][state] == 1.0


@pytest.mark.parametrize("weights", ["blanket", "shared"])
def test_counts_stay_within_one_of_the_sums_of_conditionals(weights):
    """Lemma 1, at scale 2^15: for every site, on all its contexts together."""
    model = hd.ising_grid(np.random.default_rng(0).normal(size=(5, 8)), 0.4)
    method = hd.HerdedGibbs(weights=weights, phases="random", bits=16)
    samples, tally, *_ = advance(method, method.compile(model), np.zeros(40, int), 5000)
    contexts = 5 if weights == "shared" else 16
    assert (np.abs(samples.sum(axis=0) - tally[:, 0] / ONE) <= contexts).all()


@pytest.mark.parametrize("weights", ["blanket", "shared"])
def test_joint_of_a_small_lattice(weights):
    """As near as with 32 bits: the joint's distance is the sampler's, not the rounding's."""
    field = np.random.default_rng(1).normal(size=(4, 4))
    model = hd.ising_grid(0.5 * field, 0.25)
    joint = hd.infer(model, hd.Exact()).joint.reshape(-1)
    distance = {}
    for bits in (16, 32):
        method = hd.HerdedGibbs(weights=weights, phases="random", bits=bits)
        layout = method.compile(model, kind="grid")
        samples, *_ = advance(method, layout, np.zeros(16, int), 200_000)
        numbers = samples @ (1 << np.arange(15, -1, -1))
        found = np.bincount(numbers, minlength=2**16) / len(samples)
        distance[bits] = 0.5 * np.abs(found - joint).sum()
    gibbs = hd.Gibbs(seed=2)
    samples, *_ = advance(gibbs, gibbs.compile(model, kind="grid"), np.zeros(16, int), 200_000)
    found = np.bincount(samples @ (1 << np.arange(15, -1, -1)), minlength=2**16) / len(samples)
    assert distance[16] < 0.5 * np.abs(found - joint).sum()
    assert abs(distance[16] - distance[32]) < 0.1 * distance[32]


def test_half_the_memory():
    model = hd.ising_grid(np.zeros((300, 400)), 0.3)
    layouts = {bits: hd.HerdedGibbs("shared", bits=bits).compile(model) for bits in (16, 32)}
    assert layouts[16].memory == layouts[32].memory / 2
    assert layouts[16].arrays.p.nbytes == layouts[32].arrays.p.nbytes / 2
    estimates = {b: run_memory(model, hd.HerdedGibbs("shared", bits=b)) for b in (16, 32)}
    assert estimates[32] - estimates[16] == layouts[32].memory / 2


def test_a_run_goes_on_with_the_same_bits(tmp_path):
    model = hd.ising_grid(np.random.default_rng(3).normal(size=(20, 30)), 0.3)
    method = hd.HerdedGibbs("shared", bits=16, phases="random")
    options = {"keep": [hd.Marginals(rao_blackwell=True)], "checkpoint": tmp_path / "run.ckpt"}
    hd.infer(model, method, sweeps=30, **options)
    resumed = hd.infer(model, method, sweeps=70, **options)
    whole = hd.infer(model, method, sweeps=70, keep=options["keep"])
    np.testing.assert_array_equal(resumed.marginals, whole.marginals)
    with pytest.raises(hd.HerdedError, match="expected"):
        hd.infer(model, hd.HerdedGibbs("shared", phases="random"), sweeps=90, **options)


@pytest.mark.parametrize("bits", [0, 8, 31, 64, 16.0, True, "16", None])
def test_other_numbers_of_bits_are_refused(bits):
    with pytest.raises(hd.MethodError, match="expected weights of 16 or 32 bits, got bits="):
        hd.HerdedGibbs(bits=bits)


LATTICE = hd.ising_grid(np.zeros((4, 4)), 0.3)


@pytest.mark.parametrize(
    ("model", "options", "kind", "reason"),
    [
        (hd.FactorGraph([2], [((0,), [0.0, 1.0])]), {}, None, "the model is not a lattice"),
        (hd.potts_grid(np.zeros((3, 3, 3)), 0.3), {"weights": "pooled"}, None, "this one has 3"),
        (LATTICE, {"weights": "pooled"}, None, "not for lattices of two states"),
        (LATTICE, {"slack": 1.0}, None, "slack needs weight vectors"),
        (LATTICE, {"scan": "sequential"}, None, "the scan is 'sequential', not the checkerboard"),
        (LATTICE, {}, "table", "layout='table' was asked for"),
    ],
)
def test_models_that_they_are_not_for(model, options, kind, reason):
    method = hd.HerdedGibbs(**options, bits=16)
    with pytest.raises(
        hd.MethodError, match=f"expected a lattice of two states, .*{reason}.*bits=32"
    ):
        method.compile(model, kind=kind)


def test_a_layout_is_for_one_number_of_bits():
    layout = hd.HerdedGibbs("shared", bits=16).compile(LATTICE)
    hd.infer(LATTICE, hd.HerdedGibbs("shared", bits=16, seed=3), sweeps=5, layout=layout)
    with pytest.raises(hd.MethodError, match="expected a layout from compile"):
        hd.infer(LATTICE, hd.HerdedGibbs("shared"), sweeps=5, layout=layout)

"""Two-state lattices count their states as they sweep: what samples would give, to the last bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import herded as hd
from herded.run import sampler_run
from herded.run.query import KeepOptions
from tests.support.example_budget import examples
from tests.support.strategies import seeds

METHODS = [
    hd.Gibbs(seed=3),
    hd.HerdedGibbs("shared"),
    hd.HerdedGibbs("blanket", phases="random"),
]


def counted(result):
    """What its chains counted: the marginals as they must be, from its samples."""
    ones = result.samples.mean(axis=(0, 1))
    return np.stack([1.0 - ones, ones], axis=-1).reshape(*result.marginals.shape)


@pytest.fixture
def short_blocks(monkeypatch):
    """As if every lattice were large: states are counted."""
    monkeypatch.setattr(sampler_run, "BLOCK_ENTRIES", 2**8)


@examples(20, HealthCheck.function_scoped_fixture)
@given(data=st.data(), seed=seeds)
def test_marginals_are_those_of_the_samples(short_blocks, data, seed):
    rng = np.random.default_rng(seed)
    h, w = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 140))
    model = hd.ising_grid(rng.normal(size=(h, w)), 0.4)
    method = data.draw(st.sampled_from(METHODS))
    asked = {
        "sweeps": data.draw(st.integers(1, 600)),
        "burn_in": data.draw(st.sampled_from((0, 1, 300))),
        "chains": data.draw(st.integers(1, 2)),
    }
    alone = hd.infer(model, method, keep=[hd.Marginals()], **asked)
    beside = hd.infer(model, method, keep=[hd.Marginals(), hd.Samples()], **asked)
    np.testing.assert_array_equal(alone.marginals, beside.marginals)
    np.testing.assert_allclose(alone.marginals, counted(beside), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_threads_and_workers_count_the_same(method):
    field = np.random.default_rng(0).normal(size=(256, 300))
    model, asked = hd.ising_grid(field, 0.3), {"sweeps": 40, "burn_in": 5}
    one = hd.infer(model, method, threads=1, **asked)
    two = hd.infer(model, method, threads=2, **asked)
    np.testing.assert_array_equal(one.marginals, two.marginals)
    with ThreadPoolExecutor(2) as pool:
        sent = hd.infer(model, method, chains=2, executor=pool, **asked)
    here = hd.infer(model, method, chains=2, **asked)
    np.testing.assert_array_equal(sent.marginals, here.marginals)


def test_a_run_in_parts_counts_the_same(short_blocks, tmp_path):
    field = np.random.default_rng(1).normal(size=(6, 7))
    model, method = hd.ising_grid(field, 0.4), hd.HerdedGibbs()
    whole = hd.infer(model, method, sweeps=700)
    for sweeps in (300, 301, 700):
        part = hd.infer(model, method, sweeps=sweeps, checkpoint=tmp_path / "run.npz")
    np.testing.assert_array_equal(part.marginals, whole.marginals)


def test_error_curves_count_the_same(short_blocks):
    field = np.random.default_rng(2).normal(size=(4, 5))
    model, method = hd.ising_grid(field, 0.4), hd.HerdedGibbs()
    exact = hd.infer(model, hd.Exact()).marginals
    curve = hd.ErrorCurve(exact, at=[1, 7, 256, 500])
    alone = hd.infer(model, method, sweeps=500, keep=[curve])
    beside = hd.infer(model, method, sweeps=500, keep=[curve, hd.Samples()])
    np.testing.assert_array_equal(alone.curve.errors, beside.curve.errors)
    assert len(alone.curve.errors[0]) == 4


def test_samples_that_nobody_reads_are_not_kept():
    """Of small lattices they are: bytes could not count their long blocks."""
    alone = KeepOptions(marginals=hd.Marginals())
    beside = KeepOptions(marginals=hd.Marginals(), best_state=hd.BestState())
    large = hd.HerdedGibbs().compile(hd.ising_grid(np.zeros((70, 70)), 0.4))
    assert sampler_run.make_blocks(large, alone, 1, 10).shape == (1, 10, 0)
    assert sampler_run.make_blocks(large, beside, 1, 10).shape == (1, 10, large.n_stored)
    assert sampler_run.make_blocks(large, alone, 1, 1000).shape[1] <= 255
    small = hd.HerdedGibbs().compile(hd.ising_grid(np.zeros((8, 8)), 0.4))
    assert sampler_run.make_blocks(small, alone, 1, 1000).shape == (1, 1000, small.n_stored)

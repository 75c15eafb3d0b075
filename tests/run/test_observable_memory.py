"""Observables within `max_memory=`: from their first call to what is computed of their series."""

import tracemalloc

import numpy as np
import pytest

import herded as hd
from herded.run import execute
from herded.run.diagnostics import run_length
from herded.run.observables.result import Observed
from herded.system import memory_limits

GRID = hd.ising_grid(np.full((16, 16), 0.1), 0.3)


SMALL = hd.ising_grid(np.full((4, 4), 0.1), 0.3)
RNG = np.random.default_rng(0)


def energy(states):
    return 1.0 * states.reshape(len(states), -1).sum(axis=1)


def vector(states):
    return 1.0 * states.reshape(len(states), -1)[:, :10]


def outer(states):
    """Many numbers of each member, of a type of their own."""
    flat = states.reshape(len(states), -1).astype(np.int8)
    return flat[:, :, None] * flat[:, None, :]


def peak_of(work):
    """Bytes that Python and NumPy had at most beyond what they had before, and what it gave."""
    work()  # kernels are compiled, and models prepared
    tracemalloc.start()
    try:
        found = work()
        return tracemalloc.get_traced_memory()[1], found
    finally:
        tracemalloc.stop()


def test_the_first_call_gets_two_members():
    seen = []

    def watched(states):
        seen.append(len(states))
        return states[:, 0, 0]

    for method, first in ((hd.Gibbs(herd=128), 2), (hd.Gibbs(), 1)):
        seen.clear()
        hd.infer(GRID, method, sweeps=3, keep=[hd.Observable(watched)])
        assert seen[0] == first


def test_a_function_that_gives_much_is_refused_after_its_first_call(monkeypatch):
    monkeypatch.setattr(execute, "run_until_done", None)  # not called
    seen = []

    def watched(states):
        seen.append(len(states))
        return outer(states)

    with pytest.raises(hd.MemoryLimitError, match="expected a run of at most"):
        hd.infer(
            GRID, hd.Gibbs(herd=256), sweeps=3, keep=[hd.Observable(watched)], max_memory="30M"
        )
    assert seen == [2]


@pytest.mark.parametrize("series", [False, True])
@pytest.mark.parametrize("members", [1, 100])
def test_the_estimate_covers_calls_that_give_much(members, series):
    keep = [hd.Observable(outer, series=series), hd.Observable(hd.energy)]
    options = {"sweeps": 3, "keep": keep, "progress": False, "max_memory": "300M"}
    peak, result = peak_of(lambda: hd.infer(GRID, hd.Gibbs(herd=members), **options))
    estimate = result.provenance["memory_at_most"]
    assert peak < estimate <= 300 * 2**20


SHAPES = {"chains": (4, 200_000), "a herd": (512, 2000), "vectors": (4, 10_000, 10)}


@pytest.mark.parametrize("name", SHAPES)
def test_a_series_is_judged_without_a_copy_of_it(name):
    values = RNG.normal(size=SHAPES[name][1::-1] + SHAPES[name][2:]).swapaxes(0, 1)
    one = Observed("one", 1, values.mean(axis=1), 1, values=values)
    peak, found = peak_of(lambda: list(run_length._observable_series({"one": one})))
    assert len(found) == 1 and found[0].noise is not None
    assert peak < values.nbytes / 5
    rows, draws = values.shape[:2]
    assert peak < run_length.bytes_of_bins(draws, rows, values[0, 0].size) + 2**15


@pytest.mark.parametrize("f", [energy, vector])
@pytest.mark.parametrize("members", [1, 64])
def test_the_estimate_covers_the_judgement_of_series(f, members):
    options = {"sweeps": 60_000 // members, "chains": 4, "keep": [hd.Observable(f)]}
    run = lambda: hd.infer(SMALL, hd.Gibbs(herd=members), progress=False, **options)  # noqa: E731
    peak, result = peak_of(run)
    assert peak < result.provenance["memory_at_most"] + memory_limits.ALWAYS_ALLOWED_BYTES


@pytest.mark.parametrize("draws", [64, 127, 128, 1000, 5000])
def test_the_variance_of_bins_is_that_of_all_values(draws):
    values = 3 + RNG.normal(size=(64, draws // 64, 5, 7))
    flat = values.reshape(-1, 7)
    assert np.allclose(run_length._variance(values), flat.var(axis=0), rtol=1e-12)


def test_sums_of_large_values_are_kept_once():
    keep = [hd.Observable(outer, series=False)]
    for members in (1, 100):
        result = hd.infer(GRID, hd.Gibbs(herd=members), sweeps=6, keep=keep)
        means = result.observables["outer"].chain_means
        assert means.shape == (1, 256, 256)
        spins = hd.infer(GRID, hd.Gibbs(herd=members), sweeps=6, keep=[hd.Samples()]).samples
        flat = spins.reshape(-1, 256).astype(float)
        assert np.allclose(means[0], flat.T @ flat / len(flat))

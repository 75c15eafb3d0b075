"""The chains of one run on an executor: the bits of one after another, also where workers die."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.run.distributed.remote_chains import RemoteChains
from herded.run.initial_states import initial_states
from herded.run.query import KeepOptions
from herded.run.recording.recorders import Marginals
from herded.run.run_loop import run_until_done
from herded.run.sampler_run import SamplerRun
from tests.support.example_budget import examples
from tests.support.timeouts import ticking
from tests.support.workers import Deadly, processes, same

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")

METHODS = [
    hd.HerdedGibbs(),
    hd.HerdedGibbs(weights="lazy", phases="random"),
    hd.HerdedGibbs(weights="pooled", slack=1.5),
    hd.Gibbs(seed=2),
    hd.HerdedGibbs(schedule="linear"),
    hd.HerdedGibbs(moves=hd.Blocks(count=4)),
]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_chains_on_an_executor(method, tmp_path):
    rng = np.random.default_rng(1)
    model = hd.ising_grid(rng.normal(size=(9, 11)), 0.3)
    exact = np.full((99, 2), 0.5)

    def run(sweeps=150, **more):
        keep = [
            hd.Marginals(rao_blackwell=True),
            hd.BestState(),
            hd.Samples(every=7),
            hd.PairMarginals(),
            hd.ErrorCurve(exact, at=[1, 20, 150]),
        ]
        return hd.infer(model, method, sweeps=sweeps, burn_in=5, chains=3, keep=keep, **more)

    serial = run()
    with ThreadPoolExecutor(2) as pool:
        spread = run(executor=pool)
    assert same(serial, spread)
    assert np.array_equal(serial.frequencies, spread.frequencies)
    assert np.array_equal(serial.samples, spread.samples)
    assert np.array_equal(serial.kept["pairs"].tables, spread.kept["pairs"].tables)
    assert np.array_equal(serial.curve.errors, spread.curve.errors)
    assert np.array_equal(serial.best.state, spread.best.state)


def test_chains_on_processes_that_die(tmp_path):
    model = hd.ising_grid(np.random.default_rng(1).normal(size=(9, 11)), 0.3)
    serial = hd.infer(model, hd.HerdedGibbs(), sweeps=400, chains=3)
    with processes() as pool:
        remote = RemoteChains(pool)
        real = remote.workers.completed

        def deadly(function, jobs):
            jobs = [(c, Deadly(layout, tmp_path), *rest) for c, layout, *rest in jobs]
            return real(function, jobs)

        remote.workers.completed = deadly
        method, keep = hd.HerdedGibbs(), KeepOptions(marginals=Marginals())
        layout = method.compile(model)
        states = initial_states(layout, method, 3, None, keep, 400)
        run = SamplerRun.prepare(layout, method, keep, states, 400, 0)
        run.remote = remote
        run_until_done(run, run.stopping(False), progress=False)
        remote.close()
    assert len(list(tmp_path.glob("died-*"))) == 1
    for chain, state in zip(run.chains, serial.state, strict=True):
        assert np.array_equal(chain.state.method_arrays["w"], state.method_arrays["w"])
        assert np.array_equal(chain.state.x, state.x)


def test_checkpoints_are_the_same_with_and_without_an_executor(tmp_path):
    model = hd.ising_grid(np.random.default_rng(1).normal(size=(9, 11)), 0.3)
    file = tmp_path / "run"
    keep = [hd.Marginals(), hd.Samples(every=3)]
    with ThreadPoolExecutor(2) as pool:
        hd.infer(
            model, hd.HerdedGibbs(), sweeps=70, chains=2, keep=keep, checkpoint=file, executor=pool
        )
    hd.infer(model, hd.HerdedGibbs(), sweeps=110, chains=2, keep=keep, checkpoint=file)
    with ThreadPoolExecutor(2) as pool:
        last = hd.infer(
            model, hd.HerdedGibbs(), sweeps=200, chains=2, keep=keep, checkpoint=file, executor=pool
        )
    whole = hd.infer(model, hd.HerdedGibbs(), sweeps=200, chains=2, keep=keep)
    assert same(whole, last) and np.array_equal(whole.samples, last.samples)


@examples(50)
@given(st.integers(1, 10**6), st.floats(0, 100), st.floats(0, 100))
def test_rounds_grow_to_their_length(step, worked, overhead):
    spread = RemoteChains(ThreadPoolExecutor(1))
    spread._learn(step, worked, worked + overhead)
    assert 1 <= spread.most <= 8 * step
    if 0.2 < worked < 8 and overhead == 0:
        assert abs(spread.most * worked / step - 1.0) <= worked / step + 1e-6


def test_seconds_end_a_run_on_an_executor(monkeypatch):
    model = hd.ising_grid(np.zeros((9, 11)), 0.3)
    with monkeypatch.context() as patch, ThreadPoolExecutor(2) as pool:
        ticking(patch, 0.01)
        result = hd.infer(model, hd.HerdedGibbs(), seconds=0.5, chains=2, executor=pool)
    assert result.sweeps > 1
    again = hd.infer(model, hd.HerdedGibbs(), sweeps=result.sweeps, chains=2)
    assert same(result, again)

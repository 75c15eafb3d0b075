"""Ctrl-C in functions that make many runs: what `error.result` has, or that there is none."""

import inspect
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest

import herded as hd
import herded.ner.crf.adagrad_training
import herded.run.selection.recommendation
import herded.theory.paper_checks
import herded.theory.plateau_prediction
import herded.theory.update_path
import herded.tiled.infer_tiled
from herded.run.distributed.worker_pool import WorkerPool
from herded.run.sampler_run import SamplerRun
from tests.run.interrupts import (  # noqa: F401
    caught_from,
    flags_of,
    handlers_are_restored,
    press,
    pressing,
)

MODEL = hd.ising_grid(np.random.default_rng(0).normal(size=(2, 3)), 0.3)


class Inline(Executor):
    """Runs a job where it is submitted; `interrupted` is the number of one that a signal ends."""

    def __init__(self, interrupted=None):
        self.interrupted, self.jobs, self._max_workers = interrupted, 0, 1

    def submit(self, function, /, *args, **options):
        self.jobs += 1
        future = Future()
        if self.jobs == self.interrupted:
            future.set_exception(KeyboardInterrupt())
        else:
            future.set_result(function(*args, **options))
        return future


# -- many models -----------------------------------------------------------------------------------


def couplings(stop_at):
    """Models, with Ctrl-C pressed when one of them is asked for."""
    for number in range(6):
        if number == stop_at:
            press()
        yield hd.ising_grid(np.zeros((2, 3)), 0.1 * number)


@pytest.mark.parametrize("make", [Inline, lambda: ThreadPoolExecutor(1)])
def test_many_models_give_those_that_are_done(make):
    with make() as executor:
        options = {"sweeps": 50, "chains": 2, "executor": executor}
        error = caught_from(hd.infer_many, couplings(3), hd.Gibbs(), **options)
    whole = hd.infer_many(couplings(None), hd.Gibbs(), sweeps=50, chains=2)
    assert error.result.keys() and error.result.keys() <= {0, 1, 2}
    for number, result in error.result.items():
        assert (result.marginals == whole[number].marginals).all() and not flags_of(result)
    assert f"interrupted with {len(error.result)} model" in str(error)


def test_many_models_of_which_none_is_done():
    error = caught_from(hd.infer_many, couplings(0), hd.Gibbs(), sweeps=50)
    assert error.result is None and "no partial result" in str(error)


def test_many_models_one_after_another():
    found, source = {}, hd.infer_as_completed(couplings(3), hd.Gibbs(), sweeps=50)

    def loop():
        for number, result in source:
            found[number] = result

    assert caught_from(loop).result is None
    assert found.keys() <= {0, 1, 2}


def test_a_worker_that_a_signal_ends_ends_many_models():
    options = {"sweeps": 50, "executor": Inline(2)}
    assert caught_from(hd.infer_many, couplings(None), hd.Gibbs(), **options).result.keys() == {0}


def test_on_interrupt_is_about_one_model():
    with pytest.raises(hd.MethodError, match="expected no on_interrupt= for many models"):
        hd.infer_many([MODEL], hd.Gibbs(), on_interrupt="return")


# -- chains on workers -----------------------------------------------------------------------------


@pytest.mark.parametrize("interrupted", [3, 4])  # the first or the second chain of a round
def test_chains_on_workers_stay_abreast(interrupted):
    """A round that one worker did not finish is dropped, and what was before it is the result."""
    options = {"chains": 2, "keep": [hd.Marginals(), hd.Samples()]}
    part = caught_from(
        hd.infer, MODEL, hd.Gibbs(), sweeps=10**6, executor=Inline(interrupted), **options
    ).result
    whole = hd.infer(MODEL, hd.Gibbs(), sweeps=part.sweeps, **options)
    assert part.sweeps > 0 and (part.samples == whole.samples).all()
    assert (part.chain_marginals == whole.chain_marginals).all() and flags_of(part) == ["warning"]


def test_ctrl_c_during_a_round_of_workers(monkeypatch):
    monkeypatch.setattr(WorkerPool, "completed", pressing(WorkerPool.completed))
    with pytest.warns(hd.HerdedWarning, match="interrupted after 1 sweep,"):
        part = hd.infer(
            MODEL, hd.Gibbs(), sweeps=100, executor=Inline(), chains=2, on_interrupt="return"
        )
    assert part.sweeps == 1


# -- on disk ---------------------------------------------------------------------------------------


def test_a_tiled_run_resumes_from_its_snapshot(monkeypatch, tmp_path):
    field = np.random.default_rng(0).normal(size=(16, 16))
    np.save(tmp_path / "field.npy", field)
    lattice = hd.StoredLattice(tmp_path / "field.npy", coupling=0.3)
    method, out = hd.HerdedGibbs("shared"), tmp_path / "out.npy"
    options = {"sweeps": 60, "out": out, "checkpoint": tmp_path / "run", "tile": 4}
    passes, run_pass = [], herded.tiled.infer_tiled.run_pass

    def second_pass(*args):
        passes.append(1)
        if len(passes) == 2:
            press()
        run_pass(*args)

    with monkeypatch.context() as patch:
        patch.setattr(herded.tiled.infer_tiled, "run_pass", second_pass)
        assert caught_from(hd.infer_tiled, lattice, method, **options).result is None
    assert not out.exists()
    result = hd.infer_tiled(lattice, method, **options)
    whole = hd.infer(hd.ising_grid(field, 0.3), method, sweeps=60)
    assert np.array_equal(result.marginals, whole.marginals[..., 1])


# -- no partial result -----------------------------------------------------------------------------


def test_a_pilot_has_none(monkeypatch):
    monkeypatch.setattr(herded.run.selection.recommendation, "run_pilot", press)
    assert caught_from(hd.recommend, MODEL).result is None


@pytest.mark.parametrize(
    "work",
    [
        lambda: herded.theory.update_path.within_sweep_path(MODEL, 10),
        lambda: herded.theory.plateau_prediction.plateau_predictor(MODEL, 1000),
    ],
)
@pytest.mark.parametrize("way", ["signal", "error"])
def test_theory_has_none(work, way, monkeypatch):
    """The result of one of its runs is not what the caller has asked for."""
    advance = SamplerRun.advance

    def pressed(*args):
        step = advance(*args)
        if way == "signal":
            press()
            return step
        raise hd.Interrupted("as of a run within", 1)

    monkeypatch.setattr(SamplerRun, "advance", pressed)
    assert caught_from(work).result is None


def test_decoding_of_names_has_none(monkeypatch):
    from herded.ner.crf.decoding import best_sample

    monkeypatch.setattr(SamplerRun, "advance", pressing(SamplerRun.advance))
    assert caught_from(best_sample, MODEL, hd.Gibbs(), 50, None).result is None


WORDS = [["Tim", "met", "Amanda"], ["Amanda", "left"], ["He", "met", "Tim"]]
LABELS = [["PERSON", "O", "PERSON"], ["PERSON", "O"], ["O", "O", "PERSON"]]


@pytest.mark.parametrize("epochs", [0, 2])
def test_training_gives_the_last_whole_epoch(epochs, monkeypatch):
    epoch, done = herded.ner.crf.adagrad_training.CRFTrainer.epoch, []

    def pressed(self, watch):
        if len(done) == epochs:
            press()
        done.append(1)
        return epoch(self, watch)

    def trained(epochs):
        return hd.ner.CRF(epochs=epochs, bits=10).fit(WORDS, LABELS)

    with monkeypatch.context() as patch:
        patch.setattr(herded.ner.crf.adagrad_training.CRFTrainer, "epoch", pressed)
        error = caught_from(trained, 20)
    if not epochs:
        assert error.result is None
        return
    part, whole = error.result, trained(len(error.result.history_))
    assert len(part.history_) < 20
    assert np.array_equal(part.chain_.weights, whole.chain_.weights)


def test_reads_before_their_first_sweep_are_none(monkeypatch):
    dimod = pytest.importorskip("dimod")
    from herded.qubo import dimod_sampler

    bqm = dimod.BinaryQuadraticModel({"a": -1.0}, {("a", "b"): 1.0}, 0.0, "SPIN")
    for name in ("_compile_layout", "stop_event_on_interrupt"):
        with monkeypatch.context() as patch:
            patch.setattr(dimod_sampler, name, pressing(getattr(dimod_sampler, name)))
            assert caught_from(hd.qubo.HerdedSampler().sample, bqm, num_reads=2).result is None


def test_dimod_sees_the_parameters_of_the_sampler():
    pytest.importorskip("dimod")
    found = inspect.signature(hd.qubo.HerdedSampler.sample).parameters
    assert {*hd.qubo.HerdedSampler().parameters} <= {*found}

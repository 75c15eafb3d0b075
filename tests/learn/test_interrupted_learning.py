"""Ctrl-C while something is learned: `Interrupted`, with a flagged result where there is one."""

import signal
from functools import partial

import numpy as np
import pytest

import herded as hd
from herded.learn import resumable_herd_run
from herded.learn.assessment import fit_assessment
from herded.learn.boltzmann.rbm_parameters import RBMParameters
from herded.learn.fitting import fit_setup, training_loop
from herded.learn.structure import structure_search

ROWS = np.random.default_rng(0).integers(0, 2, (60, 4))
GRID = hd.ising_grid(np.zeros((2, 2)), 0.0)
HERD = {"method": "herd", "herd": 32, "steps": 12, "progress": False}


@pytest.fixture(autouse=True)
def interruptible_process():
    """Give SIGINT Python's handler, which processes in the background do not have."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # it was given back
    signal.signal(signal.SIGINT, before)


def press_in(monkeypatch, owner, name, call):
    """Press Ctrl-C in the given call of a function, counted from 1."""
    function, calls = getattr(owner, name), []

    def pressed(*args, **options):
        calls.append(None)
        if len(calls) == call:
            signal.raise_signal(signal.SIGINT)
        return function(*args, **options)

    monkeypatch.setattr(owner, name, pressed)


def press_at(monkeypatch, sweep):
    """Press Ctrl-C in this sweep of herds, counted from 1, whose blocks depend on the clock."""
    advance = resumable_herd_run.HerdRun.advance

    def pressed(run, most):
        if run.done + 1 == sweep:
            signal.raise_signal(signal.SIGINT)
        return advance(run, 1)

    monkeypatch.setattr(resumable_herd_run.HerdRun, "advance", pressed)


def interrupted(learn, *args, **options):
    """The error, which is a KeyboardInterrupt too."""
    with pytest.raises(KeyboardInterrupt) as caught:
        learn(*args, **options)
    assert isinstance(caught.value, hd.Interrupted) and str(caught.value).startswith("interrupted")
    return caught.value


# -- fit ---------------------------------------------------------------------------------------


def test_noisy_steps_return_what_they_have(monkeypatch):
    press_in(monkeypatch, training_loop.TrainingLoop, "advance", 7)
    fitted = interrupted(hd.learn.fit, GRID, ROWS, **HERD).result
    assert fitted.interrupted and not fitted.converged and fitted.steps == 7
    assert (fitted.chosen, fitted.criterion) == ("average", "none") and np.isnan(fitted.gain)
    assert np.isfinite(fitted.parameters).all() and "not compared" in fitted.convergence


def test_before_steps_are_averaged_the_last_one_is_returned(monkeypatch):
    press_in(monkeypatch, training_loop.TrainingLoop, "advance", 2)
    assert interrupted(hd.learn.fit, GRID, ROWS, **HERD).result.chosen == "end"


def test_exact_steps_know_their_gain(monkeypatch):
    press_in(monkeypatch, training_loop.TrainingLoop, "advance", 1)
    blank = hd.ising_grid(np.zeros((2, 2)), 0.0)
    rows = np.concatenate([ROWS, np.ones((30, 4), np.int64)])
    rows[0, 0] = -1  # learning starts at zeros, not at the best pseudo-likelihood
    fitted = interrupted(hd.learn.fit, blank, rows, progress=False).result
    assert fitted.interrupted and not fitted.converged and fitted.steps == 1
    assert (fitted.chosen, fitted.criterion) == ("end", "exact") and fitted.gain > 0.0


@pytest.mark.parametrize("is_exact", [True, False])
def test_all_steps_are_kept_where_they_were_being_judged(monkeypatch, is_exact):
    if not is_exact:
        monkeypatch.setattr(fit_assessment, "exact_value", lambda *_: None)
    press_in(monkeypatch, fit_assessment.FitAssessor, "_measure", 1)
    fitted = interrupted(hd.learn.fit, GRID, ROWS, **HERD).result
    assert fitted.interrupted and not fitted.converged and fitted.steps == 12
    assert (fitted.chosen, fitted.criterion) == ("average", "none")


def test_a_judged_fit_is_the_same_after_an_interruption(monkeypatch, tmp_path):
    whole = hd.learn.fit(GRID, ROWS, **HERD)
    for owner, name in (
        (training_loop.TrainingLoop, "advance"),
        (fit_assessment.FitAssessor, "_measure"),
    ):
        file = tmp_path / name
        with monkeypatch.context() as patch:
            press_in(patch, owner, name, 2)
            interrupted(hd.learn.fit, GRID, ROWS, checkpoint=file, **HERD)
        resumed = hd.learn.fit(GRID, ROWS, checkpoint=file, **HERD)
        np.testing.assert_array_equal(resumed.parameters, whole.parameters)
        assert (resumed.gain, resumed.gradient_test) == (whole.gain, whole.gradient_test)
        assert not resumed.interrupted


def test_nothing_is_returned_before_the_first_step(monkeypatch):
    press_in(monkeypatch, fit_setup, "first_parameters", 1)
    assert interrupted(hd.learn.fit, GRID, ROWS, **HERD).result is None


# -- graphs, mixtures, columns -----------------------------------------------------------------


def test_the_best_graph_so_far_is_returned(monkeypatch):
    press_in(monkeypatch, structure_search.PairSpins, "ebic", 3)
    found = interrupted(hd.learn.find_structure, ROWS, progress=False).result
    assert found.interrupted and len(found.path) == 3
    assert found.penalty == min(found.path, key=lambda point: point.score).penalty
    assert not hd.learn.find_structure(ROWS, penalties=2, progress=False).interrupted


def test_a_mixture_has_the_partitions_there_were(monkeypatch):
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    points = np.random.default_rng(1).normal(size=(30, 2))
    mixture = hd.learn.DirichletMixture(sweeps=40, burn_in=2, keep=40, herd=2, chains=2)
    mixture.fit(points)
    assert not mixture.interrupted_
    labels = mixture.labels_
    with monkeypatch.context() as patch:
        press_at(patch, 1)
        assert interrupted(mixture.fit, points[:20]).result is None
    assert mixture.labels_ is labels and len(mixture.predict(points)) == 30
    press_at(monkeypatch, 5)
    error = interrupted(mixture.fit, points[:20])
    assert error.result is mixture and mixture.interrupted_ and len(mixture.labels_) == 20


@pytest.mark.parametrize("sweep", [1, 8])
def test_selected_variables_are_those_of_the_sweeps_there_were(monkeypatch, sweep):
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(40, 30))
    target = columns[:, 3] + rng.normal(size=40)
    options = {"sweeps": 30, "burn_in": 1, "herd": 4, "chains": 2, "method": "herd"}
    selector = hd.learn.VariableSelector(**options)
    for learn in (partial(hd.learn.select_variables, **options), selector.fit):
        with monkeypatch.context() as patch:
            press_at(patch, sweep)
            error = interrupted(learn, columns, target)
        if sweep == 1:  # within the burn-in
            assert error.result is None
        elif learn == selector.fit:
            assert error.result is selector and selector.selection_.interrupted
        else:
            assert error.result.interrupted and error.result.sweeps == 7


# -- machines ----------------------------------------------------------------------------------


def test_an_rbm_is_half_trained_and_flagged(monkeypatch):
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    machine = hd.learn.RBM(2, epochs=4, batch=20, seed=1).fit(ROWS)
    assert not machine.interrupted_ and machine.report_ is not None
    with monkeypatch.context() as patch:
        press_in(patch, hd.learn.RBM, "_step", 5)
        error = interrupted(machine.fit, ROWS)
    assert error.result is machine and "after 5 of 12 steps" in str(error)
    assert machine.interrupted_ and machine.report_ is None
    assert np.isfinite(machine.score(ROWS))
    press_in(monkeypatch, RBMParameters, "enumerated_log_z", 2)
    error = interrupted(machine.fit, ROWS)
    assert "after 12 of 12 steps" in str(error) and error.result.interrupted_
    assert machine.report_ is None


def test_a_boltzmann_machine_passes_interruptions_on(monkeypatch):
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    machine = hd.learn.BoltzmannMachine(edges=[(0, 1)], method="herd", herd=32, steps=12).fit(ROWS)
    before = machine.weights_
    machine.edges = [(0, 1), (1, 2)]
    with monkeypatch.context() as patch:
        press_in(patch, fit_setup, "first_parameters", 1)
        assert interrupted(machine.fit, ROWS).result is None
    assert machine.weights_ is before and machine.edges_.tolist() == [[0, 1]]
    press_in(monkeypatch, training_loop.TrainingLoop, "advance", 3)
    error = interrupted(machine.fit, ROWS)
    assert error.result is machine and machine.fitted_.interrupted and len(machine.weights_) == 2
    assert not machine.fitted_.converged

"""Machines too large to enumerate: gains by annealing in both directions, and what they cost."""

import threading
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="an estimator of scikit-learn")

import herded as hd
from herded.learn.boltzmann import rbm, rbm_assessment, rbm_parameters
from herded.learn.boltzmann.paired_annealing import log_z_bound, paired_log_z
from herded.learn.boltzmann.rbm_parameters import RBMParameters


def quiet(machine, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        return machine.fit(rows)


@pytest.fixture
def assessed(monkeypatch):
    """The candidates of the last fit, whose layers are called too large to enumerate."""
    candidates = []
    assess = rbm.assess_machine

    def watched(layers, *args, **options):
        candidates[:] = layers
        return assess(layers, *args, **options)

    monkeypatch.setattr(rbm, "assess_machine", watched)
    monkeypatch.setattr(rbm_parameters, "MAX_ENUMERATED_STATES", 1)

    def exact_gain(machine, rows):
        monkeypatch.setattr(rbm_parameters, "MAX_ENUMERATED_STATES", 2**20)
        x = np.ascontiguousarray(np.asarray(rows).T).astype(np.uint16)
        values = [
            one.log_scores(x).mean() - one.enumerated_log_z()
            for one in (candidates[0], machine.layers_)
        ]
        return values[1] - values[0]

    return exact_gain


def patterns(n_patterns, features, copies, noise):
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.integers(0, 2, (n_patterns, features)), copies, axis=0)
    return rows ^ (rng.random(rows.shape) < noise)


@pytest.mark.parametrize(("noise", "hidden"), [(0.03, 12), (0.2, 8)])
def test_gains_by_annealing_cover_the_exact_ones(assessed, noise, hidden):
    """With little noise, annealing in one direction overlooks modes."""
    rows = patterns(4, 40, 60, noise)
    machine = quiet(hd.learn.RBM(hidden, epochs=300, batch=60), rows)
    report = machine.report_
    exact = assessed(machine, rows)
    assert report.criterion == "annealing" and report.chosen != "start"
    assert abs(report.gain - exact) <= report.gain_half_width


@pytest.mark.parametrize("rate", [1e2, 1e6])
def test_machines_that_diverge_are_never_returned(assessed, rate):
    rows = patterns(6, 20, 20, 0.1)
    with pytest.warns(hd.HerdedWarning, match="independent units"):
        machine = hd.learn.RBM(12, epochs=5, batch=20, rate=rate).fit(rows)
    assert machine.report_.chosen == "start" and assessed(machine, rows) == 0.0


def random_layers(scale, seed=0):
    rng = np.random.default_rng(seed)
    first, weights = np.arange(9), rng.normal(0, scale, (8, 5))
    return RBMParameters(first, weights, rng.normal(0, 0.3, 8), rng.normal(0, 0.3, 5))


def test_annealing_in_both_directions_covers_exact_values():
    misses = 0
    for seed in range(20):
        layers = random_layers(0.6, seed)
        herd = np.zeros((8, 64), np.uint16)
        layers.sweep(herd, 0, 50, seed)
        found = paired_log_z(layers, herd, herd, temperatures=20, members=16, seed=seed)
        exact = layers.enumerated_log_z()
        misses += not found.interval[0] <= exact <= found.interval[1]
        assert abs(found.value - exact) < 0.3
    assert misses <= 3


def test_log_z_is_at_least_that_of_distinct_states():
    layers = random_layers(1.0)
    every = np.ascontiguousarray((np.arange(256)[:, None] >> np.arange(8) & 1).T.astype(np.uint16))
    exact = layers.enumerated_log_z()
    assert log_z_bound(layers, every) == pytest.approx(exact, abs=1e-9)
    assert log_z_bound(layers, np.concatenate([every, every], axis=1)) == pytest.approx(exact)
    assert log_z_bound(layers, every[:, :100]) < exact


def test_work_of_the_assessment_is_at_most_half_of_the_training():
    layers = RBMParameters(np.arange(785), np.zeros((784, 64)), np.zeros(784), np.zeros(64))
    for steps in (10, 1_000, 100_000):
        work = rbm_assessment._Work(layers, steps=steps, batch=128, herd=64, sweeps=1)
        training = steps * (128 + 3 * 64) * layers.weights.size
        candidates = 2 * rbm_assessment.LOG_Z_HERDS * rbm_assessment.PASSES * layers.weights.size
        annealing = sum(n * members for n, members in work.annealings()) * candidates
        looks = work.looks * 64 * 10 * layers.weights.size
        assert annealing + looks <= max(0.5 * training, 1.6e9)


def test_ctrl_c_ends_annealing():
    layers, stop = random_layers(0.6), threading.Event()
    stop.set()
    x = np.zeros((8, 4), np.uint16)
    with pytest.raises(hd.Interrupted):
        rbm_assessment.assess_machine(
            (layers, layers, layers), x, x, stop=stop, l2=0.0, steps=4, batch=2, sweeps=1, seed=0
        )

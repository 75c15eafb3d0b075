"""Algorithm 1 in plain Python visits the states that the compiled sampler visits."""

import numpy as np
import pytest

import herded as hd
from herded import theory
from herded.errors import MethodError
from tests.theory.small_graphs import SMALL, coins, each, ising

SWEEPS = 1000


@each(SMALL)
def test_it_visits_what_the_sampler_visits(model):
    n = model.n_variables
    path = theory.within_sweep_path(model, SWEEPS)
    assert np.array_equal(theory.algorithm_1(model, n * SWEEPS), path[1:])


def test_full_conditionals_are_contexts_of_complete_graphs():
    model = SMALL["four"]
    method = hd.HerdedGibbs(weights="full", scan="sequential", phases="half")
    start = [1, 0, 0, 1]
    run = hd.infer(model, method, sweeps=SWEEPS, keep=[hd.Samples()], start=start)
    x = theory.algorithm_1(model, 4 * SWEEPS, start)
    assert np.array_equal(x[3::4], run.samples[0])


def test_ties_are_broken_alike():
    model = coins(0.5, 0.25)
    path = theory.within_sweep_path(model, 40)
    assert np.array_equal(theory.algorithm_1(model, 80), path[1:])


def test_variables_with_evidence_stay():
    model = ising([(0, 1), (1, 2), (2, 3)], 4, 1.0).given({1: 1})
    method = hd.HerdedGibbs(scan="sequential", phases="half")
    run = hd.infer(model, method, sweeps=SWEEPS, keep=[hd.Samples()], layout="table")
    x = theory.algorithm_1(model, 3 * SWEEPS)
    assert np.array_equal(x[2::3], run.samples[0])
    assert (x[:, 1] == 1).all()


def test_frequencies_come_close_to_pi():
    model = SMALL["ternary"]
    x = theory.algorithm_1(model, 3 * 10_000)
    found = theory.empirical(x[2::3], model.cardinalities)
    assert theory.total_variation(found, theory.target(model)) < 0.005


@pytest.mark.parametrize("T", [-1, 2.5])
def test_updates_are_a_whole_number(T):
    with pytest.raises(MethodError, match="expected T of 0 or more updates"):
        theory.algorithm_1(SMALL["binary"], T)

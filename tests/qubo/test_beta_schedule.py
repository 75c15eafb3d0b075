"""How quadratic models are cooled: schedules, and the range of temperatures that fits biases."""

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from herded.methods.schedule import inverse_temperatures
from herded.qubo.beta_schedule import (
    COLD_BETA_FACTOR,
    HOT_BETA_FACTOR,
    LINEAR_TAIL_FACTOR,
    BetaSchedule,
    fitting_range,
)
from herded.qubo.spin_biases import read_biases

dimod = pytest.importorskip("dimod", reason="quadratic models are dimod's")


@pytest.mark.parametrize("kind", ["mixed", "geometric", "linear"])
@pytest.mark.parametrize("total", [1, 2, 3, 10])
def test_cooling(kind, total):
    schedule = BetaSchedule(0.1, 10.0, kind)
    betas = schedule.betas(np.arange(total), total)
    assert betas[-1] == np.inf and (np.diff(betas) > 0).all()
    if total > 1:
        assert betas[0] == pytest.approx(0.1)
    if total > 2:
        assert betas[-2] == pytest.approx(10.0)
    if total == 10 and kind != "mixed":
        steps = np.diff(np.log(betas[:-1]) if kind == "geometric" else betas[:-1])
        assert steps == pytest.approx(np.full(8, steps[0]))


def test_mixed_cooling_is_linear_then_geometric():
    """In temperature, without a break where one turns into the other."""
    temperatures = 1 / BetaSchedule(0.1, 10.0).betas(np.arange(2000), 2001)
    early = temperatures > 10 / LINEAR_TAIL_FACTOR
    steps, factors = np.diff(temperatures[early]), np.diff(np.log(temperatures[~early]))
    assert len(steps) > 500 and steps == pytest.approx(np.full(len(steps), steps[0]))
    assert len(factors) > 500 and factors == pytest.approx(np.full(len(factors), factors[0]))
    assert steps[0] / (10 / LINEAR_TAIL_FACTOR) == pytest.approx(factors[0], rel=0.01)
    narrow = 1 / BetaSchedule(0.5, 3.0).betas(np.arange(100), 101)
    assert np.diff(narrow) == pytest.approx(np.full(99, (1 / 3 - 2) / 99))
    assert BetaSchedule(2.0, 2.0).betas(np.arange(3), 4) == pytest.approx(np.full(3, 2.0))
    extreme = BetaSchedule(sys.float_info.min, sys.float_info.max).betas(np.arange(3), 4)
    assert np.isfinite(extreme).all() and (np.diff(extreme) > 0).all()
    edge = BetaSchedule(1.0, LINEAR_TAIL_FACTOR * (1 + 2**-52)).betas(np.arange(3), 4)
    assert edge[[0, 2]] == pytest.approx([1.0, LINEAR_TAIL_FACTOR])


def test_asking_once_is_asking_for_each_sweep():
    schedule, state = BetaSchedule(0.1, 10.0), SimpleNamespace(sweep=3, total=12)
    one_by_one = inverse_temperatures(lambda sweep, total: schedule(sweep, total), state, 9)
    np.testing.assert_allclose(inverse_temperatures(schedule, state, 9), one_by_one, rtol=1e-15)


def range_of(bqm):
    return fitting_range(read_biases(bqm))


def test_the_range_fits_the_biases():
    rng = np.random.default_rng(8)
    ring = {(i, (i + 1) % 9): rng.normal() for i in range(9)}
    bqm = dimod.BinaryQuadraticModel({i: rng.normal() for i in range(9)}, ring, 0.25, "SPIN")
    hot, cold = range_of(bqm)
    assert 0 < hot < cold
    stronger = bqm.copy()
    stronger.scale(1000.0)
    assert range_of(stronger) == pytest.approx((hot / 1000, cold / 1000))
    assert range_of(bqm.change_vartype("BINARY", inplace=False)) == pytest.approx((hot, cold))
    nothing = dimod.BinaryQuadraticModel({0: 0.0}, {}, 1.0, "SPIN")
    assert range_of(nothing) == (1.0, 1.0)


def test_the_range_is_that_of_strengths():
    """A ring: every spin has two couplings. A hub is as hot as the spins around it."""
    ring = {(i, (i + 1) % 50): 3.0 * (-1) ** i for i in range(50)}
    bqm = dimod.BinaryQuadraticModel({}, ring, 0.0, "SPIN")
    assert range_of(bqm) == pytest.approx(
        (HOT_BETA_FACTOR / (3 * math.sqrt(2)), COLD_BETA_FACTOR / 3)
    )
    star = dimod.BinaryQuadraticModel({}, {(0, i): 3.0 for i in range(1, 50)}, 0.0, "SPIN")
    assert range_of(star) == pytest.approx((HOT_BETA_FACTOR / 3, COLD_BETA_FACTOR / 3))
    field = dimod.BinaryQuadraticModel({0: 5.0, 1: 0.0}, {}, 0.0, "SPIN")
    assert range_of(field) == pytest.approx((HOT_BETA_FACTOR / 5, COLD_BETA_FACTOR / 5))


def test_fields_that_decide_alone_make_nothing_hotter():
    """Beyond the couplings of its variable a field counts no more."""
    ring = {(i, (i + 1) % 50): 3.0 for i in range(50)}
    hot = [
        range_of(dimod.BinaryQuadraticModel(dict.fromkeys(range(50), h), ring, 0.0, "SPIN"))[0]
        for h in (0.0, 3.0, 3 * math.sqrt(2), 50.0)
    ]
    assert hot[0] > hot[1] > hot[2] and hot[3] == pytest.approx(hot[2])


def test_what_rounding_leaves_does_not_set_the_range():
    bqm = dimod.BinaryQuadraticModel(dict.fromkeys(range(9), 1e-16), {(0, 1): 1.0}, 0.0, "SPIN")
    assert range_of(bqm)[1] == pytest.approx(COLD_BETA_FACTOR)

"""Bias: layouts and methods beside exact answers, in small form (`python -m benchmarks bias`)."""

import math

import numpy as np
import pytest

import herded as hd
from benchmarks.accuracy.bias import energies, herding_in_time, joints, single_variables
from benchmarks.accuracy.bias.e_values import LIMIT, log_e_of_fractions, log_e_of_total
from benchmarks.accuracy.bias.exact_energies import strip_energy, torus_energy
from tests.support.example_budget import UNCOMPILED

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="takes minutes where nothing is compiled")


# -- rare states -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("field", "sweeps"), [(8.0, 1500), (5.0, 100)])
def test_rare_states_of_a_field(field, sweeps):
    """At field 8 P(0) was 3.08e-5 instead of 1.13e-7, at field 5 3.07e-5 instead of 4.54e-5."""
    members, shape = 64, (64, 64)
    result = hd.infer(
        hd.ising_grid(np.full(shape, field), 0.0), hd.Gibbs(herd=members), sweeps=sweeps,
        burn_in=1, keep=[hd.Marginals(rao_blackwell=True)],
    )  # fmt: skip
    exact, visits = 1 / (1 + math.exp(2 * field)), sweeps * math.prod(shape)
    for table in (result.marginals, result.frequencies):
        total = float(table[..., 0].sum()) * sweeps * members
        high = min(members, members * exact + 2.5)
        assert log_e_of_total(total, visits, members * exact, 0.0, high) < LIMIT
        assert abs(total / (visits * members * exact) - 1) < 0.5  # 40 and 1,190 are expected


def test_flipped_spins_of_a_strong_coupling():
    """At coupling 1.5 and field 0.2 herds had 7.5 times too many flipped spins."""
    model = hd.ising_grid(np.full((64, 64), 0.2), 1.5, periodic=True)
    result = hd.infer(
        model, hd.Gibbs(herd=64), sweeps=600, burn_in=30, start=np.ones((64, 64), int), chains=1
    )
    # one flip costs 2 (4 K + h); a pair of neighbours 2 (6 K + 2 h), of which each spin is in four
    exact = math.exp(-2 * 6.2) + 4 * math.exp(-2 * 9.4)
    assert result.marginals[..., 0].mean() == pytest.approx(exact, rel=0.15)


def test_intervals_of_states_that_never_came():
    """P(0) = 8.8e-27 and 1.1e-7 are recorded as 0, which is not known that exactly."""
    for field, layout in ((30.0, "grid"), (8.0, "grid"), (30.0, "table")):
        model = hd.ising_grid(np.full((16, 16), field), 0.0).given({(0, 0): 0})
        result = hd.infer(model, hd.Gibbs(herd=64), sweeps=50, chains=4, layout=layout)
        low, high = result.interval[..., 0], result.interval[..., 1]
        assert result.interval[0, 0].tolist() == [[1.0, 1.0], [0.0, 0.0]]
        exact = 1 / (1 + math.exp(2 * field))
        assert (low[1:, 1:, 0] <= exact).all() and (exact < high[1:, 1:, 0]).all()
        never = result.marginals[..., 0] == 0
        assert never.any() and high[never, 0].max() < 8 / (4 * 50 * 64)


# -- the tests themselves --------------------------------------------------------------------------


def test_false_alarms_are_rare_and_power_is_not():
    """Over many runs e-values have a mean of at most 1; wrong means are rejected."""
    rng = np.random.default_rng(1)
    counts = rng.binomial(400, 0.01, 4000)
    e = np.exp([log_e_of_total(count, 400, 0.01, 0.0, 1.0) for count in counts])
    assert e.mean() < 1 + 4 * e.std() / math.sqrt(len(e))
    fractions = rng.binomial(8, 0.1, (500, 60)) / 8
    e = np.exp([log_e_of_fractions(row, np.full(60, 0.1)) for row in fractions])
    assert e.mean() < 1 + 4 * e.std() / math.sqrt(len(e))
    assert log_e_of_total(450.0, 100_000, 0.003, 0.0, 1.0) > LIMIT
    assert log_e_of_total(180.0, 100_000, 0.003, 0.0, 1.0) > LIMIT
    assert log_e_of_fractions(rng.binomial(8, 0.2, 500) / 8, np.full(500, 0.1)) > LIMIT


def test_exact_energies():
    """Kaufman's formula and transfer matrices beside `Exact`, which knows log Z."""
    step = 1e-4
    for temperature in (2.0, 2.5, 5.0):
        at = [
            hd.infer(
                hd.ising_grid(np.zeros((4, 4)), k, periodic=True).as_factor_graph(), hd.Exact()
            ).log_z
            for k in (1 / temperature - step, 1 / temperature + step)
        ]
        slope = (at[1] - at[0]) / (2 * step)
        assert torus_energy(4, temperature) == pytest.approx(-slope / temperature, rel=1e-6)
    logs = np.random.default_rng(0).normal(size=(4, 3, 3))
    at = [
        hd.infer(hd.potts_grid(b * logs, 0.7 * b).as_factor_graph(), hd.Exact()).log_z
        for b in (1 - step, 1 + step)
    ]
    found = strip_energy(logs, 0.7 * np.eye(3), [(0, 1), (1, 2)])
    assert found == pytest.approx(-(at[1] - at[0]) / (2 * step), rel=1e-6)


# -- layouts ---------------------------------------------------------------------------------------

SINGLE = {f"{c.name}, {c.layout}, {c.method.herd}": c for c in single_variables.cases()}
JOINTS = {f"{c.name}, {c.layout}, {c.method.herd}": c for c in joints.cases()}
SMALL_SHARE = 0.004  # of the draws of the benchmark


@pytest.mark.parametrize("name", SINGLE)
def test_single_variables(name):
    tested = single_variables.run(SINGLE[name], SMALL_SHARE)
    assert not tested.rejects


@pytest.mark.parametrize("name", [name for name in JOINTS if name.endswith(", 64")])
def test_four_variables(name):
    _, log_e, _ = joints.run(JOINTS[name], 1)
    assert log_e < LIMIT


def test_energies():
    """A sample of the cases, few runs: z-scores of few runs have long tails."""
    for case in energies.cases():
        if case.layout in ("grid", "pairs") and "torus" not in case.name:
            _, _, z = energies.z_score(case._replace(sweeps=60), 30)
            assert abs(z) < 5
    torus = next(case for case in energies.cases() if "T = 5" in case.name)
    assert abs(energies.z_score(torus._replace(sweeps=100), 20)[2]) < 5


def test_herding_in_time():
    """Blanket weights of a grid are five for each site, each of which may be off by 1."""
    for _, make, method, layout, _ in herding_in_time.cases():
        distance = herding_in_time.largest_distance(make(), method, layout, 400)
        assert distance <= (5.0 if layout is None and method.weights == "blanket" else 2.0)

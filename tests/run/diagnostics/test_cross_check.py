"""Herds beside what may be wrong without a sign of it: solvers, and herding in time."""

import itertools
import warnings

import numpy as np
import pytest

import herded as hd
import herded.run.diagnostics.log_z_check
from benchmarks.accuracy.calibration import is_right
from benchmarks.support.random_models import divided, grid, ising, tiny
from herded.run.diagnostics.cross_check import MIN_UPDATES_TO_CROSS_CHECK
from herded.run.diagnostics.intervals import MIN_HALF_WIDTH, UnbiasedMarginals, half_widths
from herded.run.diagnostics.log_z_check import check_log_z
from herded.system.diagnostics.kinds import DiagnosticKind

RNG = np.random.default_rng(3)
TREE = hd.pairwise_model(RNG.normal(size=(5, 2)), [(0, 1), (1, 2), (1, 3), (3, 4)], 2.0 * np.eye(2))
RING = [(i, (i + 1) % 8) for i in range(8)]


def alike(n, coupling):
    """Variables that all want to be the same, one of them a little 1: a loop of loops."""
    field = np.zeros((n, 2))
    field[0, 1] = 0.1
    return hd.pairwise_model(field, list(itertools.combinations(range(n), 2)), coupling * np.eye(2))


@pytest.mark.parametrize("method", ["bp", "mean-field"])
def test_a_solver_that_is_far_off_is_told_of(method):
    """Mean field takes a side, and belief propagation is too sure."""
    model = alike(10, 0.4)
    truth = hd.infer(model).marginals
    with pytest.warns(hd.HerdedWarning, match="differs from a short run of herds: variable"):
        result = hd.infer(model, method)
    assert result.converged and np.abs(result.marginals - truth).max() > 0.1
    assert "log Z is" in result.warnings[-1]


def test_a_solver_that_is_right_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weak = ising(grid(4, 4), 0.2, np.random.default_rng(0))
        (found,) = hd.infer(weak, "bp").diagnostics
        assert found.severity == "info" and found.kind == DiagnosticKind.EXACT_LOG_Z
        assert "log Z is Bethe's estimate" in found.message
        assert hd.infer(TREE, "bp").warnings == ()  # it has no loop: nothing is compared
        alone = hd.FactorGraph([2, 3], [((0,), [0.0, 1.0]), ((1,), [0.0, 1.0, 2.0])])
        assert hd.infer(alone, "mean-field").warnings == ()


def test_what_herds_cannot_tell():
    """They do not mix here, and say so; and large models are not compared."""
    even = np.where(np.indices((2, 2, 2)).sum(axis=0) % 2, -np.inf, 0.0)
    model = hd.FactorGraph([2] * 6, [((i, i + 1, i + 2), even) for i in range(4)])
    with pytest.warns(hd.HerdedWarning, match=r"could not be compared|differs"):
        hd.infer(model, "bp")
    large = hd.ising_grid(np.zeros((300, 300)), 0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = hd.infer(large, hd.MeanField(), sweeps=2)
        assert DiagnosticKind.NOT_CROSS_CHECKED in [one.kind for one in result.diagnostics]


@pytest.mark.parametrize("method", ["bp", "mean-field"])
def test_what_is_known_of_log_z(method, monkeypatch):
    """Elimination where it is quick, else mean field; nothing is said where it is exact."""
    model = hd.ising_grid(np.zeros((5, 5)), 0.6)
    truth = hd.infer(model).log_z
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = hd.infer(model, method)
    assert abs(result.log_z - truth) > 0.05
    assert f"quick on this model, gives {truth:.6g}" in result.warnings[-1]
    is_issued = any(str(one.message) == result.warnings[-1] for one in issued)
    assert is_issued == (method == "bp")  # mean field's is a bound, as everybody knows
    monkeypatch.setattr(herded.run.diagnostics.log_z_check, "MAX_EXACT_VARIABLES", 0)
    weak = hd.ising_grid(np.full((4, 4), 0.3), 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (note,) = hd.infer(weak, method).warnings
    bound = hd.infer(weak, "mean-field").log_z
    assert f"proves that it is {bound:.6g} or more" in note or "how far it is below" in note
    monkeypatch.setattr(herded.run.diagnostics.log_z_check, "MAX_BOUND_ENTRIES", 0)
    assert "no error bound is known; a ladder has an interval" in hd.infer(weak, "bp").warnings[-1]


def test_an_estimate_below_a_bound_is_told_of():
    graph = hd.ising_grid(np.zeros((20, 20)), 0.1).as_factor_graph()
    found = check_log_z(hd.BeliefPropagation(), graph, 0.0)
    assert found.kind == DiagnosticKind.BETHE_TOO_LOW and found.severity == "warning"
    assert found.figures["log_z"] == 0 < found.figures["bound"]
    assert "too low: mean field proves" in found.message


def test_margins():
    chains = np.array([[[0.5, 0.5]], [[0.6, 0.4]]])
    np.testing.assert_allclose(half_widths(chains), 12.7062 * 0.05, rtol=1e-12)
    far = UnbiasedMarginals(np.array([[1.55, -0.55]]), np.full((1, 2), 0.25))
    np.testing.assert_allclose(half_widths(chains, far), 1.25)
    same = np.array([[[0.3, 0.7], [0.0, 1.0]]] * 3)
    np.testing.assert_array_equal(half_widths(same), [[MIN_HALF_WIDTH] * 2, [0.0] * 2])


def test_long_runs_that_herd_in_time_carry_a_control():
    """A ring on which herding is biased: the interval holds, standard errors alone do not."""
    model = hd.pairwise_model(np.zeros((8, 2)), RING, 2.0 * np.eye(2)).given({0: 1})
    truth = hd.infer(model).marginals
    short = hd.infer(model, hd.HerdedGibbs(), sweeps=100, chains=4)
    assert "control" not in short.kept
    keep = [hd.Marginals(rao_blackwell=True)]
    run = hd.infer(
        model, hd.HerdedGibbs(), sweeps=MIN_UPDATES_TO_CROSS_CHECK // 2, chains=4, keep=keep
    )
    low, high = np.moveaxis(run.interval, -1, 0)
    assert "control" in run.kept and ((low <= truth) & (truth <= high)).all()
    for method in (hd.Gibbs(), hd.HerdedGibbs(schedule="linear", weights="pooled")):
        assert (
            "control"
            not in hd.infer(model, method, sweeps=MIN_UPDATES_TO_CROSS_CHECK // 2, chains=4).kept
        )


@pytest.mark.parametrize("seed", range(6))
def test_plain_infer_is_right_or_warns(seed):
    """`python -m benchmarks.accuracy.calibration plain` does the same with a hundred models."""
    rng = np.random.default_rng([21, seed])
    model = (divided, lambda r: tiny(0.5, r), lambda r: ising(grid(4, 5), 1.0, r))[seed % 3](rng)
    truth = hd.infer(model, hd.Exact()).marginals
    for keep in (None, [hd.Marginals(rao_blackwell=True), hd.Samples(every=10_000)]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hd.HerdedWarning)
            result = hd.infer(model, keep=keep)
        assert is_right(result, truth) or result.warnings

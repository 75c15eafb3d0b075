"""Which parameters a stochastic fit returns where chains mix slowly, and from a warm start."""

import warnings

import numpy as np
import pytest

import herded as hd
from benchmarks.learning.fit_improvement import penalised
from benchmarks.learning.fit_problems import DenseIsing, dense, dense_log_z, glass
from herded.learn.assessment import fit_assessment, ladder_gain, likelihood_gain
from herded.learn.assessment.ladder_gain import compare_by_ladders, ladder_draws
from herded.learn.assessment.likelihood_gain import LikelihoodGain
from herded.learn.fitting.log_linear import build_log_linear

SHORT = {"method": "herd", "herd": 128, "steps": 40, "progress": False}


def without_exact_criterion(monkeypatch):
    monkeypatch.setattr(likelihood_gain, "MAX_EXACT_BYTES", 1.0)


def spin_glass(n, strength, seed):
    rng = np.random.default_rng(seed)
    fields = rng.normal(0, 0.1, n)
    couplings = np.triu(rng.normal(0, strength / np.sqrt(n), (n, n)), 1)
    return DenseIsing(fields, couplings + couplings.T)


def quiet_fit(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        return hd.learn.fit(*args, **{"progress": False, **options})


# -- ladders decide ----------------------------------------------------------------------------


def test_ladders_find_a_gain_that_slow_chains_cannot_show(monkeypatch):
    """The start is 10 nats per row below the end; ladders make a few round trips."""
    problem = dense("", spin_glass(16, 3.0, 5), 200, 1)
    without_exact_criterion(monkeypatch)
    start = quiet_fit(problem.blank, problem.rows, groups="ising", objective="pseudo")
    with pytest.warns(hd.HerdedWarning, match="chosen by tempered ladders") as caught:
        fitted = hd.learn.fit(problem.blank, problem.rows, groups="ising", method="herd")
    assert fitted.mixing.is_slow and fitted.criterion == "ladders" and fitted.chosen != "start"
    gain = problem.log_likelihood(fitted.model) - problem.log_likelihood(start.model)
    assert gain > 5.0
    assert abs(fitted.gain - gain) <= fitted.gain_half_width < np.inf
    assert fitted.gains[fitted.chosen] == (fitted.gain, fitted.gain_half_width)
    assert not any("pseudo" in str(one.message) for one in caught)


@pytest.fixture(scope="module")
def pair_of_candidates():
    """A family of 10 spins on all pairs, two sets of parameters, and the exact gain in log Z."""
    family = build_log_linear(DenseIsing(np.zeros(10), np.zeros((10, 10))).model(), "ising")
    rng = np.random.default_rng(0)
    first = rng.normal(0, 0.4, family.count)
    second = first + rng.normal(0, 0.05, family.count)
    log_z = [dense_log_z(family.rebuilt(x)) for x in (first, second)]
    return family, [first, second], log_z[0] - log_z[1]


@pytest.mark.parametrize(("shift", "acceptable"), [(1.0, True), (-1.0, False)])
def test_ladder_gains_cover_the_truth(pair_of_candidates, shift, acceptable):
    family, candidates, exact = pair_of_candidates
    bridge = [LikelihoodGain(0.0, 0.0), LikelihoodGain(exact + shift, np.inf)]
    found = compare_by_ladders(family, [0.0, shift - exact], candidates, bridge, 0)
    assert abs(found.gains[1].value - shift) <= found.gains[1].half_width < 0.1
    assert found.is_decided and found.is_acceptable == [False, acceptable]


def test_undecided_comparisons_take_longer_ladders(pair_of_candidates, monkeypatch):
    family, candidates, exact = pair_of_candidates
    sweeps, run = [], ladder_gain.ladder_draws

    def counted(family, x, n, seed):
        sweeps.append(n)
        return run(family, x, n, seed)

    monkeypatch.setattr(ladder_gain, "ladder_draws", counted)
    monkeypatch.setattr(ladder_gain, "STAGES", (70, 100, 130))
    bridge = [LikelihoodGain(0.0, 0.0), LikelihoodGain(0.0, np.inf)]
    found = compare_by_ladders(family, [0.0, -exact], candidates, bridge, 0)
    assert sweeps == [70, 70, 100, 100, 130, 130] and not found.is_decided
    assert found.gains[1].half_width > 0.01 and found.is_acceptable == [False, False]
    monkeypatch.setattr(ladder_gain, "MAX_LADDER_VISITS", 0.0)
    sweeps.clear()
    compare_by_ladders(family, [0.0, -exact], candidates, bridge, 0)
    assert sweeps == [70, 70]


def test_few_round_trips_widen_intervals(pair_of_candidates, monkeypatch):
    family, candidates, _ = pair_of_candidates
    monkeypatch.setattr(ladder_gain, "MIN_ROUND_TRIPS", 0.0)
    enough = ladder_draws(family, candidates[0], 200, 0)
    assert enough.inflation == 1.0
    monkeypatch.setattr(ladder_gain, "MIN_ROUND_TRIPS", 1e4)
    few = ladder_draws(family, candidates[0], 200, 0)
    assert few.half_width == pytest.approx(enough.half_width * np.sqrt(few.inflation), rel=1e-9)
    assert few.inflation > 10.0
    monkeypatch.setattr(ladder_gain, "MIN_TRIPS", 1e4)
    none = ladder_draws(family, candidates[0], 200, 0)
    assert none.half_width == none.inflation == np.inf


def test_slow_chains_and_ladders_that_agree_are_believed():
    """Only if the ladders exclude a loss of more than 0.01 nats per row."""
    for ladders, bridge, expected in [
        (LikelihoodGain(0.02, 0.025), LikelihoodGain(0.015, 0.005), True),
        (LikelihoodGain(0.02, 0.040), LikelihoodGain(0.015, 0.005), False),
        (LikelihoodGain(0.02, 0.025), LikelihoodGain(0.015, 0.020), False),
        (LikelihoodGain(0.02, 0.025), LikelihoodGain(0.090, 0.005), False),
        (LikelihoodGain(np.nan, np.inf), LikelihoodGain(0.015, 0.005), False),
    ]:
        assert bool(ladder_gain._agree(ladders, bridge)) is expected


def test_fits_say_where_nothing_could_be_decided(monkeypatch):
    problem = dense("", spin_glass(16, 3.0, 5), 200, 1)
    without_exact_criterion(monkeypatch)
    monkeypatch.setattr(ladder_gain, "MIN_TRIPS", np.inf)
    with pytest.warns(hd.HerdedWarning, match="fit could not tell whether the average is better"):
        fitted = hd.learn.fit(problem.blank, problem.rows, groups="ising", **SHORT)
    assert (fitted.chosen, fitted.criterion, fitted.gain) == ("start", "none", 0.0)
    assert fitted.gains["average"].half_width == np.inf and not fitted.converged


# -- warm starts -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def penalised_glass():
    """Few rows, so that the best pseudo-likelihood is 0.3 nats below the best likelihood."""
    return glass(14, 0.7, 1, 100, l2=0.01)


@pytest.mark.parametrize("use_exact", [True, False])
def test_a_better_model_that_is_given_is_kept_or_improved(penalised_glass, use_exact, monkeypatch):
    problem = penalised_glass
    best = quiet_fit(problem.blank, problem.rows, **problem.options, method="exact")
    if not use_exact:
        without_exact_criterion(monkeypatch)
    again = quiet_fit(best.model, problem.rows, **problem.options, method="herd", steps=20)
    assert again.criterion == ("exact" if use_exact else "bridge")
    assert penalised(problem, again) > penalised(problem, best) - 0.002
    if again.chosen == "given":
        np.testing.assert_array_equal(again.parameters, best.parameters)
        assert again.gain == 0.0
    else:
        assert again.gain > again.gain_half_width


def test_the_maximum_is_returned_as_given(penalised_glass):
    best = quiet_fit(
        penalised_glass.blank, penalised_glass.rows, **penalised_glass.options, method="exact"
    )
    again = quiet_fit(best.model, penalised_glass.rows, **penalised_glass.options, **SHORT)
    assert again.chosen == "given" and again.criterion == "exact"
    assert again.converged and again.convergence.startswith("the start is a maximum as far as")


@pytest.mark.parametrize("use_exact", [True, False])
def test_a_worse_model_that_is_given_is_replaced(penalised_glass, use_exact, monkeypatch):
    problem = penalised_glass
    if not use_exact:
        without_exact_criterion(monkeypatch)
    same = {**problem.options, **SHORT}
    plain = quiet_fit(problem.blank, problem.rows, **same)
    rng = np.random.default_rng(0)
    wrong = DenseIsing(np.zeros(14), np.triu(rng.normal(0, 0.5, (14, 14)), 1)).model()
    fitted = quiet_fit(wrong, problem.rows, **same)
    assert fitted.chosen != "given"
    assert penalised(problem, fitted) > penalised(problem, plain) - 0.01


def test_exact_steps_start_at_the_better_parameters(penalised_glass):
    problem = penalised_glass
    best = quiet_fit(problem.blank, problem.rows, **problem.options, method="exact")
    again = quiet_fit(best.model, problem.rows, **problem.options, method="exact")
    assert again.steps <= 2 and again.gain < 1e-9 and again.converged


def test_weak_tests_of_gradients_take_more_draws(monkeypatch):
    """Of 5,000 rows a small herd shows less in one measurement than the rows do."""
    problem = glass(12, 0.5, 0, 5_000)
    options = {"groups": "ising", "method": "herd", "herd": 256, "steps": 100}
    fitted = quiet_fit(problem.blank, problem.rows, **options)
    assert fitted.converged and fitted.gradient_test.detectable <= 4.0
    monkeypatch.setattr(fit_assessment, "MAX_MEASUREMENTS", 1)
    once = quiet_fit(problem.blank, problem.rows, **options)
    assert once.gradient_test.detectable > fitted.gradient_test.detectable


# -- held-out rows -----------------------------------------------------------------------------


def test_held_out_rows_also_stop_the_climb_to_the_start():
    """The pseudo-likelihood of few rows of strong couplings runs far past its best score."""
    machine = spin_glass(16, 3.0, 5)
    rows, held = (machine.sample(300, np.random.default_rng(seed)) for seed in (1, 9))
    blank = DenseIsing(np.zeros(16), np.zeros((16, 16))).model()
    same = {"groups": "ising", "held_out": held}
    pseudo = quiet_fit(blank, rows, objective="pseudo", **same)
    fitted = quiet_fit(blank, rows, method="herd", steps=40, herd=256, **same)

    def score(found):
        return found.model.log_score(held).mean() - dense_log_z(found.model)

    assert score(fitted) > score(pseudo) - 0.1
    assert fitted.criterion == "held-out" and fitted.gain >= 0.0
    assert fitted.gain_half_width > 0.0 or fitted.chosen == "start"


@pytest.mark.parametrize("objective", ["pseudo", "likelihood"])
def test_held_out_gains_have_intervals_of_paired_differences(objective):
    problem = glass(8, 0.5, 0, 400)
    held = glass(8, 0.5, 0, 4_000).rows
    fitted = quiet_fit(
        problem.blank, problem.rows[:40], groups="ising", held_out=held, objective=objective, l2=0.1
    )
    start = quiet_fit(
        problem.blank, problem.rows[:40], groups="ising", held_out=held, objective=objective,
        l2=0.1, steps=1,
    )  # fmt: skip
    assert fitted.criterion == "held-out" and fitted.gain >= start.gain
    if fitted.chosen == "held-out":
        assert 0.0 < fitted.gain_half_width < 0.2


# -- units -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "herd"])
@pytest.mark.parametrize("scale", [1e-7, 1e-3, 1e5])
def test_log_odds_do_not_depend_on_the_units_of_weights(method, scale):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, (1_000, 1))
    rows = np.concatenate([first, first ^ (rng.random((1_000, 1)) < 0.2)], axis=1)
    pair = hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], np.zeros((1, 2, 2)))
    groups = [[-1, -1], [-1, -1], [[0, -1], [-1, 0]]]

    def log_odds(unit, l2):
        weights = [[1, 1], [1, 1], [[unit, 1], [1, unit]]]
        fitted = quiet_fit(
            pair, rows, groups=groups, weights=weights, method=method, steps=60, l2=l2 * unit**2
        )
        assert fitted.converged
        return fitted.parameters[0] * unit, fitted.model.log_tables[-1]

    alike = (rows[:, 0] == rows[:, 1]).mean()
    found, table = log_odds(scale, 0.0)
    assert found == pytest.approx(
        np.log(alike / (1 - alike)), abs=0.02 if method == "herd" else 1e-5
    )
    assert table == pytest.approx(found)
    assert log_odds(scale, 0.1)[0] == pytest.approx(log_odds(1.0, 0.1)[0], abs=0.02)


# -- small herds and missing states ------------------------------------------------------------


def test_a_herd_of_one_learns_on_all_layouts():
    rows = np.random.default_rng(0).integers(0, 2, (50, 6))
    blank = DenseIsing(np.zeros(6), np.zeros((6, 6))).model()
    for model in (blank, hd.ising_grid(np.zeros((1, 6)), 0.0)):
        fitted = quiet_fit(model, rows.reshape(-1, *model.shape), method="herd", herd=1, steps=5)
        assert np.isfinite(fitted.parameters).all()


def test_few_missing_states_keep_the_start_at_the_pseudo_likelihood():
    problem = glass(10, 0.8, 0, 300)
    rows = problem.rows.copy()
    rows[3, 7] = -1
    complete = quiet_fit(
        problem.blank, np.delete(rows, 3, axis=0), groups="ising", objective="pseudo"
    )
    for method in ("exact", "herd"):
        fitted = quiet_fit(problem.blank, rows, groups="ising", method=method, steps=1, herd=16)
        best = complete.model.log_score(problem.rows).mean() - dense_log_z(complete.model)
        found = fitted.model.log_score(problem.rows).mean() - dense_log_z(fitted.model)
        assert found > best - 0.01
    rows[:, 2] = -1  # hidden, so that there is no pseudo-likelihood
    fitted = quiet_fit(problem.blank, rows, groups="ising", method="exact", steps=1)
    assert fitted.steps == 1


def test_short_fits_do_not_call_chains_of_some_sweeps_slow():
    problem = glass(12, 0.8, 0, 500)
    fitted = quiet_fit(problem.blank, problem.rows, groups="ising", method="herd", steps=20)
    assert 4.0 < fitted.mixing.memory < 20.0 and not fitted.mixing.is_slow

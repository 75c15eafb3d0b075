"""Stochastic fits never end below their start: what they choose, report, test and warn of."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import herded as hd
from benchmarks.learning.fit_problems import DenseIsing, dense_log_z, glass, spin_states
from herded.learn.assessment import likelihood_gain
from herded.learn.assessment.bennett_ratio import PathDraws, log_ratios
from herded.learn.assessment.curvature import largest_curvature
from herded.learn.assessment.gradient_test import (
    FALSE_ALARM_RATE,
    NEGLIGIBLE_GRADIENT_SIGMAS,
    TEST_POWER,
    check_gradient,
    critical_value,
    power_margin,
)
from herded.learn.assessment.likelihood_gain import LikelihoodGain, path_gain
from herded.learn.assessment.mixing import MemberAverages, variance_inflation
from herded.learn.fitting import averaged_gradient
from herded.learn.fitting.herd_moments import MomentHerd
from herded.learn.fitting.log_linear import build_log_linear
from herded.learn.fitting.objectives import TrainingRows
from herded.learn.fitting.training_loop import TrainingLoop
from tests.support.example_budget import examples

SHORT = {"method": "herd", "herd": 128, "steps": 40, "progress": False}


@pytest.fixture(scope="module")
def small_glass():
    return glass(14, 0.8, 3, 1_000)


def ferromagnet(n, strength, rows):
    """Spins that all agree, up or down: single-spin moves never cross."""
    ties = np.full((n, n), strength / n)
    np.fill_diagonal(ties, 0.0)
    machine = DenseIsing(np.full(n, 0.01), ties)
    return machine, machine.sample(rows, np.random.default_rng(0))


def fit_without_warnings(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error", hd.HerdedWarning)
        return hd.learn.fit(*args, groups="ising", **options)


def without_exact_criterion(monkeypatch):
    monkeypatch.setattr(likelihood_gain, "MAX_EXACT_BYTES", 1.0)


# -- the row of the issue ----------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.5, 1e3])
def test_likelihood_does_not_end_below_pseudo_likelihood(small_glass, rate, monkeypatch):
    """The herd alone decides, as for 30 spins; without the limit on rates it diverges."""
    without_exact_criterion(monkeypatch)
    problem = small_glass
    pseudo = hd.learn.fit(problem.blank, problem.rows, objective="pseudo", groups="ising")
    fitted = fit_without_warnings(problem.blank, problem.rows, **SHORT, rate=rate)
    assert fitted.criterion == "bridge"
    difference = problem.log_likelihood(fitted.model) - problem.log_likelihood(pseudo.model)
    assert difference > -1e-4


@pytest.mark.parametrize("use_exact", [True, False])
def test_steps_that_diverge_are_not_returned(small_glass, use_exact, monkeypatch):
    if not use_exact:
        without_exact_criterion(monkeypatch)
    step = averaged_gradient.AveragedAscent.step

    def overshoot(averaged):
        step(averaged)
        averaged.last = averaged.last + 0.3

    monkeypatch.setattr(averaged_gradient.AveragedAscent, "step", overshoot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        fitted = hd.learn.fit(small_glass.blank, small_glass.rows, groups="ising", **SHORT)
    assert fitted.chosen == "start" and fitted.gain == 0.0
    assert "converged in" not in fitted.convergence.replace("not converged in", "")
    pseudo = hd.learn.fit(small_glass.blank, small_glass.rows, objective="pseudo", groups="ising")
    np.testing.assert_allclose(fitted.parameters, pseudo.parameters, atol=0.02)


def test_gains_by_bridges_agree_with_exact_ones(monkeypatch):
    """With few rows pseudo-likelihood is well below the best likelihood."""
    problem = glass(14, 0.7, 1, 100, l2=0.01, **SHORT)
    exact = hd.learn.fit(problem.blank, problem.rows, **problem.options)
    without_exact_criterion(monkeypatch)
    bridge = hd.learn.fit(problem.blank, problem.rows, **problem.options)
    assert (exact.criterion, bridge.criterion) == ("exact", "bridge")
    assert exact.chosen == bridge.chosen != "start" and exact.gain_half_width == 0.0
    assert 0 < bridge.gain_half_width < bridge.gain
    assert abs(bridge.gain - exact.gain) <= bridge.gain_half_width
    np.testing.assert_array_equal(bridge.parameters, exact.parameters)


def test_the_exact_gain_is_the_difference_of_exact_likelihoods(small_glass):
    fitted = hd.learn.fit(small_glass.blank, small_glass.rows, groups="ising")
    start = hd.learn.fit(small_glass.blank, small_glass.rows, groups="ising", steps=1)
    gain = small_glass.log_likelihood(fitted.model) - small_glass.log_likelihood(start.model)
    assert fitted.criterion == "exact" and fitted.gradient_test is None
    assert fitted.gain - start.gain == pytest.approx(gain, abs=1e-9)


@pytest.mark.parametrize("objective", ["likelihood", "pseudo"])
def test_steps_in_batches_are_judged_exactly(small_glass, objective):
    fitted = fit_without_warnings(
        small_glass.blank, small_glass.rows, batch=100, steps=40, objective=objective
    )
    assert fitted.criterion == "exact" and fitted.gain >= 0.0 and fitted.mixing is None
    assert fitted.gradient_test.power == 1.0


def test_judging_takes_half_as_many_sweeps_as_the_fit(monkeypatch):
    """Of a fit with default steps, where draws of the herd decide."""
    without_exact_criterion(monkeypatch)
    calls, of = [], MomentHerd.of

    def counted(herd, parameters):
        calls.append(None)
        return of(herd, parameters)

    monkeypatch.setattr(MomentHerd, "of", counted)
    run = TrainingLoop.run

    def counted_run(steps, *args):
        run(steps, *args)
        calls.append("all steps")

    monkeypatch.setattr(TrainingLoop, "run", counted_run)
    rows = np.random.default_rng(0).integers(0, 2, (100, 4))
    blank = DenseIsing(np.zeros(4), np.zeros((4, 4))).model()
    hd.learn.fit(blank, rows, groups="ising", method="herd", herd=16, progress=False)
    of_fit = calls.index("all steps")
    assert len(calls) - 1 - of_fit <= 0.5 * of_fit


# -- slow mixing -------------------------------------------------------------------------------


def test_slow_mixing_is_said_and_ladders_decide(monkeypatch):
    without_exact_criterion(monkeypatch)
    _, rows = ferromagnet(16, 2.2, 500)
    blank = DenseIsing(np.zeros(16), np.zeros((16, 16))).model()
    with pytest.warns(hd.HerdedWarning, match="the model mixes slowly: chains"):
        fitted = hd.learn.fit(blank, rows, groups="ising", l2=1e-3, **SHORT)
    assert fitted.mixing.is_slow and not fitted.converged and fitted.criterion == "ladders"
    assert len(fitted.warnings) == 1 and "unreliable" in fitted.convergence
    pseudo = hd.learn.fit(blank, rows, groups="ising", l2=1e-3, objective="pseudo")
    values = [
        model.log_score(rows).mean() - dense_log_z(model) for model in (fitted.model, pseudo.model)
    ]
    assert values[0] > values[1] - 0.01


def test_mixing_of_independent_variables_is_fast():
    rows = np.random.default_rng(0).integers(0, 2, (500, 6))
    fitted = fit_without_warnings(hd.pairwise_model(np.zeros((6, 2)), [], []), rows, **SHORT)
    assert not fitted.mixing.is_slow and fitted.mixing.memory < 3 * 4
    assert fitted.converged and "would be detected with probability 0.95" in fitted.convergence


def autoregressive(rng, members, looks, memory):
    """States (looks, members) whose correlation falls by exp(-1 / memory) each look."""
    keep = np.exp(-1.0 / memory)
    x = [rng.normal(size=members)]
    for _ in range(looks - 1):
        x.append(keep * x[-1] + np.sqrt(1 - keep**2) * rng.normal(size=members))
    return np.array(x)


@pytest.mark.parametrize("memory", [2.0, 8.0])
def test_memory_of_chains_with_a_known_one(memory):
    averages = MemberAverages()
    for states in autoregressive(np.random.default_rng(0), 2_000, 400, memory):
        averages.add(states[:, None])
    keep = np.exp(-1.0 / memory)
    assert averages.memory() == pytest.approx((1 + keep) / (1 - keep), rel=0.15)


def test_memory_of_chains_that_never_move():
    averages, states = MemberAverages(), np.arange(100)[:, None] % 2
    for _ in range(50):
        averages.add(states)
    assert averages.memory() == pytest.approx(50, rel=0.02)
    assert np.isnan(MemberAverages().memory())


@pytest.mark.parametrize("memory", [1.0, 3.0, 6.0])
def test_errors_of_short_batches_are_those_of_correlated_looks(memory):
    """Means over 20 looks in 10 batches: true variance over that which the batches show."""
    keep = (memory - 1) / (memory + 1)
    x = autoregressive(np.random.default_rng(1), 4_000, 20, -1 / np.log(keep) if keep else 1e-9)
    averages = MemberAverages()
    for states in x:
        averages.add(states[:, None])
    batches = x.reshape(10, 2, -1).mean(axis=1)
    shown = (batches.var(axis=0, ddof=1) / 10).mean()
    ratio = x.mean(axis=0).var() / shown
    assert variance_inflation(averages.memory(), 20, 10) == pytest.approx(ratio, rel=0.12)
    assert variance_inflation(np.nan, 20, 10) == 1.0


# -- tests of gradients ------------------------------------------------------------------------


@pytest.mark.parametrize("batches", [10, 20])
def test_the_gradient_test_has_the_size_and_power_that_it_states(batches):
    rng, parameters, runs = np.random.default_rng(0), 20, 2_000
    unit = np.ones(parameters)
    stated = critical_value(parameters, batches) + power_margin(parameters, batches)
    false_alarms = found = 0
    for _ in range(runs):
        noise = rng.normal(0, 0.5 * np.sqrt(batches), (batches, parameters))
        error = noise.std(axis=0, ddof=1) / np.sqrt(batches)
        mean = noise.mean(axis=0)
        false_alarms += check_gradient(mean, error, unit, batches).is_significant
        mean[0] += 0.5 * stated
        found += check_gradient(mean, error, unit, batches).is_significant
    assert false_alarms / runs <= FALSE_ALARM_RATE + 4 * np.sqrt(FALSE_ALARM_RATE / runs)
    assert found / runs >= TEST_POWER - 0.02


def test_gradients_that_do_not_matter_pass_and_weak_tests_do_not():
    unit = np.ones(3)
    assert check_gradient(np.full(3, 0.99), np.full(3, 1e-6), unit, 16).passed
    assert not check_gradient(np.full(3, 1.01), np.full(3, 1e-6), unit, 16).passed
    weak = check_gradient(np.zeros(3), np.full(3, 100.0), unit, 16)
    assert not weak.passed and weak.is_weak and weak.detectable > 100
    assert check_gradient(np.full(3, 5.0), np.full(3, 0.1), unit, 16).is_significant
    undetected = check_gradient(np.array([3.3, 0.0, 0.0]), np.full(3, 1.0), unit, 16)
    assert undetected.is_weak and undetected.detectable > 4.0
    exact = check_gradient(np.full(3, 1.01), np.zeros(3), unit, 0)
    assert not exact.passed and (exact.power, exact.false_alarm) == (1.0, 0.0)
    assert exact.detectable == NEGLIGIBLE_GRADIENT_SIGMAS


# -- gains and curvature -----------------------------------------------------------------------


@examples(30)
@given(
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
)
def test_path_gains_of_a_known_function(start, end):
    """Simpson's rule is exact for cubic functions, so half-widths are rounding alone."""
    start, end = np.array(start), np.array(end)

    def value(x):
        return float((x**3 - 2 * x**2 + x).sum())

    def slopes(x, direction):
        return np.full(8, ((3 * x**2 - 4 * x + 1) * direction).sum())

    gain = path_gain(slopes, start, end)
    assert gain.value == pytest.approx(value(end) - value(start), abs=1e-9)
    assert gain.half_width < 1e-9


def test_path_gains_cover_noise_and_sharp_bends():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(300):
        noisy = path_gain(lambda x, d: 1.0 - x[0] + rng.normal(0, 0.2, 8), np.zeros(1), np.ones(1))
        covered += abs(noisy.value - 0.5) <= noisy.half_width
    assert covered >= 290
    bent = path_gain(lambda x, d: np.full(8, float(x[0] < 0.3)), np.zeros(1), np.ones(1))
    assert abs(bent.value - 0.3) <= bent.half_width
    assert not LikelihoodGain(0.1, 0.2).is_positive and LikelihoodGain(0.1, 0.05).is_positive


def normal_draws(rng, shift, calls=20, members=50):
    """W between normal models of variance 1 at 0 and at `shift`, from draws of each; log Z is 0."""
    first, second = rng.normal(0, 1, (calls, members)), rng.normal(shift, 1, (calls, members))
    return [x * shift - shift**2 / 2 for x in (first, second)]


def test_bennett_ratios_cover_the_truth_and_know_when_they_cannot():
    rng, z = np.random.default_rng(0), []
    for _ in range(200):
        low, high = normal_draws(rng, 1.0)
        higher, highest = normal_draws(rng, 2.0)
        path = [PathDraws(low, low, 1.0), PathDraws(higher, high, 1.0),
                PathDraws(highest, highest, 1.0)]  # fmt: skip
        ratios = log_ratios(path, 10)
        assert ratios[0] == (0.0, 0.0)
        z.append([one.value / one.error for one in ratios[1:]])
    np.testing.assert_allclose(np.std(z, axis=0), 9 / 7, rtol=0.25)  # Student's t with 9
    assert np.abs(np.mean(z, axis=0)).max() < 0.4
    far, away = normal_draws(rng, 9.0)
    apart = log_ratios([PathDraws(far, far, 1.0), PathDraws(away, away, 1.0)], 10)
    assert apart[1].error == np.inf


@examples(20)
@given(st.integers(2, 7), st.floats(0.0, 1.5), st.integers(0, 50))
@example(2, 0.0, 20)  # the start is near another eigenvector
def test_the_largest_curvature_is_that_of_the_correlation_matrix(n, strength, seed):
    rng = np.random.default_rng(seed)
    ties = np.triu(rng.normal(0, strength, (n, n)), 1)
    machine = DenseIsing(rng.normal(0, 0.2, n), ties + ties.T)
    states = machine.sample(300, rng)
    family = build_log_linear(machine.model(), "ising")
    rows = TrainingRows(family, states)
    spins = 2.0 * states - 1.0
    first, second = np.triu_indices(n, 1)
    statistics = np.concatenate([spins, spins[:, first] * spins[:, second]], axis=1)
    variance = rows.variances()
    scaled = statistics / np.sqrt(variance)
    exact = np.linalg.eigvalsh(np.atleast_2d(np.cov(scaled.T, bias=True)))[-1]
    found = largest_curvature(rows, variance, rows.columns, seed)
    assert 0.8 * exact <= found <= 1.001 * exact


# -- machines ----------------------------------------------------------------------------------


def bars():
    rng = np.random.default_rng(0)
    return (rng.random((200, 6)) < np.repeat(rng.choice([0.2, 0.8], (200, 2)), 3, axis=1)) + 0


def test_an_rbm_reports_what_it_chose():
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    rows = bars()
    machine = hd.learn.RBM(2, epochs=100, batch=50).fit(rows)
    report = machine.report_
    with pytest.warns(hd.HerdedWarning, match="nothing that is certainly better"):
        start = hd.learn.RBM(2, epochs=1, batch=50, rate=0.0).fit(rows)
    assert report.chosen in ("average", "end") and report.criterion == "exact"
    assert report.gain == pytest.approx(machine.score(rows) - start.score(rows), abs=1e-9)
    assert report.gain_half_width == 0.0 and start.report_.gain == 0.0
    assert not report.mixing.is_slow and report.warnings == ()


def test_an_rbm_that_diverges_is_not_returned():
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    rows = bars()
    with pytest.warns(hd.HerdedWarning, match="nothing that is certainly better"):
        wild = hd.learn.RBM(2, epochs=20, batch=50, rate=50.0).fit(rows)
    with pytest.warns(hd.HerdedWarning, match="nothing that is certainly better"):
        start = hd.learn.RBM(2, epochs=1, batch=50, rate=0.0).fit(rows)
    assert wild.score(rows) == start.score(rows)
    assert wild.report_.chosen == "start" and not wild.report_.converged


def test_an_rbm_too_large_to_enumerate_is_judged_by_annealing(monkeypatch):
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    from herded.learn.boltzmann import rbm_parameters

    rows = bars()
    exact = hd.learn.RBM(2, epochs=50, batch=50).fit(rows).report_
    monkeypatch.setattr(rbm_parameters, "MAX_ENUMERATED_STATES", 1)
    machine = hd.learn.RBM(2, epochs=50, batch=50).fit(rows)
    report = machine.report_
    assert report.criterion == "annealing" and report.gain_half_width > 0.0
    assert report.gain == pytest.approx(exact.gain, abs=3 * report.gain_half_width)


def test_an_rbm_whose_chains_never_cross_says_so():
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    rows = np.repeat([[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]], 40, axis=0)
    with pytest.warns(hd.HerdedWarning, match="the machine mixes slowly"):
        machine = hd.learn.RBM(2, epochs=400, batch=80, rate=1.0).fit(rows)
    assert machine.report_.mixing.is_slow and not machine.report_.converged


def test_a_boltzmann_machine_passes_on_what_fit_says():
    pytest.importorskip("sklearn", reason="an estimator of scikit-learn")
    machine = hd.learn.BoltzmannMachine(method="herd", herd=128, steps=40).fit(bars())
    assert machine.fitted_.criterion == "exact" and machine.fitted_.gain >= 0.0
    assert not machine.fitted_.mixing.is_slow
    _, rows = ferromagnet(16, 2.2, 500)
    with pytest.warns(hd.HerdedWarning, match="the model mixes slowly"):
        hd.learn.BoltzmannMachine(method="herd", herd=128, steps=40).fit(rows)


# -- the benchmark -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 5, 8])
def test_exact_sums_of_the_benchmark(n):
    rng = np.random.default_rng(n)
    ties = np.triu(rng.normal(size=(n, n)), 1)
    machine = DenseIsing(rng.normal(size=n), ties + ties.T)
    states = ((spin_states(n) > 0) + 0).astype(int)
    logs = machine.model().log_score(states)
    assert machine.log_z() == pytest.approx(np.log(np.exp(logs).sum()), abs=1e-9)
    assert dense_log_z(machine.model()) == pytest.approx(machine.log_z(), abs=1e-12)
    drawn = machine.sample(5_000, rng) @ (1 << np.arange(n))
    share = np.bincount(drawn, minlength=2**n) / 5_000
    assert np.abs(share - np.exp(logs - machine.log_z())).max() < 0.03

"""Runs that are short for their model: what a trace holds, and what is said of it."""

import warnings

import numpy as np
import pytest

import herded as hd
from herded.run import build_result, result_check
from herded.run.diagnostics.run_length import (
    TraceSeries,
    assess_length,
    compare_halves,
    series_times,
)
from herded.run.recording.trace import MAX_TRACE_LOOKS, Trace
from herded.system.diagnostics.kinds import DiagnosticKind

CRITICAL = 2.0 / np.log(1.0 + np.sqrt(2.0))
POTTS = hd.potts_grid(np.random.default_rng(5).normal(0, 0.3, (6, 7, 3)), 0.3)
SPARSE = hd.pairwise_model(
    np.random.default_rng(6).normal(0, 0.3, (30, 2)),
    [(i, (i * 7 + 3) % 30) for i in range(30)],
    0.3 * np.eye(2),
)
CUBE = hd.ising_grid(np.zeros((5, 4, 3)), 0.1)


def ising(size, temperature):
    return hd.ising_grid(np.zeros((size, size)), 1.0 / temperature, periodic=True)


def kinds(result):
    return [one.kind for one in result.diagnostics]


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        return hd.infer(*args, progress=False, **options)


@pytest.fixture
def traces(monkeypatch):
    """The traces of the last run."""
    seen = []

    def keep_and_assess(recorders, observables, model):
        seen[:] = recorders
        return assess_length(recorders, observables, model)

    monkeypatch.setattr(build_result, "assess_length", keep_and_assess)
    monkeypatch.setattr(result_check, "needs_other_starts", lambda _: False)  # which is another run
    return seen


# -- what a trace holds ----------------------------------------------------------------------------

METHODS = [
    hd.Gibbs(seed=3),
    hd.Gibbs(herd=8, seed=3),
    hd.Gibbs(herd=70, seed=3),
    hd.HerdedGibbs(herd=16, seed=3),
    hd.Tempered(hd.Gibbs(seed=3), 4),
    hd.Gibbs(herd=4, moves=hd.Blocks(), seed=3),
]


def is_ladder(method):
    return isinstance(method, hd.Tempered)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize(
    "model", [ising(8, 3.0), POTTS, SPARSE, CUBE], ids=["grid", "potts", "sparse", "cube"]
)
def test_a_trace_has_the_states_that_samples_have(model, method, traces):
    """Also where samples lie in no block, so that the run stops for each look."""
    options = {"sweeps": 150, "burn_in": 5, "chains": 2}
    samples = quiet(model, method, keep=[hd.Samples()], **options).samples
    read = [(r.looks(), r.arrays["series sweeps"], r.variables) for r in traces]
    quiet(model, method, **options)
    members = len(samples) // 2
    for c, recorder in enumerate(traces):
        mine = samples[c * members : (c + 1) * members].reshape(members, 150, -1)
        stopped = recorder.looks(), recorder.arrays["series sweeps"], recorder.variables
        # A ladder exchanges after its samples were taken: states of now are after an exchange.
        for looks, sweeps, variables in [read[c]] + [stopped] * (not is_ladder(method)):
            np.testing.assert_array_equal(
                looks, mine[:, sweeps - 1][:, :, variables].swapaxes(0, 1)
            )


def test_a_trace_of_a_large_lattice_reads_what_is_now(traces):
    """Kernels count there, and a stored state has a border."""
    model = ising(80, 3.0)
    quiet(model, hd.Gibbs(seed=1), sweeps=64, chains=2)
    now = [recorder.looks()[-1, 0] for recorder in traces]
    assert not any(recorder.reads for recorder in traces)
    states = quiet(model, hd.Gibbs(seed=1), sweeps=64, chains=2, keep=[hd.Samples(every=64)])
    for one, samples, recorder in zip(now, states.samples, traces, strict=True):
        np.testing.assert_array_equal(one, samples[-1].reshape(-1)[recorder.variables])


@pytest.mark.parametrize("sweeps", [10, 100, 1000, 1025])
def test_looks_are_evenly_spaced_and_few(sweeps, traces):
    quiet(SPARSE, hd.Gibbs(herd=16), sweeps=sweeps, chains=2)
    every = int(traces[0].arrays["every"][0])
    found = traces[0].arrays["series sweeps"]
    np.testing.assert_array_equal(found, every * np.arange(1, sweeps // every + 1))
    assert len(found) <= MAX_TRACE_LOOKS and (len(found) >= MAX_TRACE_LOOKS // 2 or every == 1)


def test_a_resumed_run_has_the_same_trace_and_says_the_same(tmp_path, traces):
    path, options = tmp_path / "run.npz", {"burn_in": 20, "chains": 2}
    model, method = ising(12, 2.3), hd.Gibbs(herd=16, seed=2)
    quiet(model, method, sweeps=130, checkpoint=path, **options)
    resumed = quiet(model, method, sweeps=400, checkpoint=path, **options)
    looks = [recorder.looks().copy() for recorder in traces]
    straight = quiet(model, method, sweeps=400, **options)
    for one, recorder in zip(looks, traces, strict=True):
        np.testing.assert_array_equal(one, recorder.looks())
    assert resumed.diagnostics == straight.diagnostics


def test_annealing_has_no_trace():
    run = quiet(SPARSE, hd.Gibbs(schedule="linear"), sweeps=20, keep=[hd.BestState()])
    assert not run.diagnostics and Trace.__doc__


# -- figures ---------------------------------------------------------------------------------------


def series(values, spacing=1.0):
    n = values.shape[2]
    return TraceSeries(values, spacing, ("x",) * n, ((),) * n)


def autoregressive(time, looks, rows, quantities, rng):
    """Normal values whose autocorrelation time is (1 + a) / (1 - a) = time."""
    a = (time - 1.0) / (time + 1.0)
    values = np.empty((looks, rows, quantities))
    values[0] = rng.normal(size=(rows, quantities))
    for t in range(1, looks):
        values[t] = a * values[t - 1] + np.sqrt(1 - a * a) * rng.normal(size=(rows, quantities))
    return values


@pytest.mark.parametrize(("rows", "looks"), [(256, 32), (64, 32), (4, 128)])
@pytest.mark.parametrize("time", [1.0, 3.0])
def test_times_of_series_with_known_times(rows, looks, time):
    rng = np.random.default_rng([rows, looks])
    times, bounds = series_times(series(autoregressive(time, looks, rows, 200, rng)))
    assert np.median(times) == pytest.approx(time, rel=0.2)
    many = rows > 16  # from few chains less is known
    assert (bounds < times).all() and (bounds <= time).mean() > (0.9 if many else 0.7)
    assert bounds.max() < (1.3 if many else 2.0) * time


def test_rows_that_never_move_have_a_time_as_long_as_the_run():
    rng = np.random.default_rng(1)
    still = np.broadcast_to(rng.integers(0, 2, (1, 128, 3)), (32, 128, 3)).astype(np.uint8)
    times, _ = series_times(series(still))
    np.testing.assert_allclose(times, 32.0, rtol=0.02)


def test_a_constant_tells_nothing():
    times, bounds = series_times(series(np.ones((32, 64, 2), np.uint8)))
    assert (times == 0).all() and (bounds == 0).all()


def test_halves_that_differ():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(32, 64, 50))
    steady = series(values)
    _, errors = compare_halves(steady, series_times(steady)[0])
    assert np.abs(errors).max() < 5.0 and 0.5 < errors.std() < 1.3
    drifting = series(values + 0.5 * (np.arange(32) >= 16)[:, None, None])
    means, errors = compare_halves(drifting, series_times(drifting)[0])
    assert (errors > 5.0).all()
    np.testing.assert_allclose(means[1] - means[0], 0.5, atol=0.2)


# -- runs that are short ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [hd.Gibbs(herd=64), hd.Gibbs(), hd.Tempered(hd.Gibbs(), 4), hd.HerdedGibbs(weights="shared")],
    ids=repr,
)
def test_a_critical_lattice_from_an_ordered_start_is_warned_of(method):
    """A row of the table of found errors, in small; marginals alone are recorded."""
    sweeps = 300 if isinstance(method, hd.Tempered) or method.herd > 1 else 1500
    with pytest.warns(hd.HerdedWarning):
        run = hd.infer(
            ising(32, CRITICAL), method, sweeps=sweeps, burn_in=sweeps, chains=4,
            start=np.ones((32, 32), int), progress=False,
        )  # fmt: skip
    assert {
        DiagnosticKind.SHORT_RUN,
        DiagnosticKind.HALVES_DIFFER,
        DiagnosticKind.START_MATTERS,
        DiagnosticKind.DISAGREEMENT,
    } & set(kinds(run))


def test_the_256_by_256_ising_model_from_an_ordered_start_is_warned_of():
    """The row itself, in two herds: its interval of the energy misses the exact value."""
    keep = [hd.Observable(hd.energy, every=20)]
    run = quiet(
        ising(256, 2.269), hd.Gibbs(herd=32), sweeps=2000, burn_in=2000, chains=2, keep=keep,
        start=np.ones((256, 256), int), threads=1,
    )  # fmt: skip
    found = next(one for one in run.diagnostics if one.kind == DiagnosticKind.SHORT_RUN)
    assert found.severity == "warning" and found.message in run.warnings
    assert found.figures["autocorrelation_time"] > 200 and found.figures["times"] <= 10
    assert "started from the same state" in found.message and str(found.remedy) in found.message


def test_ladders_that_crossed_seldom_are_warned_of():
    """Four of them may agree on one of two phases by chance."""
    for seed in (7, 16, 19):
        run = quiet(
            ising(24, 2.0), hd.Tempered(hd.Gibbs(seed=seed), 6), sweeps=500, burn_in=100, chains=4
        )
        assert {DiagnosticKind.SHORT_RUN, DiagnosticKind.FEW_ROUND_TRIPS} & set(kinds(run))
    assert DiagnosticKind.FEW_ROUND_TRIPS in kinds(run)


def test_the_diagnostic_has_the_figures_that_the_sentence_gives():
    run = quiet(ising(32, CRITICAL), hd.Gibbs(herd=64), sweeps=200, burn_in=100, chains=4)
    found = next(one for one in run.diagnostics if one.kind == DiagnosticKind.SHORT_RUN)
    time = found.figures["autocorrelation_time"]
    assert found.figures["sweeps"] == 200 and found.figures["times"] == pytest.approx(200 / time)
    assert 20 <= time <= 200 and f"{time:,.0f} sweeps or more" in found.message
    assert found.names["quantity"] in found.message and found.message in run.warnings


def test_runs_of_a_few_sweeps_are_short_for_every_model():
    """A time is at least one sweep. One chain has no interval that could be too narrow."""
    model = hd.FactorGraph([2, 2], [((0, 1), 0.1 * np.eye(2))])
    found = quiet(model, hd.Gibbs(herd=64), sweeps=6, chains=4).diagnostics
    assert [one.kind for one in found] == [DiagnosticKind.SHORT_RUN]
    assert found[0].figures == {
        "autocorrelation_time": 1.0,
        "sweeps": 6.0,
        "times": 6.0,
        "others": 0.0,
        "is_start_shared": 0.0,
    }
    assert kinds(quiet(model, hd.Gibbs(herd=64), sweeps=30, chains=4)) == []
    assert kinds(quiet(model, hd.Gibbs(), sweeps=6)) == ["one chain"]


def test_a_slow_observable_is_named():
    """Single spins forget soon; which of two wells they are in they remember."""

    def well(states):
        return (states.sum(axis=1) > 15).astype(float)

    edges = [(i, j) for j in range(30) for i in range(j)]
    model = hd.pairwise_model(np.zeros((30, 2)), edges, 2.0 / 30 * np.array([[1, -1], [-1, 1]]))
    run = quiet(model, hd.Gibbs(herd=64), sweeps=200, chains=4, keep=[hd.Observable(well)])
    found = next(one for one in run.diagnostics if one.kind == DiagnosticKind.SHORT_RUN)
    assert found.figures["autocorrelation_time"] > 100
    assert found in run.observables["well"].diagnostics


@pytest.mark.parametrize("method", [hd.Gibbs(herd=64), hd.Gibbs()], ids=repr)
def test_an_ordered_phase_is_compared_with_random_starts(method):
    """No chain leaves it, and all agree: only other starts tell."""
    model, start = ising(24, 1.6), np.ones((24, 24), int)
    run = quiet(model, method, sweeps=400, burn_in=100, chains=4, start=start)
    assert kinds(run) == [DiagnosticKind.START_MATTERS]
    assert abs(run.diagnostics[0].figures["probability"] - 0.5) > 0.4
    assert run.diagnostics[0].message in run.warnings


@pytest.mark.parametrize("method", [hd.Gibbs(herd=64), hd.Gibbs()], ids=repr)
def test_equal_starts_of_an_easy_model_are_a_note(method):
    start = np.ones((12, 12), int)
    with warnings.catch_warnings():
        warnings.simplefilter("error", hd.HerdedWarning)
        run = hd.infer(
            ising(12, 5.0), method, sweeps=800, burn_in=50, chains=4, start=start, progress=False
        )
    assert kinds(run) == [DiagnosticKind.EQUAL_STARTS] and run.diagnostics[0].severity == "info"
    assert run.warnings == (run.diagnostics[0].message,)


# -- and those that are not ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "sweeps"),
    [(hd.Gibbs(herd=64), 400), (hd.Gibbs(herd=8), 400), (hd.Gibbs(), 2000)],
    ids=repr,
)
@pytest.mark.parametrize(
    "model", [ising(12, 5.0), POTTS, SPARSE, CUBE], ids=["grid", "potts", "sparse", "cube"]
)
def test_easy_models_are_not_warned_of(model, method, sweeps):
    """Twelve seeds of each: at the 2 % that are allowed all of these tests would rarely pass."""
    for seed in range(12):
        with warnings.catch_warnings():
            warnings.simplefilter("error", hd.HerdedWarning)
            own = type(method)(herd=method.herd, seed=seed)
            keep = [hd.Marginals(), hd.PairMarginals()]
            assert not hd.infer(model, own, sweeps=sweeps, burn_in=20, chains=4, keep=keep).warnings

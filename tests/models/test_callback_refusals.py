"""Conditionals of one's own that break a promise: one sentence each, at the start or later."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.layouts.callback import consistency_checks


def fair(i, x, statistics, data, out):
    out[:] = 0.0


def attract(i, x, statistics, data, out):
    """Each of a few spins likes to be as the others are; their sum is kept."""
    out[0], out[1] = 0.0, 0.3 * (2.0 * (statistics[0] - x[i]) - (len(x) - 1))


def total(x, data):
    return np.array([float(x.sum())])


def count(i, old, new, x, statistics, data):
    statistics[0] += new - old


def model(conditional=attract, n=4, statistics=total, changed=count, **options):
    options = {"compiled": False, **options}
    return hd.ConditionalModel(
        [2] * n, conditional, statistics=statistics, changed=changed, **options
    )


def alone(conditional, n=4, **options):
    """A model that keeps nothing."""
    return model(conditional, n, statistics=None, changed=None, **options)


def refused(kind, told, run):
    with pytest.raises(kind) as caught:
        run()
    text = str(caught.value)
    assert told in text and "\n" not in text and len(text) < 600, text


# -- a model that is none -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"conditional": None}, "expected conditional as a function conditional(i, x, stat"),
        ({"conditional": lambda i, x: 0}, "got one that takes (i, x)"),
        ({"statistics": lambda x: 0}, "expected statistics as a function statistics(x, data)"),
        (
            {"changed": 3},
            "expected changed as a function changed(i, old, new, x, statistics, data)",
        ),
        ({"statistics": None}, "expected statistics= with changed="),
        ({"vectorised": "yes"}, "expected vectorised=True or False"),
        ({"neighbours": [[1], [0]]}, "expected neighbours as 4 lists"),
        ({"neighbours": [[1], [0], [], [4]]}, "as neighbours of variable 3, got 4"),
        ({"neighbours": [[0], [], [], []]}, "as neighbours of variable 0, got 0"),
        ({"data": np.array([None])}, "expected arrays of numbers in data"),
        ({"names": ["a", "a", "b", "c"]}, "expected distinct names"),
    ],
)
def test_arguments(options, told):
    refused(hd.ModelError, told, lambda: model(**options))


@pytest.mark.parametrize("cardinalities", [[], [2, 0], [2.5], "ab"])
def test_cardinalities(cardinalities):
    with pytest.raises(hd.ModelError, match="expected"):
        hd.ConditionalModel(cardinalities, fair)


# -- functions that do not do what they should ---------------------------------------------------


def raises(i, x, statistics, data, out):
    raise KeyError("no such thing")


def writes_too_far(i, x, statistics, data, out):
    out[2] = 0.0


def writes_too_little(i, x, statistics, data, out):
    out[0] = 0.0


def writes_states(i, x, statistics, data, out):
    x[i] = 0


def is_infinite(i, x, statistics, data, out):
    out[0], out[1] = 0.0, np.inf


def is_impossible(i, x, statistics, data, out):
    out[:] = -np.inf


def is_nan_later(i, x, statistics, data, out):
    out[0], out[1] = 0.0, np.nan if x.sum() - x[i] == len(x) - 1 else 4.0


def sees_itself(i, x, statistics, data, out):
    out[0], out[1] = 0.0, 0.1 * x[i]


def of_first(i, x, statistics, data, out):
    out[0], out[1] = 0.0, 1.0 * x[0] if i else 1.0 * x[1:].sum()


@pytest.mark.parametrize("method", [hd.Gibbs(), hd.Gibbs(herd=5)], ids=repr)
@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: alone(raises), "expected the model's functions to run, got KeyError: "),
        (lambda: alone(writes_too_far), "got IndexError: index 2 is out of bounds"),
        (lambda: alone(writes_too_little), "write all of out[0] to out[1]"),
        (lambda: alone(writes_states), "assignment destination is read-only"),
        (lambda: alone(is_infinite), "expected finite or -inf log-probabilities"),
        (lambda: alone(is_impossible), "-inf for all of them: pass start="),
        (lambda: alone(is_nan_later), "NaN or nothing for state 1"),
        (lambda: alone(sees_itself), "does not depend on its own state x[i]"),
        (
            lambda: alone(of_first, neighbours=[[1, 2], [0], [0], [0]]),
            "depends on its neighbours= alone, but it changes by",
        ),
        (lambda: model(changed=lambda i, old, new, x, s, data: None), "take x[i] out of the func"),
        (lambda: model(statistics=lambda x, data: 3.0), "expected an array of numbers or a tuple"),
        (lambda: model(statistics=lambda x, data: [][0]), "expected statistics to run, got Index"),
        (
            lambda: model(statistics=lambda x, data: np.zeros(1 + int(x.sum()))),
            "expected arrays of the same shapes and types from statistics",
        ),
    ],
)
def test_functions(method, made, told):
    """Found before or while the first sweeps run."""
    start = [1, 0, 1, 1] if "same shapes" in told else None
    refused(hd.ModelError, told, lambda: hd.infer(made(), method, sweeps=200, start=start))


def test_nan_that_comes_later(monkeypatch):
    """Where no look is due, the sweeps themselves notice."""
    monkeypatch.setattr(consistency_checks, "check_callbacks", lambda *_: None)
    run = lambda: hd.infer(alone(is_nan_later), hd.Gibbs(), sweeps=200)  # noqa: E731
    refused(
        hd.ModelError, "expected finite or -inf log-probabilities from conditional, got nan", run
    )


def forgets(i, old, new, x, statistics, data):
    """Right but for a little that piles up."""
    statistics[0] += (new - old) * (1 + 1e-5) if new else new - old


@pytest.mark.parametrize("method", [hd.Gibbs(), hd.Gibbs(herd=5)], ids=repr)
def test_statistics_that_drift(method, monkeypatch):
    # which would see it, too
    monkeypatch.setattr(consistency_checks, "check_locality", lambda *_: None)
    told = "expected statistics as a fresh build gives them, but after 16 sweeps they differ by"
    refused(hd.ModelError, told, lambda: hd.infer(model(changed=forgets), method, sweeps=50))


def test_rounding_does_not_pile_up(monkeypatch):
    """What is kept is built anew now and then: a millionth part of 1e-8 each time is forgiven."""

    def nearly(i, old, new, x, statistics, data):
        statistics[0] += new - old + 1e-10

    result = hd.infer(model(changed=nearly), hd.Gibbs(), sweeps=2000)
    assert (
        0 < abs(result.state[0].method_arrays["statistics0"][0, 0] - result.state[0].x.sum()) < 1e-6
    )


def test_statistics_may_do_without_changed():
    expected = hd.infer(model(), hd.Gibbs(herd=4), sweeps=20, keep=[hd.Samples()]).samples
    found = hd.infer(model(changed=None), hd.Gibbs(herd=4), sweeps=20, keep=[hd.Samples()]).samples
    np.testing.assert_array_equal(found, expected)


def test_conditionals_of_no_joint():
    def follows(i, x, statistics, data, out):
        out[0], out[1] = 0.0, 2.0 * x[i - 1]  # the one before, which does not feel it

    with pytest.warns(hd.HerdedWarning, match="belong to no joint distribution: changing"):
        hd.infer(alone(follows), hd.Gibbs(), sweeps=20)


# -- compiled -------------------------------------------------------------------------------------


def in_a_dict(i, x, statistics, data, out):
    out[0], out[1] = 0.0, data["field"]


def by_name(i, x, statistics, data, out):
    out[0], out[1] = 0.0, float(format(1.0, ".1f"))


def warms(i, x, statistics, data, out):
    out[:] = 0.0
    if x.sum() - x[i] == len(x) - 1:
        raise ValueError("too warm")


def test_what_cannot_be_compiled_runs_as_python():
    """And says what that costs; who knows is not told."""
    for conditional, data, why in (
        (in_a_dict, {"field": 1.0}, "data holds something other than numbers, arrays and tuples"),
        (by_name, (), "since "),
    ):
        slow = alone(conditional, compiled=None, data=data)
        with pytest.warns(hd.HerdedWarning, match="run as plain Python") as told:
            result = hd.infer(slow, hd.Gibbs(herd=8), sweeps=60, chains=2)
        assert why in str(told[0].message) and "times as long as" in result.warnings[0]
        odds = 1 / (1 + np.exp(-1.0))
        assert np.abs(result.marginals[:, 1] - odds).max() < 0.1
        known = hd.infer(alone(conditional, data=data), hd.Gibbs(herd=8), sweeps=60, chains=2)
        assert not known.warnings
        np.testing.assert_array_equal(known.marginals, result.marginals)
        refused(
            hd.ModelError,
            "expected functions that Numba can compile, but ",
            lambda c=conditional, d=data: hd.infer(alone(c, compiled=True, data=d), hd.Gibbs()),
        )


def test_compiled_functions_may_raise():
    run = lambda: hd.infer(alone(warms, compiled=True), hd.Gibbs(), sweeps=500)  # noqa: E731
    refused(hd.ModelError, "to run, got ValueError: too warm: correct the function", run)


# -- zeros, methods, memory ------------------------------------------------------------------------


def alike(i, x, statistics, data, out):
    """All variables must be alike."""
    for k in range(len(out)):
        out[k] = 0.0 if (x == k).sum() - (x[i] == k) == len(x) - 1 else -np.inf


def test_hard_zeros_need_a_start():
    hard = alone(alike)
    refused(
        hd.ModelError, "pass start= (a possible state)", lambda: hd.infer(hard, hd.Gibbs(seed=3))
    )
    result = hd.infer(hard, hd.Gibbs(), sweeps=5, start=[1, 1, 1, 1])
    assert result.marginals[:, 1].tolist() == [1.0] * 4
    refused(
        hd.ModelError,
        "expected a start of positive probability",
        lambda: hd.infer(hard, hd.Gibbs(), start=[0, 0, 0, 1]),
    )
    assert hard.log_score([0, 1, 1, 1]) == -np.inf
    refused(hd.ModelError, "leads through impossible states", lambda: hard.log_score([1, 1, 1, 1]))


@pytest.mark.parametrize(
    ("method", "told"),
    [
        (hd.HerdedGibbs(), "expected neighbours= of few variables"),
        (hd.HerdedGibbs("shared"), "which needs conditionals tabulated"),
        (hd.Gibbs(scan="checkerboard"), "expected neighbours= of a ConditionalModel for scan="),
        (hd.Gibbs(scan="jacobi"), "expected a scan of one variable at a time"),
        (hd.Gibbs(moves=hd.Blocks()), "use Gibbs(herd=64), Gibbs() or HerdedGibbs"),
        (hd.Exact(), "use Gibbs(herd=64), Gibbs() or HerdedGibbs"),
        (hd.BeliefPropagation(), "use Gibbs(herd=64), Gibbs() or HerdedGibbs"),
    ],
    ids=repr,
)
def test_methods(method, told):
    refused(hd.MethodError, told, lambda: hd.infer(model(), method))


def test_layouts_and_memory():
    refused(hd.MethodError, "factor", lambda: hd.infer(model(), hd.Gibbs(), layout="factor"))
    grid = hd.ising_grid(np.zeros((2, 2)))
    told = "it is not a ConditionalModel"
    refused(hd.MethodError, told, lambda: hd.infer(grid, hd.Gibbs(), layout="function"))
    large = model(statistics=lambda x, data: np.zeros(2**17), changed=None)
    run = lambda: hd.infer(large, hd.Gibbs(herd=64), max_memory="50M")  # noqa: E731
    refused(hd.MemoryLimitError, "expected the states of a herd of at most 50.0 MiB", run)
    refused(
        hd.ModelError,
        "expected a FactorGraph or a Lattice",
        lambda: hd.save_model(model(), "a.npz"),
    )


@given(values=st.lists(st.floats(), min_size=2, max_size=3))
def test_any_numbers_give_an_answer_or_a_sentence(values):
    def given_ones(i, x, statistics, data, out):
        out[:] = data

    odd = hd.ConditionalModel([len(values)] * 2, given_ones, data=tuple(values), compiled=False)
    try:
        found = hd.infer(odd, hd.Gibbs(), sweeps=3, keep=[hd.Marginals(rao_blackwell=True)])
    except hd.ModelError:
        found = None
    wrong = np.isnan(values).any() or max(values) in (np.inf, -np.inf)
    assert (found is None) == wrong
    if found is not None:
        logits = np.array(values) - max(values)
        with np.errstate(under="ignore"):
            expected = np.exp(logits) / np.exp(logits).sum()
        np.testing.assert_allclose(found.marginals, [expected] * 2, atol=1e-6)

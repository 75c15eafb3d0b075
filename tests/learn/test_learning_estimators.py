"""Learners and bad input; VariableSelector and DirichletMixture keep scikit-learn's promises."""

import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="these are estimators for scikit-learn")

from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import herded as hd
from herded.errors import MethodError

MIXTURE = hd.learn.DirichletMixture(sweeps=20, herd=2, chains=2, progress=False)


@parametrize_with_checks([hd.learn.VariableSelector(), MIXTURE])
def test_scikit_learn_accepts_them(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No features were selected")  # of pure noise
        check(estimator)


def test_a_selector_takes_part_in_a_pipeline():
    X = np.random.default_rng(0).normal(size=(50, 4))
    y = X[:, 2] * 3 + X[:, 0]
    steps = make_pipeline(hd.learn.VariableSelector(), LinearRegression()).fit(X, y)
    assert steps.score(X, y) == pytest.approx(1)
    selector = clone(steps[0]).set_params(threshold=1.0).fit(X, y)
    assert selector.threshold == 1.0 and selector.score(X, y) > 0.99
    with pytest.raises(MethodError, match="expected threshold as a number from 0 to 1, got 2"):
        clone(selector).set_params(threshold=2).fit(X, y)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("VariableSelector", "variable_selection.estimator"),
        ("DirichletMixture", "mixture.dirichlet_mixture"),
    ],
)
def test_scikit_learn_may_be_missing(name, module, monkeypatch):
    getattr(hd.learn, name)  # found before
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, f"herded.learn.{module}")
    monkeypatch.delattr(hd.learn, name)
    with pytest.raises(MethodError, match=rf"scikit-learn .* for {name}.*'herded\[learn\]'"):
        getattr(hd.learn, name)
    assert name in dir(hd.learn)
    everything: dict = {}
    exec("from herded.learn import *", everything)
    assert "select_variables" in everything and name not in everything


RNG = np.random.default_rng(0)
REAL, BITS = RNG.normal(size=(40, 4)), RNG.integers(0, 2, (40, 4))
TARGET = REAL[:, 0] + RNG.normal(size=40)
SHORT = {"sweeps": 10, "progress": False}


def grid_of(X):
    return hd.ising_grid(np.zeros((1, np.shape(X)[-1])), 0.0)


def sampled(X, method):
    return hd.learn.select_variables(X, TARGET[: len(X)], method=method, sweeps=50)


LEARNERS = {
    "all models": lambda X: hd.learn.select_variables(X, TARGET[: len(X)]),
    "models sampled": lambda X: sampled(X, "herd"),
    "models herded": lambda X: sampled(X, "herded"),
    "selector": lambda X: hd.learn.VariableSelector().fit(X, TARGET[: len(X)]),
    "gaussian": lambda X: hd.learn.DirichletMixture(**SHORT).fit(X),
    "categorical": lambda X: hd.learn.DirichletMixture("categorical", **SHORT).fit(X),
    "RBM": lambda X: hd.learn.RBM(2, epochs=2, progress=False).fit(X),
    "machine": lambda X: hd.learn.BoltzmannMachine(hidden=1, steps=20, progress=False).fit(X),
    "fit": lambda X: hd.learn.fit(grid_of(X), X),
    "structure": lambda X: hd.learn.find_structure(X),
}
REALS = ("all models", "models sampled", "models herded", "selector", "gaussian")
FINE, VARIES, TWO = "", "expected .* var", "expected two rows of data or more, got 1"
NANS = "expected (finite|whole) numbers in (X|data), got (nan in row 3|NaN at)|Input X contains NaN"
ROWS = "expected X with 3 rows or more, got n_samples = 1"
WHOLE = "expected whole numbers"
SAID = {  # by learner; all others learn
    "constant column": {"fit": VARIES, "structure": VARIES},
    "fewer rows than columns": {"fit": VARIES, "structure": VARIES},
    "duplicated columns": {"fit": VARIES},
    "NaN": dict.fromkeys(LEARNERS, NANS),
    "one row": {
        **dict.fromkeys(LEARNERS, TWO),
        **dict.fromkeys(REALS, ROWS),
        **dict.fromkeys(("gaussian", "categorical"), VARIES),
    },
    "one state": {**dict.fromkeys(LEARNERS, VARIES), "RBM": FINE, "machine": FINE},
    "not whole": dict.fromkeys(("categorical", "RBM", "fit", "structure"), WHOLE),
}


def spoilt(case, rows):
    """Rows of the issue's list."""
    found = rows.astype(float)
    if case == "constant column":
        found[:, 1] = 0
    elif case == "fewer rows than columns":
        found = np.tile(found[:5], 3)
    elif case == "duplicated columns":
        found[:, 1] = found[:, 0]
    elif case == "NaN":
        found[3, 1] = np.nan
    elif case == "not whole":
        found += 0.25
    return found[:1] if case == "one row" else 0 * found if case == "one state" else found


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", SAID)
@pytest.mark.parametrize("name", LEARNERS)
def test_what_cannot_be_learned_from_is_a_sentence_and_all_else_is_learned(name, case):
    """Constant and duplicated columns, few rows, NaN, one state, fractions: for each learner."""
    said, X = SAID[case].get(name, FINE), spoilt(case, REAL if name in REALS else BITS)
    if not said:
        LEARNERS[name](X)
        return
    with pytest.raises(ValueError, match=f"^({said})") as caught:
        LEARNERS[name](X)
    assert "scikit-learn" in str(caught.value) or "\n" not in str(caught.value)

"""VariableSelector and DirichletMixture keep scikit-learn's promises."""

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
    ("name", "module"), [("VariableSelector", "selector"), ("DirichletMixture", "mixture")]
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

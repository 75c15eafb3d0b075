"""IsingDenoiser keeps scikit-learn's promises."""

import sys

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="IsingDenoiser needs scikit-learn")

from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from herded import vision
from herded.errors import MethodError
from herded.vision import IsingDenoiser, denoise

NOISE = np.random.default_rng(0).normal(size=(3, 36))


@parametrize_with_checks([IsingDenoiser(sigma=1.0, coupling=0.5, levels=(-1.0, 1.0), sweeps=3)])
def test_scikit_learn_accepts_it(estimator, check):
    """With nothing to estimate: dozens of checks restore hundreds of pictures."""
    check(estimator)


def test_scikit_learn_accepts_what_is_estimated():
    """What depends on the data; rows are estimated one by one, as the tests below see."""
    estimator_checks.check_fit_idempotent("estimated", IsingDenoiser(sweeps=2))


@pytest.mark.parametrize("kind", ["float32", "int32", "int64"])
def test_other_types_are_estimated_as_their_numbers(kind):
    rows = np.round(4 * NOISE[:1]).astype(kind)
    found = IsingDenoiser(sweeps=2).fit(rows).transform(rows)
    np.testing.assert_array_equal(found, IsingDenoiser(sweeps=2).fit_transform(rows.astype(float)))


def test_scikit_learn_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "herded.vision.estimator")
    monkeypatch.delattr(vision, "IsingDenoiser", raising=False)  # found before
    with pytest.raises(MethodError, match=r"scikit-learn .* for IsingDenoiser.*'herded\[vision\]'"):
        _ = vision.IsingDenoiser
    assert "IsingDenoiser" in dir(vision)
    everything: dict = {}
    exec("from herded.vision import *", everything)
    assert "denoise" in everything


@pytest.mark.parametrize("known", [{}, {"sigma": 1.0}])
def test_rows_are_pictures(known):
    """Each by itself, whatever the others are: with its own estimates, where there are any."""
    rows = NOISE[:2]
    found = IsingDenoiser(**known, shape=(4, 9)).fit_transform(rows)
    for row, restored in zip(rows, found, strict=True):
        assert np.array_equal(restored.reshape(4, 9), denoise(row.reshape(4, 9), **known))


def test_a_square_is_recognised_and_anything_else_is_a_line():
    assert IsingDenoiser().fit(NOISE).shape_ == (6, 6)
    assert IsingDenoiser().fit(NOISE[:, :35]).shape_ == (1, 35)


def test_clone_get_and_set():
    estimator = IsingDenoiser(
        sigma=2.0, coupling=0.5, levels=3, noise="gauss", sweeps=5, shape=(6, 6)
    )
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert copy.set_params(sweeps=7).sweeps == 7 and estimator.sweeps == 5


@pytest.mark.parametrize("shape", [(5, 7), (36, 2), (6,), (6, 6, 1), 36, "6x6", (-6, -6), (2.5, 4)])
def test_a_wrong_shape_is_a_sentence(shape):
    with pytest.raises(ValueError, match=r"^expected "):
        IsingDenoiser(shape=shape).fit(NOISE)


@pytest.mark.parametrize(
    "option", [{"sigma": -1}, {"coupling": "x"}, {"levels": 1}, {"noise": "x"}, {"sweeps": 0}]
)
def test_a_wrong_option_is_a_sentence(option):
    with pytest.raises(ValueError, match=r"^expected "):
        IsingDenoiser(**option).fit(NOISE).transform(NOISE)


def test_it_takes_part_in_a_pipeline():
    denoiser = IsingDenoiser(sigma=1.0, coupling=0.5, levels=(-1.0, 1.0), sweeps=2)
    steps = make_pipeline(FunctionTransformer(lambda rows: rows + 1), denoiser)
    assert steps.fit_transform(NOISE).shape == NOISE.shape

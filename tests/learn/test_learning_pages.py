"""The pages on variable selection and mixtures print what they say; peers sample what we sample."""

import numpy as np
import pytest

import herded as hd
from benchmarks.learning import bayesian_models
from tests.support.page_transcripts import transcripts

pytest.importorskip("sklearn", reason="the pages use estimators of scikit-learn")


@pytest.mark.parametrize("page", ["variable-selection", "mixtures"])
def test_pages_print_what_they_say(page):
    found = transcripts(page)
    assert len(found) >= 2
    for said, printed in found:
        assert printed == said


def test_samplers_by_hand_sample_the_same_posterior(monkeypatch):
    """The benchmark's peers: else it would compare different things."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X[:, 0] + 0.4 * X[:, 1] + rng.normal(size=30)
    task = bayesian_models.Task(X, y, 0.5, [0], 1, np.zeros(4))
    exact = hd.learn.select_variables(X, y).inclusion
    monkeypatch.setattr(bayesian_models, "gibbs_selection", bayesian_models.gibbs_selection.py_func)
    assert bayesian_models.by_hand(task, 2000, 0) == pytest.approx(exact, abs=0.02)
    assert bayesian_models.by_herd(task, 100, 0) == pytest.approx(exact, abs=0.02)

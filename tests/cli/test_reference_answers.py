"""A reference of other evidence is named, and numbers that are too large are refused."""

import numpy as np
import pytest

import herded as hd
from tests.support.commands import found, run

MODEL = hd.pairwise_model(
    np.array([[0.0, 0.4], [0.3, 0.0], [0.0, 0.0]]), [(0, 1), (1, 2)], 0.7 * np.eye(2)
)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hd.io.write_uai(MODEL, "chain.uai")
    for name, evidence in (
        ("free", {}),
        ("seen", {0: 1}),
        ("other", {0: 0}),
        ("more", {0: 1, 2: 1}),
    ):
        marginals = hd.infer(MODEL.given(evidence)).marginals
        hd.io.write_mar(marginals, f"{name}.MAR", MODEL.cardinalities)


def warned(capsys, reference, *given):
    options = [word for text in given for word in ("--given", text)]
    return found(capsys, "infer", "chain.uai", "--reference", f"{reference}.MAR", *options)[
        "warnings"
    ]


def test_a_reference_of_the_same_evidence(capsys):
    assert warned(capsys, "free") == []
    assert warned(capsys, "seen", "0=1") == []


def test_a_reference_of_other_evidence(capsys):
    for reference in ("free", "other"):
        [sentence] = warned(capsys, reference, "0=1")
        assert sentence.startswith("the reference has other evidence: variable 0 is observed here")


def test_a_reference_that_fixes_what_nobody_observed(capsys):
    [sentence] = warned(capsys, "seen")
    assert "fixes what nobody has observed: variable 0 is certain there" in sentence
    [sentence] = warned(capsys, "more")
    assert "variables 0, 2 are certain there" in sentence
    code, out, _ = run(capsys, "infer", "chain.uai", "--reference", "seen.MAR")
    assert code == 0 and "\nwarning    the reference fixes" in out


@pytest.mark.parametrize("size", [1e16, -1e16, 1.7e308, 2e12])
def test_numbers_too_large_are_refused(size):
    with pytest.raises(
        hd.ModelError, match="expected log-potentials whose sizes add up to at most"
    ):
        hd.FactorGraph([2, 2], [((0, 1), [[size, 0.0], [0.0, 1.0]])])
    with pytest.raises(hd.ModelError, match="expected log-potentials whose sizes"):
        hd.ising_grid([[size, 0.0]])
    with pytest.raises(hd.ModelError, match="expected log-potentials whose sizes"):
        hd.potts_grid(np.zeros((2, 2, 2)), size)


def test_many_large_numbers_are_refused_too():
    tables = [((i,), [0.0, 1e9]) for i in range(2000)]
    with pytest.raises(hd.ModelError, match="expected log-potentials whose sizes"):
        hd.FactorGraph([2] * 2000, tables)
    hd.FactorGraph([2] * 900, tables[:900])


@pytest.mark.parametrize("method", [hd.Exact(), hd.BeliefPropagation()])
def test_large_numbers_that_cancel(method):
    """What is left of them decides."""
    a, b = 1e10, 0.5
    factors = [((0, 1), [[a, a + b], [0.0, 0.0]]), ((0,), [-a, 0.0])]
    result = hd.infer(hd.FactorGraph([2, 2], factors), method)
    assert bool(result.warnings) == (method != hd.Exact())  # of log Z
    truth = np.exp([[0.0, b], [0.0, 0.0]])
    truth /= truth.sum()
    np.testing.assert_allclose(result.marginals[1], truth.sum(axis=0), atol=1e-5)
    np.testing.assert_allclose(result.marginals[0], truth.sum(axis=1), atol=1e-5)

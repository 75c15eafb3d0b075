"""Names of states: kept by a model, and understood in evidence."""

import pytest

import herded as hd
from herded.errors import ModelError

STATES = [["yes", "no"], ("low", "middle", "high")]


def weather(state_names=STATES):
    table = [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]
    factors = [((0, 1), table)]
    return hd.FactorGraph([2, 3], factors, names=["rain", "wind"], state_names=state_names)


def test_state_names_are_kept():
    model = weather()
    assert model.state_names == (("yes", "no"), ("low", "middle", "high"))
    assert model.given({"rain": 0}).state_names == model.state_names
    assert model.content_hash == weather(None).content_hash
    assert hd.ising_grid([[0.0]]).state_names is None


def test_evidence_by_name_of_variable_and_state():
    model = weather().given({"rain": "no", "wind": "high"})
    assert model.evidence.tolist() == [1, 2]
    assert weather().given({0: "no", "wind": 2}).evidence.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (
            {"wind": "strong"},
            "expected evidence from 0 to 2 or one of ('low', 'middle', 'high') for variable "
            "'wind', got 'strong'",
        ),
        (
            {"rain": 2},
            "expected evidence from 0 to 1 or one of ('yes', 'no') for variable 'rain', got 2",
        ),
    ],
)
def test_evidence_refused(evidence, message):
    with pytest.raises(ModelError) as caught:
        weather().given(evidence)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("state_names", "message"),
    [
        ([["yes", "no"]], "expected the state names of 2 variables"),
        (5, "expected the state names of 2 variables, got 5"),
        ([["yes"], ["a", "b", "c"]], "expected 2 state names of variable 0, got 1"),
        ([["yes", "no"], 3], "expected 3 state names of variable 1, got 3"),
        ([["yes", "no"], "aba"], "expected distinct state names of variable 1, got 'a' twice"),
    ],
)
def test_state_names_refused(state_names, message):
    with pytest.raises(ModelError, match=message):
        weather(state_names)

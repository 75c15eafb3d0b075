"""Models of other libraries: dimod's quadratic models, and pgmpy's nets and networks."""

import gzip
import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.errors import ModelError
from tests.io.bayes_nets import shipped_nets

# -- dimod -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dimod():
    return pytest.importorskip("dimod", reason="quadratic models are dimod's")


def energies(bqm, values):
    """E of every state of the labels in order, the last fastest."""
    labels = list(bqm.variables)
    states = itertools.product(values, repeat=len(labels))
    return [bqm.energy(dict(zip(labels, state, strict=True))) for state in states]


def scores(model):
    free = np.flatnonzero(model.evidence < 0)
    found = []
    for state in itertools.product([0, 1], repeat=len(free)):
        x = model.evidence.copy()
        x[free] = state
        found.append(model.log_score(x))
    return np.array(found)


@pytest.mark.parametrize(("vartype", "values"), [("SPIN", (-1, 1)), ("BINARY", (0, 1))])
def test_energies_become_scores(dimod, vartype, values):
    linear = {"a": 1.5, ("b", 2): -0.5, 3: 0.0}
    quadratic = {("a", ("b", 2)): 2.0, (("b", 2), 3): -1.0}
    bqm = dimod.BinaryQuadraticModel(linear, quadratic, 0.75, vartype)
    model = hd.from_bqm(bqm, beta=2.0)
    assert model.names == ("a", "('b', 2)", "3")
    assert model.state_names == ((str(values[0]), "1"),) * 3
    np.testing.assert_allclose(scores(model), -2.0 * np.array(energies(bqm, values)))
    assert model.given({"a": str(values[0])}).evidence.tolist() == [0, -1, -1]


def test_a_spin_chain_has_the_marginals_of_its_energies(dimod):
    bqm = dimod.BinaryQuadraticModel({"a": 0.3}, {"ab": -1.0, "bc": 0.5}, 0.1, "SPIN")
    result = hd.infer(hd.from_bqm(bqm, beta=0.7), hd.Exact())
    weights = np.exp(-0.7 * np.array(energies(bqm, (-1, 1)))).reshape(2, 2, 2)
    expected = weights.sum(axis=(1, 2)) / weights.sum()
    np.testing.assert_allclose(result.marginals[0], expected)
    assert result.log_z == pytest.approx(np.log(weights.sum()))


@st.composite
def quadratic_models(draw):
    n = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scopes = draw(st.lists(st.lists(st.integers(0, n - 1), max_size=2, unique=True), max_size=8))
    factors = [(scope, rng.normal(size=[2] * len(scope))) for scope in scopes]
    names = [f"v{i}" for i in range(n)] if draw(st.booleans()) else None
    model = hd.FactorGraph([2] * n, factors, names=names)
    clamped = draw(st.lists(st.integers(0, n - 1), max_size=n - 1, unique=True))
    return model.given({i: int(rng.integers(2)) for i in clamped})


@given(quadratic_models(), st.sampled_from(["SPIN", "BINARY"]), st.sampled_from([1.0, 0.25]))
def test_scores_become_energies(dimod, model, vartype, beta):
    bqm = hd.qubo.to_bqm(model, beta=beta, vartype=vartype)
    free = np.flatnonzero(model.evidence < 0).tolist()
    assert set(bqm.variables) == {model.names[i] if model.names else i for i in free}
    assert bqm.vartype.name == vartype
    back = hd.from_bqm(bqm, beta=beta)
    order = [back.names.index(model.names[i] if model.names else str(i)) for i in free]
    found = scores(back).reshape([2] * len(free)).transpose(order).ravel()
    np.testing.assert_allclose(found, scores(model), atol=1e-9)


def test_a_lattice_becomes_a_quadratic_model(dimod):
    bqm = hd.qubo.to_bqm(hd.ising_grid([[0.5, -1.0]], 2.0), vartype="SPIN")
    assert bqm.linear == {0: -0.5, 1: 1.0}
    assert bqm.quadratic[0, 1] == -2.0 and bqm.offset == 0


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (hd.FactorGraph([2, 3], []), {}, "expected two states of every variable, got 3 of"),
        (hd.FactorGraph([2] * 3, [((0, 1, 2), np.zeros((2, 2, 2)))]), {}, "got 3 in factor 0"),
        (hd.FactorGraph([2], [((0,), [0, -np.inf])]), {}, "expected finite log-potentials"),
        (hd.FactorGraph([2], []), {"beta": 0}, "expected beta above 0, got 0"),
        (hd.FactorGraph([2], []), {"beta": np.nan}, "expected a finite beta"),
        (hd.FactorGraph([2], []), {"vartype": "TERNARY"}, "expected vartype="),
        ("a.uai", {}, "expected a model, got 'a.uai': read it first, with read_model"),
    ],
)
def test_what_is_not_quadratic_is_refused(dimod, model, options, message):
    with pytest.raises(ModelError, match=message):
        hd.qubo.to_bqm(model, **options)


def test_other_things_are_not_quadratic_models(dimod):
    with pytest.raises(ModelError, match=r"expected a dimod\.BinaryQuadraticModel, got dict"):
        hd.from_bqm({})
    bqm = dimod.BinaryQuadraticModel({"a": 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(ModelError, match="expected numbers in beta"):
        hd.from_bqm(bqm, beta="warm")
    with pytest.raises(ModelError, match="distinct names"):
        hd.from_bqm(dimod.BinaryQuadraticModel({1: 1.0, "1": 1.0}, {}, 0.0, "SPIN"))
    with pytest.raises(ModelError, match="cardinalities"):
        hd.from_bqm(dimod.BinaryQuadraticModel("SPIN"))


def test_dimod_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "dimod", None)
    with pytest.raises(ModelError, match=r"pip install 'herded\[dimod\]'"):
        hd.qubo.to_bqm(hd.FactorGraph([2], []))


# -- pgmpy -------------------------------------------------------------------------------------


def table(variables, values, **state_names):
    values = np.array(values)
    names = dict(zip(variables, map(range, values.shape), strict=True))
    return SimpleNamespace(variables=variables, values=values, state_names=names | state_names)


def fake_net(*tables, nodes):
    """What `from_pgmpy` asks a pgmpy DiscreteBayesianNetwork for."""
    of = {t.variables[0]: t for t in tables}
    return SimpleNamespace(nodes=nodes, get_cpds=of.get)


RAIN = table(["rain"], [0.2, 0.8], rain=["yes", "no"])
WET = table(["wet", "rain"], [[0.9, 0.1], [0.1, 0.9]], rain=["yes", "no"])


def test_a_bayes_net():
    model = hd.from_pgmpy(fake_net(RAIN, WET, nodes=["wet", "rain"]))
    assert model.names == ("wet", "rain") and model.state_names == (("0", "1"), ("yes", "no"))
    assert model.factor(0)[0].tolist() == [1, 0] and model.factor(1)[0].tolist() == [1]
    np.testing.assert_allclose(np.exp(model.factor(0)[1]), [[0.9, 0.1], [0.1, 0.9]])
    skewed = table(["wet", "rain"], [[1.0, 0.3], [0.0, 0.7]], rain=["yes", "no"])
    model = hd.from_pgmpy(fake_net(RAIN, skewed, nodes=["wet", "rain"]))
    np.testing.assert_allclose(np.exp(model.factor(0)[1]), [[1.0, 0.0], [0.3, 0.7]])


def test_a_markov_network():
    factors = [table(["a", 2], [[1.0, 2.0, 3.0], [4.0, 5.0, 0.0]]), table([2], [1.0, 1.0, 2.0])]
    model = hd.from_pgmpy(SimpleNamespace(nodes=[2, "a"], get_factors=lambda: factors))
    assert model.names == ("2", "a") and model.cardinalities.tolist() == [3, 2]
    assert model.factor(0)[0].tolist() == [1, 0]
    np.testing.assert_allclose(np.exp(model.factor(0)[1]), [[1, 2, 3], [4, 5, 0]])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (5, "expected a Bayes net, Markov network or factor graph of pgmpy, got int"),
        (fake_net(RAIN, nodes=["rain", "wet"]), "a table of probabilities for 'wet', got NoneType"),
        (
            fake_net(RAIN, table(["wet", "rain"], [[1, 1], [0, 0]]), nodes=["rain", "wet"]),
            r"same order everywhere, got \['yes', 'no'\] and \['0', '1'\]",
        ),
        (fake_net(table(["a"], [-1.0, 2.0]), nodes=["a"]), "expected values of 0 or more"),
        (
            SimpleNamespace(nodes=["a"], get_factors=list),
            "expected a factor over every variable, got none over 'a'",
        ),
    ],
)
def test_what_is_no_model_is_refused(model, message):
    with pytest.raises(ModelError, match=message):
        hd.from_pgmpy(model)


def test_the_true_pgmpy():
    """Its reader and ours agree on small networks, and Markov networks come over."""
    pytest.importorskip("pgmpy", reason="pgmpy is not installed")
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.models import DiscreteMarkovNetwork
    from pgmpy.readwrite import BIFReader

    small = {"asia", "earthquake", "survey", "sachs", "child"}
    paths = [path for path in shipped_nets() if path.name.split(".")[0] in small]
    assert len(paths) == len(small)
    texts = [gzip.decompress(path.read_bytes()).decode() for path in paths]
    joined = "\n".join([texts[0], *(text.partition("}")[2] for text in texts[1:])])
    theirs = hd.from_pgmpy(BIFReader(string=joined).get_model())  # a reader takes a while to make
    for path in paths:
        ours = hd.io.read_bif(path)
        order = [theirs.names.index(name) for name in ours.names]
        assert tuple(theirs.state_names[i] for i in order) == ours.state_names
        for f, g in enumerate(order):
            mine, other = ours.factor(f), theirs.factor(g)
            assert [ours.names[i] for i in mine[0]] == [theirs.names[i] for i in other[0]]
            np.testing.assert_allclose(mine[1], other[1], atol=1e-12)
    network = DiscreteMarkovNetwork([("a", "b")])
    network.add_factors(DiscreteFactor(["a", "b"], [2, 3], range(6)))
    model = hd.from_pgmpy(network)
    np.testing.assert_allclose(np.exp(model.factor(0)[1]), np.arange(6).reshape(2, 3), atol=1e-12)

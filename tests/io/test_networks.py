"""Networks of bnlearn's repository: every file loads, and answers match another exact engine's.

pgmpy's package has the files, and pyAgrum is the engine. Where they are not installed these tests
skip: small nets of our own are tested against enumeration everywhere (test_bif.py, test_exact.py).
"""

import functools
import warnings

import numpy as np
import pytest

import herded as hd
from tests.io.bayes_nets import shipped_nets
from tests.support.example_budget import ALL

gum = pytest.importorskip("pyagrum", reason="pyAgrum, the other engine, is not installed")

PATHS = {path.name.removesuffix(".bif.gz"): path for path in shipped_nets()}
COMPARED = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "insurance")

needs_networks = pytest.mark.skipif(not PATHS, reason="pgmpy, which has the networks, is missing")


@functools.lru_cache(len(COMPARED))
def network(name):
    """As its file has it."""
    return hd.read_model(PATHS[name])


def forward_sample(model, rng):
    """A state drawn from a Bayes net, whose factors end with the variable they are of."""
    x = [-1] * model.n_variables
    waiting = [model.factor(f) for f in range(model.n_factors)]
    while waiting:
        late = []
        for scope, table in waiting:
            parents = tuple([x[i] for i in scope[:-1]])
            if -1 in parents:
                late.append((scope, table))
                continue
            p = np.exp(table[parents]).cumsum()
            x[scope[-1]] = int(np.searchsorted(p, p[-1] * rng.random(), "right"))
        assert len(late) < len(waiting), "the net has a cycle"
        waiting = late
    return np.array(x)


def random_evidence(model, rng, share):
    """Some variables at states they have in a draw of the net, so that it is possible."""
    x = forward_sample(model, rng)
    chosen = rng.permutation(model.n_variables)[: max(1, round(share * model.n_variables))]
    return {i: int(x[i]) for i in chosen.tolist()}


def with_indices(model, evidence):
    """The model with evidence by index, which names such as "TRUE" and "1" do not change."""
    states = np.full(model.n_variables, -1)
    states[list(evidence)] = list(evidence.values())
    return model.with_evidence(states)


def normalised(model):
    """With rows that sum to 1: files round them, and pyAgrum would mind."""
    factors = [model.factor(f) for f in range(model.n_factors)]
    rows = [np.logaddexp.reduce(table, axis=-1, keepdims=True) for _, table in factors]
    return hd.FactorGraph(
        model.cardinalities,
        [(scope, table - row) for (scope, table), row in zip(factors, rows, strict=True)],
        names=model.names,
        state_names=model.state_names,
    )


def other_engine(model, evidence):
    """The marginals that pyAgrum's lazy propagation finds."""
    net = gum.BayesNet()
    for i, states in enumerate(model.cardinalities.tolist()):
        net.add(f"v{i}", states)
    for f in range(model.n_factors):
        (*parents, child), table = model.factor(f)
        for parent in parents:
            net.addArc(f"v{parent}", f"v{child}")
        for states in np.ndindex(table.shape[:-1]):
            at = {f"v{parent}": k for parent, k in zip(parents, states, strict=True)}
            net.cpt(f"v{child}")[at] = np.exp(table[states]).tolist()
    engine = gum.LazyPropagation(net)
    engine.setEvidence({f"v{i}": k for i, k in evidence.items()})
    engine.makeInference()
    return [engine.posterior(f"v{i}").tolist() for i in range(model.n_variables)]


@needs_networks
def test_all_of_them_are_there():
    assert len(PATHS) >= 24 and set(COMPARED) <= set(PATHS)


LONG = () if ALL else ("diabetes", "munin", "munin2", "munin3")  # others are as large, or larger


@needs_networks
@pytest.mark.parametrize("name", sorted(PATHS.keys() - LONG))
def test_every_network_loads_and_is_a_distribution(name):
    model = network(name)
    assert model.names and model.state_names and model.n_factors == model.n_variables
    x = forward_sample(model, np.random.default_rng(0))
    assert np.isfinite(model.log_score(x))


@needs_networks
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("name", COMPARED)
def test_marginals_under_random_evidence(name, share):
    model = normalised(network(name))
    evidence = random_evidence(model, np.random.default_rng([7, round(100 * share)]), share)
    found = hd.infer(with_indices(model, evidence), hd.Exact()).marginals
    for ours, theirs in zip(found, other_engine(model, evidence), strict=True):
        np.testing.assert_allclose(ours[: len(theirs)], theirs, atol=1e-9)


@needs_networks
@pytest.mark.parametrize("name", COMPARED)
def test_samplers_are_right_or_say_that_they_are_not(name):
    model = network(name)
    for seed in range(3 if ALL else 2):
        evidence = random_evidence(model, np.random.default_rng([8, seed]), 0.2)
        given = with_indices(model, evidence)
        truth = hd.infer(given, hd.Exact()).marginals
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hd.HerdedWarning)
            keep = [hd.Marginals(rao_blackwell=True)]
            run = hd.infer(given, hd.recommend(given, seed=seed), keep=keep)
        assert run.warnings or np.abs(run.marginals - truth).max() < 0.05

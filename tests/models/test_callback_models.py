"""Conditionals of one's own: the naive twins' bits, exact joints, and all that `infer` offers."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import herded as hd
from benchmarks.speed import callback_models as own_benchmark
from benchmarks.speed.callback_models import COLUMNS, ODDS, SLAB, spike_and_slab, spins
from herded.models.constraints.start_states import member_starts
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.enumerated_joint import naive_joint
from tests.conformance.twins.herds.any_graph import naive_herd
from tests.conformance.twins.samplers.algorithm_1 import (
    naive_annealed_gibbs,
    naive_gibbs,
    naive_herded_gibbs,
)
from tests.support.callback_models import arrays_of, as_functions, changed, conditional, statistics
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import RULES, advance, assert_equal, runs
from tests.support.page_transcripts import transcripts
from tests.support.strategies import seeds
from tests.support.workers import processes

pytestmark = pytest.mark.usefixtures("quiet")

# Each is a kernel of its own: the rest is run without the compiler.
COMPILED = [(None, "binary"), ("pooled", "mixed"), ("full", "binary")]
EVERY = [(w, rule) for w in (None, "pooled", "lazy", "full", "blanket") for rule in RULES]


def graph(seed=0, cards=(2, 3, 2, 4)):
    """A complete graph of mixed cardinalities."""
    rng = np.random.default_rng(seed)
    n = len(cards)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    factors = [((i,), rng.normal(size=cards[i])) for i in range(n)]
    factors += [(p, 0.7 * rng.normal(size=(cards[p[0]], cards[p[1]]))) for p in pairs]
    return hd.FactorGraph(cards, factors)


GRAPH, BINARY = graph(), graph(1, (2,) * 5)


# -- the twins ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("weights", "rule"), EVERY if UNCOMPILED else COMPILED)
@examples(12)
@given(data=st.data())
def test_equal_to_the_naive_twin(weights, rule, data):
    """Any factor graph, as functions that keep where each factor is."""
    # Slack takes the vector rule: of whole contexts that would be one kernel more.
    run = data.draw(runs(rule, (0.0,)) if weights == "full" and not UNCOMPILED else runs(rule))
    model, x0, chain = run.pop("model"), run.pop("x0"), run.pop("chain")
    assume(run["scan"] not in ("jacobi", "random") and (model.evidence < 0).any())
    if rule == "mixed":
        assume(UNCOMPILED or (model.cardinalities[model.evidence < 0] != 2).any())
    sweeps = data.draw(st.sampled_from((1, 12, 140)))
    own = as_functions(
        model, compiled=None if UNCOMPILED else data.draw(st.sampled_from((None, False)))
    )
    if weights is None:
        del run["slack"], run["phases"]
        method = hd.Gibbs(**run)
        expected = naive_gibbs(model, **run, chain=chain, x0=x0, sweeps=sweeps)
    else:
        method = hd.HerdedGibbs(weights=weights, **run)
        like = "lazy" if weights == "blanket" else weights
        expected = naive_herded_gibbs(
            model, weights=like, **run, chain=chain, x0=x0, sweeps=sweeps, kind="factor"
        )
    layout = method.compile(own)
    assert layout.kind == "function"
    cut = data.draw(st.integers(0, sweeps))
    assert_equal(advance(method, layout, x0, sweeps, chain, cuts=[cut]), expected)


def herd_samples(method, model, x0, sweeps):
    layout = method.compile(model)
    state = method.init(layout, x0, tally=True, total=sweeps)
    block = np.zeros((sweeps, layout.sample_size), layout.sample_type)
    layout.fill(block, state)
    method.advance(layout, state, block)
    return layout.members_of(block), state.conditional_sums.reshape(layout.n_stored, -1)


@pytest.mark.parametrize("rule", RULES)
@examples(12)
@given(data=st.data())
def test_herds_equal_to_the_naive_twin(rule, data):
    """Members one by one, compiled or plain, and all at once in NumPy: the same bits."""
    run = data.draw(runs(rule))
    model, kept = run["model"], data.draw(st.booleans())
    scan, seed = run["scan"], run["seed"]
    assume(scan not in ("jacobi", "random") and (model.evidence < 0).any())
    members = data.draw(st.sampled_from((2, 5, 20)))
    x0 = member_starts(model, members, stream_key(seed, 0, 3))
    vectorised = data.draw(st.booleans())
    own = as_functions(model, vectorised=vectorised, compiled=False if vectorised else None)
    method = (hd.HerdedGibbs if kept else hd.Gibbs)(herd=members, scan=scan, seed=seed)
    expected = naive_herd(model, kept=kept, scan=scan, seed=seed, x0=x0, sweeps=18, kind="factor")
    assert_equal(herd_samples(method, own, x0, 18), expected)


def looped_conditionals(i, x, statistics, data, out):
    """For all members, in loops that Numba compiles; of a tuple of statistics the first counts."""
    for k in range(len(x)):
        conditional(i, x[k], statistics[0][k], data, out[k])


def looped_statistics(x, data):
    places = np.zeros((len(x), len(data[3])), np.int64)
    for k in range(len(x)):
        places[k] = statistics(x[k], data)
    return places, 2.0 * places


def looped_changed(i, old, new, x, statistics, data):
    for k in range(len(x)):
        if new[k] != old[k]:
            changed(i, old[k], new[k], x[k], statistics[0][k], data)
            statistics[1][k] = 2.0 * statistics[0][k]


@pytest.mark.skipif(UNCOMPILED, reason="compiled or not is the matter")
@pytest.mark.parametrize(("compiled", "follows"), [(None, True), (False, True), (False, False)])
def test_functions_of_all_members_at_once_are_those_of_one(compiled, follows):
    """Chains, herds and ladders; mixed cardinalities, known states, tuples, rebuilt statistics."""
    graph = GRAPH.given({2: 1})
    whole = hd.ConditionalModel(
        graph.cardinalities,
        looped_conditionals,
        data=arrays_of(graph),
        statistics=looped_statistics,
        changed=looped_changed if follows else None,
        vectorised=True,
        compiled=compiled,
    ).given({2: 1})
    assert (whole.callbacks.fast is None) == (compiled is False)
    keep = [hd.Samples(), hd.Marginals(rao_blackwell=True)]
    for method in (hd.Gibbs(), hd.Gibbs(herd=6), hd.Tempered(hd.Gibbs(), rungs=3)):
        options = {"sweeps": 150 if compiled is None else 20, "chains": 2, "keep": keep}
        one, all_at_once = (hd.infer(m, method, **options) for m in (as_functions(graph), whole))
        np.testing.assert_array_equal(one.samples, all_at_once.samples)
        np.testing.assert_array_equal(one.marginals, all_at_once.marginals)
    states = np.indices(GRAPH.cardinalities).reshape(4, -1).T
    np.testing.assert_array_equal(whole.log_score(states), as_functions(graph).log_score(states))


def test_temperatures_fall_as_the_twin_says():
    def schedule(sweep, total):
        return 2.0 - 2.0 * sweep / (total - 1)

    own, x0 = as_functions(BINARY), np.zeros(5, np.int64)
    method = hd.Gibbs(schedule=schedule, seed=2)
    expected = naive_annealed_gibbs(BINARY, schedule, seed=2, x0=x0, sweeps=40)
    assert_equal(advance(method, method.compile(own), x0, 40), expected)
    herd, x0 = hd.Gibbs(schedule=schedule, herd=6), np.zeros((6, 5), np.int64)
    expected = naive_herd(BINARY, kept=False, x0=x0, sweeps=40, kind="factor", schedule=schedule)
    assert_equal(herd_samples(herd, own, x0, 40), expected)


# -- joints ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "most"),
    [
        (hd.Gibbs(), 3.0),
        (hd.Gibbs(herd=50), 3.0),
        (hd.HerdedGibbs(herd=64), 3.0),
        (hd.HerdedGibbs("pooled", slack=4.0), 3.0),
        (hd.HerdedGibbs("lazy"), 1.0),
    ],
    ids=repr,
)
def test_joints(method, most):
    """As near to the enumerated joint as independent draws are on average, times `most`."""
    sweeps = 20_000 // method.herd
    found = hd.infer(
        as_functions(GRAPH), method, sweeps=sweeps, burn_in=20, chains=2, keep=[hd.Joint()]
    ).joint
    pi = naive_joint(GRAPH)
    drawn = 0.5 * np.sqrt(2 / np.pi * pi * (1 - pi) / (2 * sweeps * method.herd)).sum()
    assert 0.5 * np.abs(found - pi).sum() < most * drawn


def test_without_neighbours_the_blanket_is_all_others():
    """`lazy` is then `full`; known neighbours give the bits of layout "factor"."""
    tables = np.random.default_rng(2).normal(size=(3, 2, 2))
    path = hd.FactorGraph([2] * 4, [((i, i + 1), table) for i, table in enumerate(tables)])
    far, x0 = as_functions(path, near=False), np.zeros(4, np.int64)
    method = hd.HerdedGibbs("lazy", phases="half")
    lazy, full = (
        naive_herded_gibbs(path, weights=w, phases="half", x0=x0, sweeps=60, kind="factor")
        for w in ("lazy", "full")
    )
    assert (lazy[0] != full[0]).any()
    assert_equal(advance(method, method.compile(far), x0, 60), full)
    keep = [hd.Samples()]
    blanket = hd.infer(as_functions(GRAPH), hd.HerdedGibbs(), sweeps=60, keep=keep).samples
    factor = hd.infer(GRAPH, hd.HerdedGibbs("lazy"), sweeps=60, keep=keep, layout="factor").samples
    np.testing.assert_array_equal(blanket, factor)


# -- all that infer offers ------------------------------------------------------------------------

KEPT = [hd.Marginals(rao_blackwell=True), hd.Samples(), hd.BestState(), hd.Observable(hd.energy)]
RUNS = [hd.Gibbs(herd=6), hd.HerdedGibbs("lazy")]


@pytest.mark.parametrize("method", RUNS, ids=repr)
def test_the_same_as_a_factor_graph(method):
    """Samples, sums of conditionals and the best state to the bit, energies to a constant."""
    evidence = {1: 2}
    options = {"sweeps": 150, "burn_in": 20, "chains": 2, "keep": KEPT}
    own = hd.infer(as_functions(GRAPH.given(evidence)), method, **options)
    graph = hd.infer(GRAPH.given(evidence), method, layout="factor", **options)
    np.testing.assert_array_equal(own.samples, graph.samples)
    np.testing.assert_array_equal(own.marginals, graph.marginals)
    np.testing.assert_array_equal(own.best.state, graph.best.state)
    shift = GRAPH.log_score([0, 2, 0, 0])
    assert own.best.log_score == pytest.approx(graph.best.log_score - shift)
    assert own.observables["energy"].mean == pytest.approx(graph.observables["energy"].mean + shift)
    assert own.provenance["layout"] == "function"


@pytest.mark.parametrize("method", RUNS, ids=repr)
def test_saved_resumed_and_continued(method, tmp_path):
    """Also over sweep 128, where what is kept is built anew."""
    model, path, keep = as_functions(GRAPH), tmp_path / "run.ckpt", [hd.Samples()]
    whole = hd.infer(model, method, sweeps=150, chains=2, keep=keep).samples
    for sweeps in (70, 128, 150):
        found = hd.infer(model, method, sweeps=sweeps, chains=2, keep=keep, checkpoint=path)
    np.testing.assert_array_equal(found.samples, whole)
    first = hd.infer(model, method, sweeps=100, chains=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)  # so short, chains may disagree
        rest = hd.infer(model, method, sweeps=50, chains=2, keep=keep, start=first.state)
    np.testing.assert_array_equal(rest.samples, whole[:, 100:])


def test_executors_and_copies():
    """Functions of a module travel to other processes."""
    model, method, keep = as_functions(BINARY), hd.Gibbs(herd=6), [hd.Samples()]
    whole = hd.infer(model, method, sweeps=40, chains=2, keep=keep).samples
    with ThreadPoolExecutor(2) as pool:
        sent = hd.infer(model, method, sweeps=40, chains=2, keep=keep, executor=pool).samples
    np.testing.assert_array_equal(sent, whole)
    with processes(1) as pool:
        sent = hd.infer(model, method, sweeps=40, chains=2, keep=keep, executor=pool).samples
    np.testing.assert_array_equal(sent, whole)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.content_hash == model.content_hash and not copy.data[0].flags.writeable
    np.testing.assert_array_equal(
        hd.infer(copy, method, sweeps=40, chains=2, keep=keep).samples, whole
    )


def test_no_method_gives_herds():
    found = hd.infer(as_functions(BINARY))
    exact = hd.infer(BINARY, hd.Exact())
    assert found.method.herd > 32 and "no factors to eliminate" in found.reason
    assert not found.warnings and np.abs(found.marginals - exact.marginals).max() < 0.01
    short = hd.recommend(as_functions(BINARY), sweeps=100)
    assert short.method == hd.Gibbs() and "Gibbs chains" in short.reason
    best = hd.infer(as_functions(BINARY), sweeps=1000, keep=[hd.BestState()]).best
    np.testing.assert_array_equal(best.state, hd.infer(BINARY, hd.Exact()).best.state)


@examples(30)
@given(seed=seeds)
def test_log_scores_are_differences_along_paths(seed):
    """To a constant those of the factors, also with evidence."""
    known = {int(seed % 4): 1}
    model, own = GRAPH.given(known), as_functions(GRAPH.given(known), compiled=False)
    states = np.random.default_rng(seed).integers(0, GRAPH.cardinalities, (6, 4))
    found, expected = own.log_score(states), model.log_score(states)
    possible = np.isfinite(expected)
    assert (np.isfinite(found) == possible).all()
    gaps = (found - expected)[possible]
    np.testing.assert_allclose(gaps, gaps[:1].repeat(len(gaps)), atol=1e-12)


@pytest.mark.skipif(UNCOMPILED, reason="thousands of sweeps")
def test_the_page_prints_what_it_says():
    for said, printed in transcripts("custom-conditionals"):
        assert printed == said


# -- spike and slab -------------------------------------------------------------------------------


def enumerated():
    """Inclusion probabilities of the benchmark's spike and slab, by determinants of submatrices."""
    n, products = spike_and_slab().data
    states = np.indices((2,) * COLUMNS).reshape(COLUMNS, -1).T.astype(bool)
    scores = []
    for chosen in states:
        inner, right = products[:-1, :-1][np.ix_(chosen, chosen)], products[:-1, -1][chosen]
        left = products[-1, -1] - right @ np.linalg.solve(inner, right)
        size = chosen.sum() * (ODDS - 0.5 * np.log(SLAB))
        scores.append(size - 0.5 * np.linalg.slogdet(inner)[1] - 0.5 * n * np.log(left))
    weights = np.exp(np.array(scores) - max(scores))
    return weights @ states / weights.sum(), np.array(scores), states.astype(np.int64)


@pytest.mark.skipif(UNCOMPILED, reason="millions of updates")
def test_spike_and_slab_is_within_a_thousandth_of_enumeration():
    """One herd of 64, 5,000 sweeps; log-scores of all 4,096 models; the loop by hand is right."""
    exact, scores, states = enumerated()
    work = spike_and_slab()
    found = hd.infer(work.model, hd.Gibbs(herd=64), sweeps=5000, burn_in=100).marginals[:, 1]
    assert work.model.callbacks.fast is not None and np.abs(found - exact).max() < 1e-3
    gaps = work.model.log_score(states) - scores
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-8)
    counts = work.by_hand(np.zeros(COLUMNS, np.int64), work.data, 40_000, 1)
    assert np.abs(counts / 40_000 - exact).max() < 0.02


@pytest.mark.skipif(UNCOMPILED, reason="thousands of updates")
def test_spins_summed_and_kept_are_the_same_model():
    """And so are the loops by hand that they are measured beside."""
    summed, kept = spins()
    states = np.random.default_rng(0).integers(0, 2, (5, 100))
    np.testing.assert_allclose(summed.model.log_score(states), kept.model.log_score(states))
    counts = [one.by_hand(np.zeros(100, np.int64), one.data, 300, 1) for one in (summed, kept)]
    np.testing.assert_array_equal(*counts)


def test_the_benchmark_prints_a_row(monkeypatch):
    monkeypatch.setattr(own_benchmark, "best_sweeps", lambda runs, **_: dict.fromkeys(runs, 1e-6))
    assert own_benchmark.row(spins()[0], True).count("|") == 8

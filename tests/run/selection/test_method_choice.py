"""Which method for a model, and what it takes of memory."""

import functools
import tracemalloc
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.methods.exact.elimination_order import elimination_order
from herded.methods.exact.elimination_plan import plan_elimination
from herded.methods.schedule import LinearCooling, is_annealed
from herded.run.memory.method_estimate import estimate_run_memory
from herded.run.query import CheckpointOptions, Query
from herded.run.selection.method_choice import (
    choose_method,
    estimate_exact_seconds,
    make_annealed_method,
    make_log_z_ladder,
    max_contexts_of_a_variable,
)
from herded.run.selection.plan import plan_run
from tests.support.example_budget import examples
from tests.support.fixtures import MODELS
from tests.support.strategies import lattices, models

RNG = np.random.default_rng(2)
GRID = hd.ising_grid(RNG.normal(size=(5, 5)), 0.5)


def star(leaves, states=2):
    """A hub that every leaf hangs on."""
    factors = [((0, i), RNG.normal(size=(states, states))) for i in range(1, leaves + 1)]
    return hd.FactorGraph([states] * (leaves + 1), factors)


def dense():
    """All orders are alike, so that none is looked for; elimination takes 16 GB, or a minute."""
    pairs = list(combinations(range(32), 2))
    return hd.pairwise_model(RNG.normal(size=(32, 2)), pairs, 0.1 * np.eye(2))


# -- the choice --------------------------------------------------------------------------------


def test_exact_where_elimination_fits():
    for task in ("mar", "map", "pr"):
        chosen = choose_method(GRID, task)
        assert chosen.name == "exact" and chosen.method == hd.Exact()
        assert "treewidth 5" in chosen.reason or "treewidth 6" in chosen.reason


@pytest.mark.parametrize(
    ("task", "name", "kind"),
    [
        ("mar", "herd", hd.Gibbs),
        ("map", "herded", hd.HerdedGibbs),
        ("pr", "tempered", hd.Tempered),
    ],
)
def test_without_elimination(task, name, kind):
    small = 8000.0
    for options in ({"max_memory": small}, {"reason_to_sample": "it goes on"}, {"seconds": 1e-6}):
        chosen = choose_method(GRID, task, seed=0, **options)
        if task == "mar" and "reason_to_sample" not in options:  # too little for a herd
            assert chosen.name == "herded" and isinstance(chosen.method, hd.HerdedGibbs)
        else:
            assert chosen.name == name and isinstance(chosen.method, kind)
        assert is_annealed(chosen.method) == (task == "map")
        assert chosen.reason
    assert "needs more than" in choose_method(GRID, task, max_memory=small).reason
    assert "would take about" in choose_method(GRID, task, seconds=1e-6).reason
    assert "goes on" in choose_method(GRID, task, reason_to_sample="it goes on").reason


def test_log_z_by_belief_propagation_where_no_ladder_fits(tmp_path):
    """An estimate without an interval is better than none."""
    model = dense()
    ladder, solver = (
        estimate_run_memory(model, make_log_z_ladder(), chains=2),
        estimate_run_memory(model, hd.BeliefPropagation()),
    )
    between = (ladder + solver) / 2
    for options in ({}, {"seconds": 100.0, "reason_to_sample": "a test"}):
        chosen = choose_method(model, "pr", max_memory=between, **options)
        assert chosen.name == "bp" and chosen.method == hd.BeliefPropagation()
        assert "ladder of temperatures may need" in chosen.reason
    little = choose_method(model, "pr", max_memory=solver / 2, reason_to_sample="a test")
    assert little.name == "tempered"
    checkpoint = CheckpointOptions(tmp_path / "run.npz")
    hd.infer(GRID, make_log_z_ladder(), sweeps=2, checkpoint=checkpoint.path)
    query = Query(
        model, "auto", "pr", max_memory=between, checkpoint=checkpoint, reason_to_sample="a test"
    )
    assert plan_run(query).name == "tempered"  # it is not taken for another
    fewer = estimate_run_memory(model, make_log_z_ladder(), chains=2)
    assert (
        choose_method(model, "pr", max_memory=fewer, chains=2, reason_to_sample="a test").name
        == "tempered"
    )
    assert (
        choose_method(model, "pr", max_memory=fewer, chains=3, reason_to_sample="a test").name
        == "bp"
    )


def test_the_largest_blanket():
    assert max_contexts_of_a_variable(star(10)) == 1024
    assert max_contexts_of_a_variable(star(3, states=5)) == pytest.approx(125)
    assert max_contexts_of_a_variable(star(11).given({1: 0})) == 1024  # its state is known
    assert max_contexts_of_a_variable(star(11).given({0: 0})) == 1
    assert max_contexts_of_a_variable(star(2000)) == 2.0**1000  # more than a float could hold
    assert max_contexts_of_a_variable(hd.FactorGraph([2, 3], [])) == 1


def test_what_recommend_says():
    """For marginals, with the burn-in that it has planned."""
    for leaves in (4, 12):
        model = star(leaves)
        chosen, found = (
            choose_method(model, reason_to_sample="a test", seed=3),
            hd.recommend(model, seed=3),
        )
        assert (chosen.method, chosen.burn_in) == (found.method, found.burn_in)
        assert chosen.reason.endswith(found.reason)


def test_annealing_starts_hot_where_factors_are_strong():
    weak = hd.FactorGraph([2, 2], [((0, 1), [[0.0, 0.1], [0.1, 0.0]])])
    strong = hd.FactorGraph([2, 2], [((0, 1), [[0.0, 8.0], [-np.inf, 0.0]]), ((0,), [0.0, 4.0])])
    assert make_annealed_method(weak).schedule == LinearCooling(1.0)
    assert make_annealed_method(strong).schedule == LinearCooling(6.0)
    assert make_annealed_method(hd.FactorGraph([2], [])).schedule == LinearCooling(1.0)
    temperatures = [LinearCooling(6.0)(sweep, 4) for sweep in range(4)]
    assert temperatures == pytest.approx([6, 4, 2, 0]) and LinearCooling(6.0)(0, 1) == 0
    assert isinstance(make_annealed_method(weak), hd.HerdedGibbs)
    assert make_annealed_method(weak, herded=False) == hd.Gibbs(schedule=LinearCooling(1.0))
    wide = hd.FactorGraph([255, 2], [((0, 1), np.zeros((255, 2)))])
    assert make_annealed_method(wide, seed=5) == hd.Gibbs(seed=5, schedule=LinearCooling(1.0))


def test_the_best_state_that_a_hot_start_finds():
    """A strong, frustrated grid: from temperature 1 annealing freezes at once."""
    rng = np.random.default_rng(0)
    couplings = 6 * rng.normal(size=(8, 7)), 6 * rng.normal(size=(7, 8))
    model = hd.ising_grid(rng.normal(size=(8, 8)), couplings)
    best = hd.infer(model, hd.Exact()).best.log_score
    keep = [hd.BestState()]
    hot = hd.infer(
        model, make_annealed_method(model), sweeps=2000, chains=4, keep=keep
    ).best.log_score
    cold = hd.infer(
        model,
        replace(make_annealed_method(model), schedule="linear"),
        sweeps=2000,
        chains=4,
        keep=keep,
    ).best.log_score
    assert hot == pytest.approx(best) and cold < best - 1


def test_the_time_of_elimination_grows_with_its_work():
    plan = plan_elimination(elimination_order(GRID))
    assert 0 < estimate_exact_seconds(plan) < 0.1
    assert 30 < estimate_exact_seconds(plan._replace(work=1e10)) < 300


def test_neither_free_memory_nor_patience_wanders(monkeypatch):
    """What is answered exactly is a matter of fixed numbers; only how it is cut is not."""
    wide = dense()
    for free in (2**31, 2**40):
        monkeypatch.setattr("herded.system.memory_limits.free_memory_bytes", lambda free=free: free)
        chosen = choose_method(wide, "map")
        assert chosen.name != "exact" and "elimination would take about" in chosen.reason
        assert choose_method(hd.ising_grid(np.zeros((12, 12)), 0.2)).name == "exact"
        long = choose_method(wide, "map", seconds=1e5)
        assert long.name == "exact" and long.memory <= min(2**32, free / 2)


# -- memory ------------------------------------------------------------------------------------


@examples(60)
@given(
    st.one_of(models(zeros=(0.0,)), lattices()),
    st.sampled_from([None, "blanket", "shared", "pooled", "lazy", "full"]),
    st.booleans(),
)
def test_memory_is_told_without_being_taken(model, weights, vector):
    slack = 1.0 if vector else 0.0
    method = hd.Gibbs() if weights is None else hd.HerdedGibbs(weights, slack=slack)
    told, layout = method.propose(model), method.compile(model)
    assert (told.kind, told.has_growing_memory) == (layout.kind, layout.has_growing_memory)
    assert (told.memory, told.chain_memory) == (layout.memory, layout.chain_memory)
    assert told.min_block_sweeps == layout.min_block_sweeps


def wide():
    factors = [((0, 1), RNG.normal(size=(150, 150))), ((1, 2), RNG.normal(size=(150, 2)))]
    return hd.FactorGraph([150, 150, 2], factors)


def scattered():
    """Factors of three among a thousand variables."""
    rng = np.random.default_rng(0)
    scopes = [rng.choice(1000, 3, replace=False) for _ in range(600)]
    return hd.FactorGraph([2] * 1000, [(scope, rng.normal(size=(2, 2, 2))) for scope in scopes])


BUILDERS = {
    "picture": lambda: hd.ising_grid(RNG.normal(size=(50, 50)), 0.3),
    "potts": lambda: hd.potts_grid(RNG.normal(size=(25, 25, 3)), 0.5),
    "chain": lambda: hd.chain_model(RNG.normal(size=(300, 4)), RNG.normal(size=(4, 4))),
    "wide": wide,
    "scattered": scattered,
    "star": lambda: star(12),
}
RUNS = [
    hd.Gibbs(),
    hd.HerdedGibbs(),
    hd.HerdedGibbs(weights="shared"),
    hd.HerdedGibbs(weights="pooled", slack=1.5),
    hd.HerdedGibbs(weights="lazy", max_weights=2**12),
    hd.HerdedGibbs("pooled", schedule="linear"),
    hd.HerdedGibbs(schedule="linear", max_weights=2**12),
    hd.Gibbs(schedule="linear"),
    hd.MeanField(),
    hd.BeliefPropagation(damping=0.5),
    hd.Exact(),
]


@functools.cache
def first_of(name):
    """The model of a name that many a run may leave its layouts with."""
    return BUILDERS[name]()


@pytest.mark.parametrize("method", RUNS, ids=lambda m: f"{type(m).__name__}-{vars(m)!s:.24}")
@pytest.mark.parametrize("name", BUILDERS)
def test_a_run_stays_under_its_estimate(name, method, monkeypatch):
    monkeypatch.setattr(
        "herded.run.diagnostics.cross_check.MAX_CHECK_SWEEPS", 16
    )  # they take time, and no memory
    max_memory = 300e6
    first = first_of(name)
    try:
        need = estimate_run_memory(first, method, chains=2, max_memory=max_memory)
    except hd.MemoryLimitError:
        assert method == hd.Exact() and name in ("scattered", "picture", "potts")
        return
    assert need < max_memory
    options = {}
    if isinstance(method, hd.Sampler):
        options = {"chains": 2, "keep": [hd.Marginals(rao_blackwell=True), hd.BestState()]}
    hd.infer(first, method, sweeps=10, **options)  # compiles
    model = BUILDERS[name]()  # of which no layout is kept
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        hd.infer(model, method, sweeps=10, **options)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < need


@pytest.mark.parametrize("name", MODELS)
def test_memory_of_every_method_on_odd_models(name):
    for method in RUNS:
        assert 2**20 <= estimate_run_memory(MODELS[name], method, chains=3) < 2**32


def test_nothing_is_tabulated_under_a_schedule():
    """Contexts that will be met count, not all there are: a hub of 40 leaves has 2^40."""
    for weights in ("blanket", "lazy", "pooled"):
        method = hd.HerdedGibbs(weights, max_weights=2**12, schedule="linear")
        assert estimate_run_memory(star(40), method, chains=2) < 2**25
    most = hd.HerdedGibbs(schedule="linear")
    assert estimate_run_memory(GRID, most) < 2**24 < 2**27 < estimate_run_memory(star(40), most)


def test_memory_counts_chains_and_refuses_what_cannot_be():
    one, four = (estimate_run_memory(GRID, hd.HerdedGibbs(), chains=c) for c in (1, 4))
    assert one < four < 4 * one
    with pytest.raises(hd.MemoryLimitError, match="exact inference"):
        estimate_run_memory(GRID, hd.Exact(), max_memory=1000)

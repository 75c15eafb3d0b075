"""Hashed weights (`lazy` on factors, `full`): tables that grow, part by part, and lose nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.draws.context_hashing import find_slot
from herded.errors import CheckpointError
from herded.layouts.hashed_weights import (
    compact_tables,
    empty_tables,
    grow_tables,
    initial_slot_counts,
)
from herded.models.constraints.start_states import start_state
from herded.run import sampler_run
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.samplers.algorithm_1 import naive_herded_gibbs
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.kernel_runs import advance
from tests.support.strategies import sampled_models, seeds

quick = examples(40)


def dense(cards, rng):
    """A model in which all variables are neighbours, weakly: it meets many contexts."""
    pairs = [(i, j) for i in range(len(cards)) for j in range(i)]
    tables = [((i, j), 0.3 * rng.normal(size=(cards[i], cards[j]))) for i, j in pairs]
    return hd.FactorGraph(cards, tables)


def parts(cards, sizes, rng):
    """Dense parts of so many variables each, and their variables shuffled over the model."""
    names = rng.permutation(sum(sizes))
    factors, first = [], 0
    for size in sizes:
        part = dense([int(cards[names[first + i]]) for i in range(size)], rng)
        scopes = [part.factor(f) for f in range(part.n_factors)]
        factors += [(names[first + np.array(scope)], table) for scope, table in scopes]
        first += size
    return hd.FactorGraph(cards, factors)


def kept(state):
    """Everything of a state that a checkpoint has, as lists."""
    return {name: array.tolist() for name, array in state.arrays().items()}


# -- the twin -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "kind"), [("lazy", "factor"), ("full", "table"), ("full", "factor")]
)
@pytest.mark.parametrize("cards", [[2, 3, 2, 3, 2], [2] * 6])
def test_weights_are_kept_when_a_table_grows(cards, weights, kind):
    """More contexts than the first table has slots: it is doubled, and nothing is lost."""
    model = dense(cards, np.random.default_rng(5))
    x0 = np.zeros(len(cards), int)
    method = hd.HerdedGibbs(weights=weights, phases="random")
    found = advance(method, method.compile(model, kind=kind), x0, 60)
    expected = naive_herded_gibbs(
        model, weights=weights, phases="random", x0=x0, sweeps=60, kind=kind
    )
    for one, other in zip(found, expected, strict=False):
        np.testing.assert_array_equal(one, other)
    assert (
        found[2].method_arrays["slots"].sum()
        >= 4 * initial_slot_counts(np.array([len(cards)])).sum()
    )


@pytest.mark.parametrize("scan", ["sequential", "random", "jacobi"])
@pytest.mark.parametrize("states", [2, 3])
def test_every_part_has_its_table(states, scan):
    """Parts of 1 to 6 variables, whose tables grow at different times: the twin's bits."""
    rng = np.random.default_rng(states)
    sizes = [1, 6, 2, 5, 1, 4]
    model = parts(np.full(sum(sizes), states), sizes, rng)
    method = hd.HerdedGibbs(weights="lazy", phases="random", scan=scan)
    layout, x0 = method.compile(model, kind="factor"), rng.integers(0, states, sum(sizes))
    assert sorted(layout.scan.segments) == sorted(sizes)
    sweeps = 30 if UNCOMPILED else 100
    expected = naive_herded_gibbs(
        model, weights="lazy", phases="random", scan=scan, x0=x0, sweeps=sweeps, kind="factor"
    )
    states_after = []
    for cuts in ([], range(1, sweeps), [0, 7, sweeps // 2]):
        *found, state = advance(method, layout, x0, sweeps, cuts=cuts)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        states_after.append(kept(state))
    first = initial_slot_counts(layout.scan.segments)
    # some grew more than others
    assert len(set((state.method_arrays["slots"] // first).tolist())) > 2
    assert states_after[0] == states_after[1] == states_after[2]  # gaps leave no trace


@quick
@given(model=sampled_models(1, 4), data=st.data())
def test_lazy_on_tables_is_blanket(model, data):
    """Where every context has its place already, lazy takes it."""
    options = {
        "slack": data.draw(st.sampled_from((0.0, 1.0))),
        "phases": data.draw(st.sampled_from(("half", "random"))),
        "scan": data.draw(st.sampled_from(("sequential", "random", "checkerboard"))),
    }
    x0 = start_state(model, stream_key(0, 0, 3))
    runs = []
    for weights in ("lazy", "blanket"):
        method = hd.HerdedGibbs(weights=weights, **options)
        layout = method.compile(model, kind="table")
        *found, state = advance(method, layout, x0, 30)
        runs.append([layout.memory, kept(state), *(array.tolist() for array in found)])
    assert runs[0] == runs[1]


# -- threads, blocks, checkpoints ---------------------------------------------------------------


@pytest.mark.parametrize(("states", "max_weights"), [(2, 1), (2, 3000), (2, 2**22), (3, 3000)])
def test_threads_and_blocks_do_not_matter(states, max_weights, monkeypatch):
    """The same bits, and the same state, also where contexts must share weights."""
    rng = np.random.default_rng(9)
    sizes = rng.integers(1, 8, 60)
    model = parts(np.full(sizes.sum(), states), sizes, rng)
    method = hd.HerdedGibbs(weights="lazy", max_weights=max_weights)
    options = {"sweeps": 1100, "keep": [hd.Samples(every=7)], "layout": "factor"}
    one = hd.infer(model, method, threads=1, **options)
    monkeypatch.setattr(sampler_run, "BLOCK_ENTRIES", model.n_variables * 511)
    two = hd.infer(model, method, threads=2, **options)
    np.testing.assert_array_equal(one.samples, two.samples)
    assert kept(one.state[0]) == kept(two.state[0])
    own, first = one.state[0].method_arrays, initial_slot_counts(np.sort(sizes))
    assert (own["filled"] <= own["slots"] // 4 * 3).all()
    full = (own["filled"] == own["slots"] // 4 * 3).any()
    doubled = own["slots"].sum() / first.sum()
    assert (full, doubled > 1) == {1: (True, False), 3000: (True, True)}.get(
        max_weights, (False, True)
    )
    assert doubled == 1 or own["slots"].sum() <= max_weights


@pytest.mark.parametrize("weights", ["lazy", "full"])
def test_a_grown_state_goes_on(weights, tmp_path):
    """From a checkpoint taken after tables grew, and from the state of a result."""
    rng = np.random.default_rng(2)
    model = parts(np.full(12, 3), [5, 4, 3], rng)
    method, keep = hd.HerdedGibbs(weights=weights, phases="random"), [hd.Samples()]
    options = {"keep": keep, "layout": "factor"}
    whole = hd.infer(model, method, sweeps=300, **options)
    for sweeps in (40, 170, 300):
        path = tmp_path / "run.ckpt"
        part = hd.infer(model, method, sweeps=sweeps, checkpoint=path, **options)
        assert part.state[0].method_arrays["slots"].sum() > 4 * 16
    np.testing.assert_array_equal(part.samples, whole.samples)
    assert kept(part.state[0]) == kept(whole.state[0])
    half = hd.infer(model, method, sweeps=150, **options)
    rest = hd.infer(model, method, sweeps=150, start=half.state, **options)
    np.testing.assert_array_equal(rest.samples[0], whole.samples[0, 150:])


def test_tables_of_another_run_are_refused():
    model = parts(np.full(12, 3), [5, 4, 3], np.random.default_rng(2))
    method = hd.HerdedGibbs(weights="lazy")
    layout, x0 = method.compile(model, kind="factor"), np.zeros(12, int)
    state = advance(method, layout, x0, 200)[2]
    wrong = {
        "slots": lambda a: a[::-1].copy(),
        "slot_start": lambda a: a + 1,
        "keys": lambda a: a[:-1],
        "w": lambda a: a.astype(np.int64),
        "filled": lambda a: a[:1],
    }
    for name, spoil in wrong.items():
        fresh = method.init(layout, x0, tally=True)
        arrays = state.arrays()
        fresh.restore(arrays)
        arrays[name] = spoil(arrays[name])
        with pytest.raises(CheckpointError, match="another run"):
            method.init(layout, x0, tally=True).restore(arrays)


# -- tables -------------------------------------------------------------------------------------


@quick
@given(
    keys=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=80),
    size=st.sampled_from((4, 16, 64)),
)
def test_a_table_is_a_dictionary_until_it_is_three_quarters_full(keys, size):
    table, filled, slots = np.zeros(size, np.uint64), np.zeros(2, np.int64), {}
    for key in keys:
        known = max(key, 1)  # 0 marks an empty slot
        slot, new = find_slot(table, filled, 1, np.uint64(key))
        if known in slots:
            assert (slot, new) == (slots[known], False)
        elif len(slots) < size * 3 // 4:
            assert new and slot not in slots.values()
            slots[known] = slot
        else:
            assert (slot, new) == (known % size, False)
    assert filled.tolist() == [0, len(slots)]
    assert {int(table[slot]): slot for slot in slots.values()} == slots


@quick
@given(seed=seeds, scalar=st.booleans(), data=st.data())
def test_growing_moves_every_weight(seed, scalar, data):
    """Tables grow in any order; each keeps its keys, their weights and its share of the room."""
    rng = np.random.default_rng(seed)
    tables = empty_tables(rng.integers(1, 5, 6), *((1, np.uint32) if scalar else (3, np.int32)))
    tables["w"][:] = np.arange(len(tables["w"]))
    start, slots = tables["slot_start"].copy(), tables["slots"].copy()
    total = int(slots.sum())
    for g in range(6):
        table = tables["keys"][start[g] : start[g] + slots[g]]
        for key in rng.integers(1, 2**63, slots[g] // 2):
            find_slot(table, tables["filled"], g, np.uint64(key))
    before = contents(tables)
    times = np.zeros(6, int)
    for which in data.draw(st.lists(st.sets(st.integers(0, 5), min_size=1), max_size=4)):
        tables = grow_tables(tables, np.array(sorted(which)))
        times[list(which)] += 1
        assert contents(tables) == before
        assert (tables["slots"] == slots << times).all()
        assert len(tables["keys"]) <= max(total, 2 * tables["slots"].sum())
    compact = compact_tables(tables, int(tables["slots"].sum()))
    assert contents(compact) == before and len(compact["keys"]) == compact["slots"].sum()


def contents(tables):
    """Of every table: where each of its keys would be found from, and its weight."""
    keys, w = tables["keys"], tables["w"]
    width = len(w) // len(keys)
    found, taken = [], np.zeros(len(keys), int)
    for g, (start, size) in enumerate(zip(tables["slot_start"], tables["slots"], strict=True)):
        taken[start : start + size] += 1
        table = keys[start : start + size]
        weights = {}
        for key in table[table > 0]:
            slot, new = find_slot(table, tables["filled"], g, key)
            assert not new
            at = (start + slot) * width
            weights[int(key)] = w[at : at + width].tolist()
        found.append(weights)
    assert taken.max() == 1
    return found

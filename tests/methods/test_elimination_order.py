"""Orders of elimination and their plans: what they cost, and that they fit into memory."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given

from herded.errors import MemoryLimitError
from herded.methods.exact import elimination_order as orders
from herded.methods.exact.elimination_order import MAX_SLICES, EliminationCosts, elimination_order
from herded.methods.exact.elimination_plan import plan_elimination
from herded.methods.exact.solver import ExactState
from herded.models.constraints.start_states import possible_states
from herded.models.factor_graph import FactorGraph
from herded.models.lattice_builders import ising_grid, potts_grid
from herded.models.pairwise import pairwise_model
from herded.system.numerics.exp_log import exp_array, log_array
from tests.support.example_budget import ALL
from tests.support.strategies import models
from tests.support.timeouts import ending


def peak_of(model, plan, asked):
    """Bytes at the worst moment of an elimination."""
    graph = model.as_factor_graph()
    exp_array(np.zeros(2**16)), log_array(np.ones(2**16))  # compiled before memory is looked at
    tracemalloc.start()
    ExactState(graph, plan, asked).advance(10**9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_trees_have_treewidth_one():
    rng = np.random.default_rng(3)
    edges = [(int(rng.integers(0, i)), i) for i in range(1, 2000)]
    found = elimination_order(pairwise_model(np.zeros((2000, 2)), edges, np.zeros((2, 2))))
    assert found.treewidth == 1
    assert found.log2_largest == 2.0
    assert sorted(found.order) == list(range(2000))


def test_ties_go_to_the_smaller_cluster_then_to_the_lower_index():
    model = FactorGraph([3, 2, 2, 3], [((0, 1), np.zeros((3, 2))), ((2, 3), np.zeros((2, 3)))])
    assert elimination_order(model).order.tolist() == [0, 1, 2, 3]
    model = FactorGraph([5, 2, 2], [((1, 2), np.zeros((2, 2)))])
    assert elimination_order(model).order.tolist() == [1, 2, 0]


@given(models(max_variables=8, max_states=3, max_factors=12))
def test_min_fill_counts(model):
    """The order is the one that counts every fill anew at every step."""
    cards = possible_states(model).sum(axis=1)
    cards = cards if cards.all() else np.where(model.evidence >= 0, 1, model.cardinalities)
    fixed = cards == 1
    around = {
        i: {int(j) for j in model.neighbours(i) if not fixed[j]}
        for i in np.flatnonzero(~fixed).tolist()
    }
    order, sizes = [], []
    while around:
        keys = []
        for i, near in around.items():
            strangers = sum(b not in around[a] for a, b in itertools.combinations(near, 2))
            keys.append((strangers, int(cards[[i, *near]].prod()), i))
        _, size, i = min(keys)
        order.append(i)
        sizes.append(size)
        near = around.pop(i)
        for j in near:
            around[j] = (around[j] | near) - {i, j}
    found = elimination_order(model)
    assert found.order.tolist() == order
    assert found.log2_largest == pytest.approx(np.log2(max(sizes, default=1)))
    assert found.work == sum(sizes)


@pytest.mark.parametrize("shape", [(14, 14), (13, 40), (40, 13)])
def test_grids_are_swept_along_their_longer_side(shape):
    assert elimination_order(ising_grid(np.zeros(shape))).treewidth <= min(shape) + 1


@given(models(max_variables=8, max_states=3, max_factors=12))
def test_every_heuristic_adds_all_variables(model):
    states = model.cardinalities.tolist()
    around = orders._free_neighbours(model, states)
    for propose in orders._heuristics(around, states):
        costs = EliminationCosts(states, np.inf, np.inf)
        propose(costs)
        assert sorted(costs.clusters) == sorted(around)


def random_graph(seed, n, edges, states):
    rng = np.random.default_rng(seed)
    pairs = sorted({tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(edges)})
    cards = rng.choice(states, n)
    return FactorGraph(cards.tolist(), [(p, rng.normal(size=cards[list(p)])) for p in pairs])


GRAPHS = [(1, 60, 140, (2,)), (0, 40, 66, (3,)), (0, 60, 95, (2, 5)), (1, 40, 51, (7,))]


@pytest.mark.parametrize(("seed", "n", "edges", "states"), GRAPHS if ALL else GRAPHS[:2])
def test_elimination_stays_under_the_estimate(seed, n, edges, states):
    """In one go, in segments, and in slices; there and back, and for the best state."""
    model = random_graph(seed, n, edges, states)
    found = elimination_order(model)
    whole = plan_elimination(found)
    for share in (1.0, 0.5, 0.2):
        try:
            plan = plan_elimination(found, share * whole.memory)
        except MemoryLimitError:
            assert share == 0.2
            continue
        assert plan.memory <= share * whole.memory and plan.work >= whole.work
        least = ({"best"}, {"log_z"}) if share == 0.2 else ()  # where a message too many shows
        for asked in ({"marginals"}, *least):
            assert peak_of(model, plan, asked) < plan.memory + 4e5
    assert plan.slices > 1 or plan.segments.any()


@pytest.mark.parametrize("seed", [1, 7, 9, 10])
def test_other_ties_are_tried_where_they_may_help(seed):
    """By its first ties min-fill comes to a message that is too large, by others it does not."""
    model = random_graph(seed, 90, 130, (2,))
    states = model.cardinalities.tolist()
    around = orders._free_neighbours(model, states)
    sizes = []
    for propose in orders._heuristics(around, states):
        costs = EliminationCosts(states, np.inf, np.inf)
        propose(costs)
        sizes.append(max(2 ** len(cluster) for cluster in costs.clusters.values()))
    assert min(sizes) < sizes[0]
    limit = orders.BYTES_PER_ENTRY * min(sizes) / MAX_SLICES
    assert 2 ** elimination_order(model, limit).treewidth == min(sizes)


@pytest.mark.parametrize("side", [50, 60])
def test_no_other_ties_are_tried_where_most_of_a_graph_is_left(side, monkeypatch):
    tried = []
    heuristics = orders._heuristics
    monkeypatch.setattr(
        orders, "_heuristics", lambda *a: (tried.append(p) or p for p in heuristics(*a))
    )
    with pytest.raises(MemoryLimitError, match="variables in a cluster"):
        elimination_order(ising_grid(np.zeros((side, side))).as_factor_graph(), 2.0**32)
    assert len(tried) <= 3


def test_messages_that_wait_are_counted():
    """Thirty cliques of 14 send their messages to one that comes last."""
    factors = []
    for c in range(30):
        own = range(13 + 2 * c, 15 + 2 * c)
        factors += [(p, np.zeros((2, 2))) for p in itertools.combinations([*range(13), *own], 2)]
    model = FactorGraph([2] * 73, [f for f in factors if f[0][1] > 12 or f[0] == (0, 1)])
    plan = plan_elimination(elimination_order(model))
    assert 0.4 * plan.memory < peak_of(model, plan, {"marginals"}) < plan.memory + 4e5


def test_the_cheapest_order_is_taken_and_always_the_same(monkeypatch):
    monkeypatch.setattr(orders, "MIN_ENTRIES_TO_RETRY", 1)
    model = random_graph(0, 60, 150, (2,))
    around = orders._free_neighbours(model, [2] * 60)
    costs = [EliminationCosts([2] * 60, np.inf, np.inf) for _ in range(2 + orders.MIN_FILL_TRIES)]
    for propose, cost in zip(orders._heuristics(around, [2] * 60), costs, strict=True):
        propose(cost)
    found = elimination_order(model)
    assert found.work == min(cost.work for cost in costs) < costs[0].work
    assert found.order.tolist() == elimination_order(model).order.tolist()


def test_few_orders_are_tried_where_elimination_is_quick(monkeypatch):
    tried = []
    monkeypatch.setattr(
        orders, "_min_fill", lambda *a, true=orders._min_fill: (tried.append(1), true(*a))
    )
    elimination_order(ising_grid(np.zeros((6, 6))))
    assert len(tried) == 1
    elimination_order(random_graph(0, 60, 210, (2,)))
    assert len(tried) > 10


def test_what_no_number_of_slices_makes_fit_is_refused():
    model = ising_grid(np.zeros((12, 12)))
    found = elimination_order(model)
    assert plan_elimination(found, 1e5).slices <= MAX_SLICES
    with pytest.raises(
        MemoryLimitError, match=r"at most 2\.0 KiB .* use HerdedGibbs, or raise max_memory="
    ):
        plan_elimination(found, 2048)
    with pytest.raises(MemoryLimitError, match="expected clusters of at most"):
        elimination_order(model, 2)
    with pytest.raises(MemoryLimitError, match="expected clusters of at most"):
        plan_elimination(found, plan_elimination(found).memory - 1, whole=True)


def test_parts_that_share_no_factor_are_swept_one_after_another():
    model = pairwise_model(np.zeros((6, 2)), [(0, 2), (2, 4), (1, 3)], np.zeros((2, 2)))
    around = orders._free_neighbours(model, [2] * 6)
    swept = orders._bandwidth_order(around)
    assert sorted(swept) == list(range(6))
    assert orders.cost_of_order(model, np.array(swept)).treewidth == 1


def test_large_lattices_are_refused_at_once():
    model = ising_grid(np.zeros((1000, 1000)))
    with ending(), pytest.raises(MemoryLimitError, match="with 1001 variables in a cluster"):
        elimination_order(model, 1e12)
    assert elimination_order(ising_grid(np.zeros((3, 500))), 1e6).treewidth == 3


def test_costs_beyond_any_float():
    lattice = potts_grid(np.zeros((302, 302, 10)), 1.0)
    with pytest.raises(MemoryLimitError, match=r"needs 8e[+]300 bytes or more"):
        elimination_order(lattice, np.inf)
    n = 344  # 8^343 is 2^1029, and no float is above 2^1024
    dense = pairwise_model(
        np.zeros((n, 8)), list(itertools.combinations(range(n), 2)), np.zeros((8, 8))
    )
    with pytest.raises(MemoryLimitError, match=r"needs 8e[+]300 bytes or more, with 344 variables"):
        elimination_order(dense)

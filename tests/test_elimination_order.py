"""Orders of elimination: what they cost, and that better ones are found."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import models

from herded.errors import MemoryLimitError
from herded.methods import elimination_order as orders
from herded.methods.elimination_order import elimination_order
from herded.methods.exact import cluster_marginals, eliminate, sum_out
from herded.models.factor_graph import FactorGraph
from herded.models.grids import ising_grid, potts_grid
from herded.models.pairwise import pairwise_model
from tests.patience import ending


def peak_of(model, order):
    """Bytes at the worst moment of an elimination in this order and of its way back."""
    graph = model.as_factor_graph()
    tracemalloc.start()
    steps, _ = eliminate(graph, np.asarray(order), sum_out)
    for _ in cluster_marginals(steps):
        pass
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


@settings(deadline=None)
@given(models(max_variables=8, max_states=3, max_factors=12))
def test_min_fill_counts(model):
    """The order is the one that counts every fill anew at every step."""
    fixed = (model.evidence >= 0) | (model.cardinalities == 1)
    around = {
        i: {int(j) for j in model.neighbours(i) if not fixed[j]}
        for i in np.flatnonzero(~fixed).tolist()
    }
    cards, order, sizes = model.cardinalities, [], []
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
    assert found.memory >= 8 * sum(sizes)


@pytest.mark.parametrize("shape", [(14, 14), (13, 40), (40, 13)])
def test_grids_are_swept_along_their_longer_side(shape):
    assert elimination_order(ising_grid(np.zeros(shape))).treewidth <= min(shape) + 1


@settings(deadline=None)
@given(models(max_variables=8, max_states=3, max_factors=12))
def test_every_heuristic_tells_its_cost(model):
    around = orders._free_neighbours(model)
    for propose in orders._heuristics(around, model.cardinalities.tolist()):
        found = propose(None)
        assert sorted(found.order) == sorted(around)
        if around:
            with pytest.raises(MemoryLimitError, match="use HerdedGibbs, or raise max_memory="):
                propose(found.memory - 1)


def random_graph(seed, n, edges, states):
    rng = np.random.default_rng(seed)
    pairs = sorted({tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(edges)})
    cards = rng.choice(states, n)
    return FactorGraph(cards.tolist(), [(p, rng.normal(size=cards[list(p)])) for p in pairs])


@pytest.mark.parametrize(
    ("n", "edges", "states"), [(60, 140, (2,)), (40, 66, (3,)), (60, 95, (2, 5)), (40, 51, (7,))]
)
@pytest.mark.parametrize("seed", range(3))
def test_elimination_stays_under_the_estimate(seed, n, edges, states):
    model = random_graph(seed, n, edges, states)
    found = elimination_order(model)
    assert 2e5 < found.memory < 2**30
    assert 0.4 * found.memory < peak_of(model, found.order) < found.memory + 2e5


def test_messages_that_wait_are_counted():
    """Thirty cliques of 14 send their messages to one that comes last."""
    factors = []
    for c in range(30):
        own = range(13 + 2 * c, 15 + 2 * c)
        factors += [(p, np.zeros((2, 2))) for p in itertools.combinations([*range(13), *own], 2)]
    model = FactorGraph([2] * 73, [f for f in factors if f[0][1] > 12 or f[0] == (0, 1)])
    found = elimination_order(model)
    assert 0.4 * found.memory < peak_of(model, found.order) < found.memory + 2e5


def test_the_cheapest_order_is_taken_and_always_the_same():
    model = random_graph(0, 60, 150, (2,))
    around = orders._free_neighbours(model)
    costs = [propose(None).memory for propose in orders._heuristics(around, [2] * 60)]
    found = elimination_order(model)
    assert costs[0] > orders.CHEAP and found.memory == min(costs) < costs[0]
    assert found.order.tolist() == elimination_order(model).order.tolist()
    assert elimination_order(model, found.memory).memory == found.memory
    with pytest.raises(MemoryLimitError, match="expected clusters of at most"):
        elimination_order(model, found.memory - 1)


def test_parts_that_share_no_factor_are_swept_one_after_another():
    model = pairwise_model(np.zeros((6, 2)), [(0, 2), (2, 4), (1, 3)], np.zeros((2, 2)))
    around = orders._free_neighbours(model)
    swept = orders._sweep(around)
    assert sorted(swept) == list(range(6))
    assert orders._measured(around, [2] * 6, swept, None).treewidth == 1


def test_large_lattices_are_refused_at_once():
    model = ising_grid(np.zeros((1000, 2000)))
    with ending(), pytest.raises(MemoryLimitError, match="with 1001 variables in a cluster"):
        elimination_order(model, 1e12)
    assert elimination_order(ising_grid(np.zeros((3, 500))), 1e6).treewidth == 3


def test_costs_beyond_any_float():
    lattice = potts_grid(np.zeros((152, 152, 100)), 1.0)
    with pytest.raises(MemoryLimitError, match=r"needs 8e[+]300 bytes or more"):
        elimination_order(lattice, np.inf)
    n = 220  # 30^220 is about 10^325
    dense = pairwise_model(
        np.zeros((n, 30)), list(itertools.combinations(range(n), 2)), np.zeros((30, 30))
    )
    assert elimination_order(dense).memory == 8e300

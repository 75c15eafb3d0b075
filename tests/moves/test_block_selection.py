"""The choice of blocks: the twin's, within its limit, covering all; and what their moves reach."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.models.constraints.reachability import states_reachable_by_blocks
from herded.models.constraints.start_states import possible_states, start_state
from herded.moves.blocks.block_selection import choose_blocks, elimination_order_within
from herded.run.diagnostics.confinement import find_confinement
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.samplers.block_selection import naive_choice
from tests.support.example_budget import UNCOMPILED, examples
from tests.support.strategies import models, sampled_models


@examples(80)
@given(sampled_models(1, 4, max_variables=8), st.sampled_from((2, 5, 12, 64)), st.integers(1, 5))
def test_the_twin(model, entries, count):
    found = choose_blocks(model, entries, count).blocks
    assert [block.tolist() for block in found] == naive_choice(model, entries, count)


@examples(100)
@given(models(max_variables=7), st.sampled_from((2, 6, 40)), st.integers(1, 4))
def test_limits_and_cover(model, entries, count):
    """Every movable variable is in a block, and no table is larger than it may be."""
    choice = choose_blocks(model, entries, count)
    movable = (model.evidence < 0) & (model.cardinalities > 1)
    covered = np.zeros(len(movable), bool)
    for block in choice.blocks:
        assert len(np.unique(block)) == len(block) and movable[block].all()
        covered[block] = True
    np.testing.assert_array_equal(covered, movable)
    sizes = hd.Gibbs(moves=hd.Blocks(entries, count)).compile(model).arrays
    widest = model.cardinalities[movable].max(initial=1)
    assert (sizes.rows * sizes.states <= max(entries, widest)).all()
    assert sizes.table_size[0] <= choice.entries * (1 + 1e-3)  # which is what memory is counted by


@pytest.mark.skipif(UNCOMPILED, reason="too slow without a compiler")
def test_a_large_model_is_chosen_in_near_linear_time():
    """A grid of 40,000 variables, which no set of sets would get through in time."""
    choice = choose_blocks(hd.ising_grid(np.zeros((200, 200)), 1.0).as_factor_graph(), 64, 2)
    assert len(choice.blocks) >= 2 and min(map(len, choice.blocks)) > 20_000


def test_an_order_for_given_variables():
    model = hd.ising_grid(np.zeros((3, 3)), 1.0).as_factor_graph()
    order, largest, entries = elimination_order_within(model, np.arange(9))
    assert sorted(order.tolist()) == list(range(9)) and largest == 16.0 and entries <= 9 * 16
    order, largest, _ = elimination_order_within(model, np.array([0, 2, 4]))
    assert sorted(order.tolist()) == [0, 2, 4] and largest == 2.0


# -- what moves of blocks reach --------------------------------------------------------------------


def reached_by(model, x, blocks):
    """All states that moves of blocks lead to, by brute force."""
    seen, queue = {tuple(x)}, [tuple(x)]
    while queue:
        now = queue.pop()
        for block in blocks:
            for new in itertools.product(*(range(int(model.cardinalities[i])) for i in block)):
                then = np.array(now)
                then[block] = new
                if tuple(then) not in seen and model.log_score(then) > -np.inf:
                    seen.add(tuple(then.tolist()))
                    queue.append(tuple(then.tolist()))
    return seen


@examples(60)
@given(models(max_variables=5, max_states=3, zeros=(0.3, 0.5, 0.7), scales=(0.0,)), st.data())
def test_what_is_said_of_blocks_is_true(model, data):
    """Nothing in reach is called unreachable, and chains are called walled in if and only if a
    possible state is out of reach: these models are so small that all of it is looked at."""
    model = model.as_factor_graph()
    movable = np.flatnonzero((model.evidence < 0) & (model.cardinalities > 1)).tolist()
    extra = [data.draw(st.sets(st.sampled_from(movable))) for _ in range(2)] if movable else []
    blocks = [np.array(sorted(b), np.int64) for b in (*([i] for i in movable), *extra) if len(b)]
    x = start_state(model, stream_key(0))
    reached = reached_by(model, x, blocks)
    if model.has_hard_zeros:
        inside = states_reachable_by_blocks(model, x, blocks, possible_states(model))
        assert all(inside[i, k] for state in reached for i, k in enumerate(state))
    everything = itertools.product(*(range(k) for k in model.cardinalities.tolist()))
    possible = {s for s in everything if model.log_score(np.array(s)) > -np.inf}
    assert bool(find_confinement(model, x[None], blocks)) == (reached != possible)

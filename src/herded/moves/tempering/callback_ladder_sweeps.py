"""Ladders for callback models: all rungs visit a variable at once, whole states exchange.

Log-scores follow from the conditionals themselves: a visit that takes a state from `old` to `new`
adds the difference of their logits. So an exchange costs nothing but a draw. Replicas stay where
they are, with all that they keep; `lane_at` tells which of them is on each rung.
"""

import numpy as np

from herded.draws.fixed_point import VECTOR_ONE, fixed_scalar, fixed_vector
from herded.draws.random import draw_scalar, draw_vector
from herded.layouts.callback.sweeps import is_wrong
from herded.layouts.chain_arrays import shuffle_visits
from herded.layouts.visit_order import RANDOM
from herded.moves.tempering.replica_exchange import is_exchange_accepted, respace_if_due
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits


@jit
def callback_ladder_sweeps(
    visit, follow, own, m, lane_at, scores, keys, cards, scan, run, p, tally, ones, block
):
    """Run sweeps of a ladder; `p` has room for a conditional, empty by the scalar rule."""
    place, keeps, logits, old = own.place, own.keeps, own.logits, own.old
    x, alarm, variables, order = own.x, own.alarm, scan.order, scan.order.copy()
    for s in range(len(block)):
        sweep = run.sweep + s
        if scan.policy[0] == RANDOM:
            clock = np.uint64(sweep) * np.uint64(len(cards))
            shuffle_visits(order, variables, run.phase_key, clock + np.uint64(variables[0]))
        for o in range(len(order)):
            i = order[o]
            visit(i, place)
            if is_wrong(logits, cards[i], i, alarm):
                return
            when = i, sweep, cards[i], len(cards)
            has_changed = draw_on_all_rungs(
                m.betas, lane_at, scores, logits, keys, p, x, old, tally, when
            )
            if keeps and has_changed:
                follow(i, place)
        end_sweep(m, lane_at, scores, x, ones, block, s)
        exchange_whole_states(m, lane_at, scores, run.key, sweep)


@jit
def draw_on_all_rungs(betas, lane_at, scores, logits, keys, p, x, old, tally, when):
    """Draw a variable on all rungs; return whether some replica has changed."""
    i, sweep, states, n = when
    clock, has_changed = np.uint64(sweep) * np.uint64(n) + np.uint64(i), False
    widest, rungs = logits.shape[1], len(betas)
    scratch = np.empty(widest)
    for r in range(rungs):
        lane, bits = lane_at[r], random_bits(keys[r], clock)
        if len(p) == 0:
            q = fixed_scalar(logits[lane, 0], logits[lane, 1], betas[r])
            new = np.int64(draw_scalar(bits, q))
            if r == rungs - 1 and len(tally):
                tally[i] += q
        else:
            for k in range(states):
                scratch[k] = logits[lane, k]
            fixed_vector(scratch, betas[r], states, p, 0, VECTOR_ONE)
            new = np.int64(draw_vector(bits, p, 0, states))
            if r == rungs - 1 and len(tally):
                for k in range(states):
                    tally[i * widest + k] += p[k]
        old[lane] = x[lane, i]
        has_changed |= new != old[lane]
        scores[lane] += logits[lane, new] - logits[lane, old[lane]]
        x[lane, i] = new
    return has_changed


@jit
def end_sweep(m, lane_at, scores, x, ones, block, s):
    """Write all rungs into a block, by variable and then rung, and count the coldest."""
    rungs, n = len(lane_at), x.shape[1]
    width = len(ones) // n
    for i in range(n):
        value = x[lane_at[rungs - 1], i]
        if len(ones):
            if width == 1:
                ones[i] += value
            else:
                ones[i * width + value] += 1
        if block.shape[1]:
            for r in range(rungs):
                block[s, i * rungs + r] = x[lane_at[r], i]


@jit
def exchange_whole_states(m, lane_at, scores, key, sweep):
    """Exchange whole states, even pairs first; respace the rungs when that is due."""
    rungs, n = len(lane_at), len(m.came)
    for r in range(sweep % 2, rungs - 1, 2):
        hot, cold = lane_at[r], lane_at[r + 1]
        m.tried[r] += n
        gain = (m.betas[r + 1] - m.betas[r]) * (scores[hot] - scores[cold])
        m.apart[r] -= gain * n
        bits = random_bits(key, np.uint64((sweep * rungs + r) * n))
        if is_exchange_accepted(m, r, n, gain, bits):
            lane_at[r], lane_at[r + 1] = cold, hot
            if r == 0:
                m.tags[hot] = 1
            if r + 2 == rungs:
                for i in range(n):
                    m.came[i] += m.tags[hot]
                m.tags[hot] = 0
    respace_if_due(m, sweep)

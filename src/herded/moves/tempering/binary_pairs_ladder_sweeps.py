"""Sweeps, leaps and exchanges of a ladder on binary variables with pair interactions.

As in `layouts.binary_pairs.arrays` a conditional is a sigmoid of a field, here times beta,

    pi_r(X_i = 1 | x) = sigmoid(beta_r field_i),   field_i = alone_i + sum over j of J_ij x_j

and fields and couplings are whole numbers at scale 2^24, kept as doubles, which hold them exactly.
Rungs lie side by side, so that the loops over them are vector code. Where there are few neighbours
conditionals are looked up (`moves.tempering.tabulated_ladder_sweeps`), in half the time. An
exchange takes twice as long as such a sweep and does no more for the answer, so that there leaps
and exchanges take turns; elsewhere both come after every sweep.
"""

import numpy as np

from herded.draws.random import draw_scalar
from herded.layouts.binary_pairs.arrays import fixed_sigmoid
from herded.layouts.chain_arrays import shuffle_visits
from herded.layouts.visit_order import RANDOM
from herded.moves.tempering.binary_pairs_exchange import exchange_binary_pairs
from herded.moves.tempering.ladder_sweeps import record_sweep
from herded.moves.tempering.learned_block_moves import (
    block_lists,
    propose_block_flips,
    record_burn_in_state,
)
from herded.moves.tempering.replica_exchange import respace_if_due
from herded.moves.tempering.tabulated_ladder_sweeps import (
    allocate_context_table,
    fill_context_table,
    sweep_by_table,
)
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits

_1, _31 = np.uint64(1), np.uint64(31)


@jit
def binary_pairs_ladder_sweeps(q, scan, run, key, leap_key, m, kept, tally, ones, width, block):
    """Sweep all rungs len(block) times; between sweeps leap and exchange."""
    n, order = len(q.alone), scan.order.copy()
    is_open, is_in, queue = np.zeros(n, np.uint8), np.zeros(n, np.uint8), np.empty(n + 1, np.uint32)
    leaps, variables = block_lists(kept if m.is_frozen[0] else kept[:0])
    table = allocate_context_table(q, len(m.betas))
    period = 2 if len(table) else 1
    if len(table):
        fill_context_table(q, m.betas, table)
    for s in range(len(block)):
        sweep = run.sweep + s
        if scan.policy[0] == RANDOM:
            shuffle_visits(order, scan.order, run.phase_key, np.uint64(sweep * n))
        if len(table):
            sweep_by_table(q, table, order, key, np.uint64(sweep * n), m, tally)
        else:
            sweep_fields(q, order, key, np.uint64(sweep * n), m, tally)
        if not m.is_frozen[0]:
            record_burn_in_state(kept, m.x, len(m.betas), sweep + 1)
        elif sweep % period == 0:
            propose_block_flips(q, m, leaps, variables, leap_key, sweep // period, is_in)
        record_sweep(m, ones, width, block, s)
        if sweep % period == period - 1:
            exchange_binary_pairs(q, m, run.key, sweep // period, is_open, queue)
        if respace_if_due(m, sweep) and len(table):
            fill_context_table(q, m.betas, table)


@jit
def sweep_fields(q, order, key, clock, m, tally):
    """Draw every variable on all rungs, which share the bits of a draw in pairs."""
    x, betas = m.x, m.betas
    alone, link_start, neighbour, coupling, sigmoid = q
    rungs = np.uint64(len(betas))
    pairs = (rungs + _1) >> _1
    field, bits = np.empty(rungs), np.empty(pairs + pairs, np.uint64)
    for o in range(len(order)):
        i = np.uint64(order[o])
        at, name = i * rungs, (clock + i) * pairs
        for pair in range(pairs):
            both = random_bits(key, name + pair)
            bits[_1 * pair] = both
            bits[pairs + pair] = both << _31
        for r in range(rungs):
            field[r] = alone[i]
        for e in range(link_start[i], link_start[i + _1]):
            to, strength = np.uint64(neighbour[e]) * rungs, coupling[e]
            for r in range(rungs):
                field[r] += strength * np.float64(x[to + r])
        p = np.uint32(0)
        for r in range(rungs):
            p = fixed_sigmoid(np.int64(field[r] * betas[r]), sigmoid)
            x[at + r] = draw_scalar(bits[r], p)
        if len(tally):
            tally[i] += p

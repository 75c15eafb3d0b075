"""Sweeps over local fields (plan "field"): binary variables, pair interactions, scalar rule.

As in `table`, the function counts in `done` the sweeps of each segment.
"""

import numpy as np

from herded.jit import jit
from herded.kernels.choose import draw_scalar, herd_scalar
from herded.kernels.run import publish, shuffle
from herded.kernels.weights import bin_scalar, bin_shift, bins_at, split_pools
from herded.plan.contexts import DRAW, MAX_BINS
from herded.plan.field import field_of, fixed_sigmoid
from herded.plan.scan import JACOBI, RANDOM
from herded.stream import draw


@jit
def field_scalar(f, c, scan, run, m, block, done, first, last):
    """Pooled weights, or draws."""
    mode, policy, n = len(c.mode), scan.policy[0], np.uint64(len(m.x))
    alone, near, far_start, far, sigmoid = f.alone, f.near, f.far_start, f.far, f.sigmoid
    pool_start, plane, width = c.pool_start, c.size // MAX_BINS, c.width
    x, y, w, tally = m.x, m.y, m.w, m.tally
    for g in range(first, last):
        variables = scan.order[scan.segment_start[g] : scan.segment_start[g + 1]]
        order = variables.copy()
        for s in range(done[g], len(block)):
            clock = np.uint64(run.sweep + s) * n
            shift = bin_shift(bins_at(run.sweep + s))
            row = block[s]
            if policy == RANDOM:
                shuffle(order, variables, run.phase_key, clock + np.uint64(variables[0]))
            if mode != DRAW:
                split_pools(w, order, pool_start, width, plane, run.sweep + s)
            for o in range(len(order)):
                i = np.uint32(order[o])
                p = fixed_sigmoid(field_of(alone, near, far_start, far, i, x), sigmoid)
                if mode == DRAW:
                    new = np.uint32(draw_scalar(draw(run.key, clock + np.uint64(i)), p))
                else:
                    new = herd_scalar(w, np.uint64(i + bin_scalar(p, shift) * plane), p)
                y[i] = new
                row[i] = new
                if len(tally):
                    tally[i] += p
            if policy == JACOBI:
                publish(order, x, y)
            done[g] = s + 1

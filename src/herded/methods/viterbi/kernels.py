"""max over x of sum_t [log_unary_t(x_t) + log_pair_t(x_t, x_(t+1))], by dynamic programming.

    best_t(k) = log_unary_t(k) + max_l [log_pair_t(k, l) + best_(t+1)(l)]

Viterbi (1967). The recursion runs from the far end of a chain, so that the way back starts at
the near end and takes the lowest best state at each variable, given those before it.
"""

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.argmax_kernel import argmax


@jit
def order_along_chains(f, free):
    """Return the free variables along their chains, and where in that order each chain starts.

    A chain begins at its end of the lower index. Variables on loops are never reached. The
    order means nothing where a variable has more than two neighbours.
    """
    n = len(free)
    order, chain_start = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    seen = np.zeros(n, np.bool_)
    done, n_chains = 0, 0
    for end in range(n):
        degree = f.neighbour_start[end + 1] - f.neighbour_start[end]
        if seen[end] or not free[end] or degree > 1:
            continue
        i = end
        while i >= 0:
            seen[i] = True
            order[done] = i
            done += 1
            onward = -1
            for e in range(f.neighbour_start[i], f.neighbour_start[i + 1]):
                j = np.int64(f.neighbour[e])
                if not seen[j]:
                    onward = j
            i = onward
        n_chains += 1
        chain_start[n_chains] = done
    return order[:done], chain_start[: n_chains + 1]


@jit
def decode_chains(f, free, order, chain_start, width, x):
    """Write the best state of every chain into `x`, which holds the states of the clamped."""
    choice = np.zeros((len(order), width), np.int32)  # best state of the next, for each own state
    unary, pair = np.empty(width), np.empty((width, width))
    best, ahead = np.zeros(width), np.zeros(width)
    for c in range(len(chain_start) - 1):
        first, last = chain_start[c], chain_start[c + 1] - 1
        for t in range(last, first - 1, -1):
            i = order[t]
            onward = order[t + 1] if t < last else -1
            _tables(f, free, x, i, onward, unary, pair)
            for k in range(f.cardinalities[i]):
                best[k] = unary[k]
                if onward >= 0:
                    top, at = pair[k, 0] + ahead[0], 0
                    for m in range(1, f.cardinalities[onward]):
                        score = pair[k, m] + ahead[m]
                        if score > top:
                            top, at = score, m
                    best[k] += top
                    choice[t, k] = at
            best, ahead = ahead, best
        i = order[first]
        x[i] = argmax(ahead[: f.cardinalities[i]])
        for t in range(first, last):
            x[order[t + 1]] = choice[t, x[order[t]]]


@jit
def _tables(f, free, x, i, onward, unary, pair):
    """Sum the factors of `i` alone, and those of `i` and the variable after it."""
    states = f.cardinalities[i]
    unary[:states] = 0.0
    pair[:states] = 0.0
    for e in range(f.entry_start[i], f.entry_start[i + 1]):
        at, own = f.table_base[e], f.own_stride[e]
        link, link_stride = -1, 0
        stride = f.last_stride[e]
        for o in range(f.other_start[e + 1] - 1, f.other_start[e] - 1, -1):
            j = np.int64(f.other[o])
            if free[j]:
                link, link_stride = j, stride
            else:
                at += x[j] * stride
            stride *= f.other_ratio[o]
        if link < 0:
            for k in range(states):
                unary[k] += f.log_tables[at + k * own]
        elif link == onward:
            for k in range(states):
                for m in range(f.cardinalities[link]):
                    pair[k, m] += f.log_tables[at + k * own + m * link_stride]

"""log q_i^new[k] = sum_f E_(q_-i)[log f(.., k, ..)]: the sweeps of naive mean field.

Murphy (2012), section 21.3. One rule serves any arity: the states of a factor's other variables
are counted through, each weighted with its q. A weight of 0 is skipped, so that 0 * -inf = 0.
"""

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp, log


@jit
def start_beliefs(f, evidence, q):
    """Write the softmax of every variable's unary factors into `q`, one-hot where clamped."""
    logits = np.empty(q.shape[1])
    for i in range(len(evidence)):
        q[i] = 0.0
        if evidence[i] >= 0:
            q[i, evidence[i]] = 1.0
            continue
        states = f.cardinalities[i]
        logits[:] = 0.0
        for e in range(f.entry_start[i], f.entry_start[i + 1]):
            if f.other_start[e] == f.other_start[e + 1]:
                for k in range(states):
                    logits[k] += f.log_tables[f.table_base[e] + k]
        softmax_in_place(logits, states)
        for k in range(states):
            q[i, k] = logits[k]


@jit
def sweep_beliefs(f, order, q, damping, parallel):
    """Update every variable in `order` once; returns the largest change of a probability."""
    # Taken out of the tuple once: Numba counts references to all of it wherever it is passed on.
    cards, starts, bases, strides = f.cardinalities, f.entry_start, f.table_base, f.own_stride
    other_start, other, log_tables = f.other_start, f.other, f.log_tables
    old = q.copy() if parallel else q
    logits = np.empty(q.shape[1])
    change = 0.0
    for i in order:
        expected_logits(
            cards, starts, bases, strides, other_start, other, log_tables, i, old, False, logits
        )  # fmt: skip
        states = cards[i]
        if not softmax_in_place(logits, states):
            continue  # every state meets a hard zero: keep the old q_i
        for k in range(states):
            new = (1.0 - damping) * q[i, k] + damping * logits[k]
            change = max(change, abs(new - q[i, k]))
            q[i, k] = new
    return change


@jit
def log_z_lower_bound(f, q):
    """Return sum_f E_q[log f] + sum_i H(q_i), without factors of no variables."""
    cards, starts, bases, strides = f.cardinalities, f.entry_start, f.table_base, f.own_stride
    other_start, other, log_tables = f.other_start, f.other, f.log_tables
    logits = np.empty(q.shape[1])
    total = 0.0
    for i in range(len(q)):
        expected_logits(
            cards, starts, bases, strides, other_start, other, log_tables, i, q, True, logits
        )  # fmt: skip
        for k in range(cards[i]):
            if q[i, k] > 0.0:
                total += q[i, k] * (logits[k] - log(q[i, k]))
    return total


@jit
def expected_logits(
    cards, starts, bases, strides, other_start, other, log_tables, i, q, once, logits
):
    """Write sum_f E_(q_-i)[log f(.., k, ..)] into logits[k].

    With `once`, over those factors only whose first variable is i, so that each is met once.
    """
    states = cards[i]
    for k in range(states):
        logits[k] = 0.0
    for e in range(starts[i], starts[i + 1]):
        first, last, own = other_start[e], other_start[e + 1], strides[e]
        contexts = 1
        for o in range(first, last):
            contexts *= 0 if once and other[o] < i else cards[other[o]]
        for context in range(contexts):
            weight, at, rest, stride = 1.0, bases[e], context, 1
            for o in range(last - 1, first - 1, -1):  # a table's last variable varies fastest
                j = other[o]
                stride *= states if stride == own else 1  # here is i in the table
                x = rest % cards[j]
                rest //= cards[j]
                at += x * stride
                stride *= cards[j]
                weight *= q[j, x]
            if weight > 0.0:
                for k in range(states):
                    logits[k] += weight * log_tables[at + k * own]


@jit
def softmax_in_place(logits, states):
    """Turn logits into probabilities in place; False, and nothing done, if all are -inf."""
    top = -np.inf
    for k in range(states):
        top = max(top, logits[k])
    if top == -np.inf:
        return False
    total = 0.0
    for k in range(states):
        logits[k] = exp(logits[k] - top)
        total += logits[k]
    for k in range(states):
        logits[k] /= total
    return True

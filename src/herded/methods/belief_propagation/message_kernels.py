"""m_(f->i)[k] = sum over x_f with x_i = k of f(x_f) prod_(j in f, j != i) m_(j->f)[x_j].

The sum-product algorithm of Kschischang, Frey and Loeliger (2001), in the log domain: potentials
and products of messages may be as small as they like. Only messages from factors to variables
are stored, m[e] = log m_(f->i) for the entry e = (i, f) of `FactorArrays`; the others come from
b[j] = sum_f log m_(f->j) as log m_(j->f) = b[j] - log m_(f->j). A state that one message forbids
is impossible (b = -inf), for ever, and is not sent to anyone, not even back to that factor: what
the factor would make of it concerns only states that are impossible too.
"""

import numpy as np

from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp, log, log_add_exp


@jit
def first_messages(f, m):
    """Write the first messages into `m`: unary factors send their table, the others nothing."""
    for i in range(len(f.cardinalities)):
        states = f.cardinalities[i]
        for e in range(f.entry_start[i], f.entry_start[i + 1]):
            m[e] = 0.0
            if f.other_start[e] == f.other_start[e + 1]:
                for k in range(states):
                    m[e, k] = f.log_tables[f.table_base[e] + k]
            normalise_log_probabilities(m[e], states)


@jit
def sum_messages(f, evidence, m, b):
    """Sum the messages to every variable into `b`; a variable left without states, or -1."""
    stuck = -1
    for i in range(len(evidence)):
        states = f.cardinalities[i]
        b[i] = -np.inf
        if evidence[i] >= 0:
            b[i, evidence[i]] = 0.0
            continue
        possible = False
        for k in range(states):
            b[i, k] = 0.0
            for e in range(f.entry_start[i], f.entry_start[i + 1]):
                b[i, k] += m[e, k]
            possible = possible or b[i, k] > -np.inf
        if not possible:
            stuck = i
    return stuck


@jit
def sweep_messages(f, order, backward, m, b, damping, parallel):
    """Update the messages to every variable in `order` once; the largest step of a log-message."""
    # Taken out of the tuple once: Numba counts references to all of it wherever it is passed on.
    cards, starts, bases, strides = f.cardinalities, f.entry_start, f.table_base, f.own_stride
    other_start, other, log_tables = f.other_start, f.other, f.log_tables
    old = m.copy() if parallel else m
    new, mass = np.empty(m.shape[1]), np.empty(m.shape[1])
    sent = np.empty((most_others(f), m.shape[1]))
    change = 0.0
    for position in range(len(order)):
        i = order[len(order) - 1 - position] if backward else order[position]
        states = cards[i]
        for e in range(starts[i], starts[i + 1]):
            if other_start[e] == other_start[e + 1]:
                continue  # a unary factor always sends its table
            factor_message(
                cards, starts, bases, strides, other_start, other, log_tables,
                states, e, old, b, sent, mass, new,
            )  # fmt: skip
            if damping < 1.0:
                damp_message(m, e, damping, states, new)
            for k in range(states):
                if new[k] != m[e, k]:  # -inf may stay -inf
                    change = max(change, abs(new[k] - m[e, k]))
                if not parallel and b[i, k] > -np.inf:
                    b[i, k] += new[k] - m[e, k]
                m[e, k] = new[k]
    return change


@jit
def factor_message(
    cards, starts, bases, strides, other_start, other, log_tables,
    states, e, m, b, sent, mass, new,
):  # fmt: skip
    """Write log m_(f->i) for the entry e = (i, f) into `new`; `sent` and `mass` are scratch."""
    first, last, own = other_start[e], other_start[e + 1], strides[e]
    contexts = 1
    for o in range(first, last):
        variable_message(cards, starts, bases, other[o], bases[e], m, b, o - first, sent)
        contexts *= cards[other[o]]
    for k in range(states):
        new[k], mass[k] = -np.inf, 0.0
    for context in range(contexts):
        product, at, rest, stride = 0.0, bases[e], context, 1
        for o in range(last - 1, first - 1, -1):  # a table's last variable varies fastest
            j = other[o]
            stride *= states if stride == own else 1  # here is i in the table
            x = rest % cards[j]
            rest //= cards[j]
            at += x * stride
            stride *= cards[j]
            product += sent[o - first, x]
        if product == -np.inf:
            continue
        for k in range(states):
            # log sum exp in one pass: `mass` in units of the largest term so far, exp(new[k])
            term = product + log_tables[at + k * own]
            if term > new[k]:
                mass[k] = mass[k] * exp(new[k] - term) + 1.0
                new[k] = term
            elif term > -np.inf:
                mass[k] += exp(term - new[k])
    for k in range(states):
        if new[k] > -np.inf:
            new[k] += log(mass[k])
    normalise_log_probabilities(new, states)


@jit
def variable_message(cards, starts, bases, j, base, m, b, row, sent):
    """Write log m_(j->f), up to a constant, for the factor whose table starts at `base`."""
    low, high = starts[j], starts[j + 1]  # the entry (j, f) by bisection: bases are sorted
    while low < high:
        middle = (low + high) // 2
        if bases[middle] < base:
            low = middle + 1
        else:
            high = middle
    for x in range(cards[j]):
        sent[row, x] = b[j, x] - m[low, x] if b[j, x] > -np.inf else -np.inf


@jit
def damp_message(m, e, damping, states, new):
    """Set new to (1 - D) m[e] + D new as probabilities; keep impossible states at 0."""
    for k in range(states):
        if new[k] > -np.inf:
            new[k] = log_add_exp(log(1.0 - damping) + m[e, k], log(damping) + new[k])
    normalise_log_probabilities(new, states)


@jit
def normalise_log_probabilities(logs, states):
    """Make the first `states` of `logs` those of probabilities, unless all are -inf."""
    top = -np.inf
    for k in range(states):
        top = max(top, logs[k])
    if top == -np.inf:
        return
    total = 0.0
    for k in range(states):
        total += exp(logs[k] - top)
    total = top + log(total)
    for k in range(states):
        logs[k] -= total


@jit
def compute_beliefs(f, m, b, q, joint):
    """Write beliefs of variables into `q` and of factors into `joint`; the Bethe log Z.

    log Z = sum_f sum_x b_f(x) log(f(x) / b_f(x)) + sum_i (d_i - 1) sum_k b_i(k) log b_i(k),
    d_i factors at variable i (Yedidia, Freeman and Weiss 2005), without factors of no variables.
    `joint` is laid out as the log-tables. A factor is counted at its first variable.
    """
    log_z = 0.0
    sent = np.empty((most_others(f) + 1, m.shape[1]))
    logs = np.empty(m.shape[1])
    for i in range(len(q)):
        states = f.cardinalities[i]
        for k in range(states):
            logs[k] = b[i, k]
        normalise_log_probabilities(logs, states)
        q[i] = 0.0
        for k in range(states):
            if logs[k] > -np.inf:
                q[i, k] = exp(logs[k])
                log_z += (f.entry_start[i + 1] - f.entry_start[i] - 1) * q[i, k] * logs[k]
        for e in range(f.entry_start[i], f.entry_start[i + 1]):
            first = True
            for o in range(f.other_start[e], f.other_start[e + 1]):
                first = first and i < f.other[o]
            if first:
                log_z += factor_belief(f, i, e, m, b, sent, joint)
    return log_z


@jit
def factor_belief(f, i, e, m, b, sent, joint):
    """Write the belief of one factor; returns sum_x b_f(x) log(f(x) / b_f(x)).

    -inf if the messages leave the factor no state, which proves that the support is empty.
    """
    first, last, own = f.other_start[e], f.other_start[e + 1], f.own_stride[e]
    base, states, size = f.table_base[e], f.cardinalities[i], f.cardinalities[i]
    variable_message(
        f.cardinalities, f.entry_start, f.table_base, i, base, m, b, last - first, sent
    )
    for o in range(first, last):
        j = f.other[o]
        variable_message(
            f.cardinalities, f.entry_start, f.table_base, j, base, m, b, o - first, sent
        )
        size *= f.cardinalities[j]
    for at in range(size):
        product, stride = sent[last - first, at // own % states], 1
        for o in range(last - 1, first - 1, -1):
            stride *= states if stride == own else 1
            product += sent[o - first, at // stride % f.cardinalities[f.other[o]]]
            stride *= f.cardinalities[f.other[o]]
        joint[base + at] = product + f.log_tables[base + at]
    normalise_log_probabilities(joint[base : base + size], size)
    log_z, possible = 0.0, False
    for at in range(base, base + size):
        log_belief = joint[at]
        joint[at] = exp(log_belief)
        if joint[at] > 0.0:
            log_z += joint[at] * (f.log_tables[at] - log_belief)
            possible = True
    return log_z if possible else -np.inf


@jit
def most_others(f):
    """Return the largest arity but one."""
    most = 0
    for e in range(len(f.table_base)):
        most = max(most, f.other_start[e + 1] - f.other_start[e])
    return most

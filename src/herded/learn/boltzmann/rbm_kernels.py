"""Kernels of restricted Boltzmann machines: two layers, coupled to each other but not within.

Visible unit i has states 0 .. K_i - 1. State 0 has weight 0; each other state has a row of
`weights`, row first[i] + k - 1, and a bias. Hidden units have two states. Given one layer, the
units of the other are independent, so a sweep draws a whole layer at once, with systematic draws
across members (draws/systematic.py). Member m has state x[i, m] at visible unit i.
"""

import numpy as np

from herded.learn.fitting.conditional_kernels import draw_systematically
from herded.system.compilation.jit import jit
from herded.system.numerics.exp_log import exp, log


@jit
def hidden_means(x, first, weights, bias, fields, p):
    """Compute p[0] and p[1] (units, members) of each hidden unit; `fields` is scratch space."""
    for m in range(x.shape[1]):
        for j in range(len(bias)):
            fields[m, j] = bias[j]
    for i in range(len(x)):
        for m in range(x.shape[1]):
            if x[i, m] > 0:
                row = weights[first[i] + x[i, m] - 1]
                for j in range(len(bias)):
                    fields[m, j] += row[j]
    for m in range(x.shape[1]):
        for j in range(len(bias)):
            p[j, 1, m] = 1.0 / (1.0 + exp(-fields[m, j]))
            p[j, 0, m] = 1.0 - p[j, 1, m]


@jit
def visible_conditionals(h, first, across, bias, fields, i, p):
    """Compute p[k, m] of visible unit i from fields (members, rows)."""
    states = first[i + 1] - first[i] + 1
    for m in range(h.shape[1]):
        most = 0.0
        for k in range(1, states):
            most = max(most, fields[m, first[i] + k - 1])
        total = exp(-most)
        p[0, m] = total
        for k in range(1, states):
            p[k, m] = exp(fields[m, first[i] + k - 1] - most)
            total += p[k, m]
        for k in range(states):
            p[k, m] /= total


@jit
def visible_fields(h, across, bias, fields):
    """Compute the fields (members, rows) of visible units, given hidden ones (units, members)."""
    for m in range(h.shape[1]):
        for r in range(len(bias)):
            fields[m, r] = bias[r]
        for j in range(len(h)):
            if h[j, m]:
                for r in range(len(bias)):
                    fields[m, r] += across[j, r]


@jit
def layer_sweeps(
    x, h, first, weights, across, visible_bias, hidden_bias, key, order_key, sweep, sweeps, orders
):
    """Draw all hidden units, then all visible ones, `sweeps` times; `across` is weights.T."""
    members, most = x.shape[1], 2
    for i in range(len(x)):
        most = max(most, first[i + 1] - first[i] + 1)
    of_hidden, of_visible = np.empty((members, len(h))), np.empty((members, len(visible_bias)))
    p_hidden, p = np.empty((len(h), 2, members)), np.empty((most, members))
    later, carried = np.empty(members, np.uint32), np.empty(members, np.uint8)
    for s in range(sweep, sweep + sweeps):
        clock = np.uint64(s * (len(x) + len(h)))
        hidden_means(x, first, weights, hidden_bias, of_hidden, p_hidden)
        for j in range(len(h)):
            at = clock + np.uint64(j)
            draw_systematically(p_hidden[j], 2, key, order_key, at, orders, later, carried, h[j])
        visible_fields(h, across, visible_bias, of_visible)
        for i in range(len(x)):
            visible_conditionals(h, first, across, visible_bias, of_visible, i, p)
            at = clock + np.uint64(len(h) + i)
            states = first[i + 1] - first[i] + 1
            draw_systematically(p, states, key, order_key, at, orders, later, carried, x[i])


@jit
def layer_statistics(x, first, weights, bias, visible, hidden, both):
    """Average over members: visible states, hidden units given x, and their products."""
    members = x.shape[1]
    fields, p = np.empty((members, len(bias))), np.empty((len(bias), 2, members))
    hidden_means(x, first, weights, bias, fields, p)
    visible[:], hidden[:], both[:] = 0.0, 0.0, 0.0
    for m in range(members):
        for j in range(len(bias)):
            fields[m, j] = p[j, 1, m]
            hidden[j] += fields[m, j]
    for i in range(len(x)):
        for m in range(members):
            if x[i, m] > 0:
                row = first[i] + x[i, m] - 1
                visible[row] += 1.0
                for j in range(len(bias)):
                    both[row, j] += fields[m, j]
    visible /= members
    hidden /= members
    both /= members


@jit
def log_scores_of_members(x, first, weights, visible_bias, hidden_bias, scores):
    """Compute the unnormalised log-probability of each member's visible states."""
    fields = np.empty((x.shape[1], len(hidden_bias)))
    p = np.empty((len(hidden_bias), 2, x.shape[1]))
    hidden_means(x, first, weights, hidden_bias, fields, p)
    for m in range(x.shape[1]):
        score = 0.0
        for i in range(len(x)):
            if x[i, m] > 0:
                score += visible_bias[first[i] + x[i, m] - 1]
        for j in range(len(hidden_bias)):
            score += soft_plus(fields[m, j])
        scores[m] = score


@jit
def soft_plus(field):
    """Compute log(1 + e^field)."""
    return max(field, 0.0) + log(1.0 + exp(-abs(field)))


@jit
def enumerated_log_z(first, ties, bias, other_first, other_bias):
    """Sum over all states of one layer, whose unit u has states 0 .. first[u + 1] - first[u].

    States are counted like the digits of a number. The contribution of the digits up to u to the
    other layer's fields is kept, so that a step adds little more than one row.
    """
    units, rows = len(first) - 1, len(other_bias)
    fields, alone = np.empty((units + 1, rows)), np.empty(units + 1)
    fields[0], alone[0] = other_bias, 0.0
    digit = np.zeros(units, np.int64)
    changed, top, total = 0, -np.inf, 0.0
    while True:
        for u in range(changed, units):
            alone[u + 1] = alone[u]
            fields[u + 1] = fields[u]
            if digit[u] > 0:
                at = first[u] + digit[u] - 1
                alone[u + 1] += bias[at]
                for r in range(rows):
                    fields[u + 1, r] += ties[at, r]
        score = alone[units] + layer_log_z(fields[units], other_first)
        if score > top:
            total, top = total * exp(top - score) + 1.0, score
        else:
            total += exp(score - top)
        changed = units - 1
        while changed >= 0 and digit[changed] == first[changed + 1] - first[changed]:
            digit[changed] = 0
            changed -= 1
        if changed < 0:
            return top + log(total)
        digit[changed] += 1


@jit
def layer_log_z(fields, first):
    """Compute the log of the sum over a layer's states, whose units are independent."""
    score = 0.0
    for u in range(len(first) - 1):
        if first[u + 1] - first[u] == 1:
            score += soft_plus(fields[first[u]])
        else:
            most = 0.0
            for r in range(first[u], first[u + 1]):
                most = max(most, fields[r])
            total = exp(-most)
            for r in range(first[u], first[u + 1]):
                total += exp(fields[r] - most)
            score += most + log(total)
    return score

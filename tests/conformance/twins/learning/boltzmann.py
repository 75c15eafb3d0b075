"""Two layers, unit by unit and member by member; and spins, row by row."""

import itertools
import math

import numpy as np

from herded.system.numerics.exp_log import exp, log
from tests.conformance.twins.counter_rng import naive_draw
from tests.conformance.twins.herds.any_graph import naive_orders
from tests.conformance.twins.learning.conditionals import carry, share_behind


def hidden_field(layers, states, j):
    field = float(layers.hidden_bias[j])
    for i, k in enumerate(states):
        if k > 0:
            field += float(layers.weights[layers.first[i] + k - 1, j])
    return field


def hidden_conditional(layers, states, j):
    p = 1.0 / (1.0 + float(exp(-hidden_field(layers, states, j))))
    return [1.0 - p, p]


def visible_conditional(layers, hidden, i):
    fields = [0.0]
    for row in range(layers.first[i], layers.first[i + 1]):
        field = float(layers.visible_bias[row])
        for j, on in enumerate(hidden):
            if on:
                field += float(layers.weights[row, j])
        fields.append(field)
    parts = [float(exp(field - max(fields))) for field in fields]
    total = 0.0
    for part in parts:
        total += part
    return [part / total for part in parts]


def naive_draw_together(conditionals, key, order_key, clock):
    members, orders = len(conditionals), naive_orders(len(conditionals))
    bits = naive_draw(order_key, clock)
    a, b = orders[bits % len(orders)], orders[(bits >> 32) % len(orders)]
    shuffled, drawn = [a[b[j]] for j in range(members)], [0] * members
    for k in range(len(conditionals[0]) - 1):
        shares = [
            share_behind(p, k) if x == k else 0 for p, x in zip(conditionals, drawn, strict=True)
        ]
        carried = carry(shares, shuffled, naive_draw(key + k, clock), members)
        drawn = [x + one for x, one in zip(drawn, carried, strict=True)]
    return drawn


def naive_layer_sweeps(layers, x, key, order_key, first, sweeps):
    """x (members, visible) after the sweeps."""
    x, hidden = [list(map(int, row)) for row in x], len(layers.hidden_bias)
    visible = len(x[0])
    for sweep in range(first, first + sweeps):
        clock, h = sweep * (visible + hidden), [[0] * hidden for _ in x]
        for j in range(hidden):
            ps = [hidden_conditional(layers, row, j) for row in x]
            for row, one in zip(h, naive_draw_together(ps, key, order_key, clock + j), strict=True):
                row[j] = one
        for i in range(visible):
            ps = [visible_conditional(layers, row, i) for row in h]
            drawn = naive_draw_together(ps, key, order_key, clock + hidden + i)
            for row, one in zip(x, drawn, strict=True):
                row[i] = one
    return np.array(x)


def naive_statistics(layers, x):
    """Sums over members in order, divided at the end."""
    visible, hidden = np.zeros(len(layers.visible_bias)), np.zeros(len(layers.hidden_bias))
    both = np.zeros(layers.weights.shape)
    for row in x:
        means = [hidden_conditional(layers, row, j)[1] for j in range(len(hidden))]
        for j, mean in enumerate(means):
            hidden[j] += mean
        for i, k in enumerate(row):
            if k > 0:
                visible[layers.first[i] + k - 1] += 1.0
                for j, mean in enumerate(means):
                    both[layers.first[i] + k - 1, j] += mean
    return visible / len(x), hidden / len(x), both / len(x)


def soft_plus(field):
    return max(field, 0.0) + float(log(1.0 + float(exp(-abs(field)))))


def naive_log_score(layers, states):
    score = 0.0
    for i, k in enumerate(states):
        if k > 0:
            score += float(layers.visible_bias[layers.first[i] + k - 1])
    for j in range(len(layers.hidden_bias)):
        score += soft_plus(hidden_field(layers, states, j))
    return score


def naive_log_z(layers):
    """Over all visible states."""
    ranges = [range(int(k) + 1) for k in np.diff(layers.first)]
    scores = [naive_log_score(layers, states) for states in itertools.product(*ranges)]
    top = max(scores)
    return top + math.log(math.fsum(math.exp(score - top) for score in scores))


def naive_spin_pseudo_likelihood(spins, weight, field, coupling):
    n = len(field)
    of_field, of_coupling, value = np.zeros(n), np.zeros((n, n)), 0.0
    for row, w in zip(spins.tolist(), weight.tolist(), strict=True):
        for i in range(n):
            f = float(field[i])
            for j in range(n):
                f += row[j] * float(coupling[j, i])
            against = -2.0 * row[i] * f
            value -= w * soft_plus(against)
            slope = w * 2.0 * row[i] / (1.0 + float(exp(-against)))
            of_field[i] += slope
            for j in range(n):
                of_coupling[j, i] += row[j] * slope
    return value, of_field, of_coupling

"""Herds on any graph, member after member: one phase for each variable, values taken as carries."""

import numpy as np

from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.integer_conditionals import SCALAR, VECTOR
from tests.conformance.twins.plain_model import Naive
from tests.conformance.twins.samplers.algorithm_1 import add_to_tally, empty_tally, naive_beta


def naive_orders(members):
    """The table of orders: each row a shuffle, by draws that are numbered through the table."""
    rows = 4
    while rows < 64 and 2 * rows <= 2**16 // members:
        rows *= 2
    key, table = naive_key(0, 0, 5), []
    for r in range(rows):
        row = list(range(members))
        for last in range(members - 1, 0, -1):
            other = (naive_draw(key, r * members + last) >> 11) % (last + 1)
            row[last], row[other] = row[other], row[last]
        table.append(row)
    return table


def naive_herd(
    model,
    *,
    kept,
    scan="sequential",
    seed=0,
    chain=0,
    x0,
    sweeps,
    kind,
    schedule=lambda sweep, total: 1.0,
):
    """x0 (members, N) -> samples (sweeps, members, N) and the sums of all conditionals."""
    naive = Naive(model, vector=False, kind=kind)
    members, orders = len(x0), naive_orders(len(x0))
    key, order_key = naive_key(seed, chain, 4), naive_key(seed, chain, 5)
    x = [[int(k) for k in start] for start in x0]
    samples, tally, phases = [], empty_tally(naive), first_phases(naive, seed, chain)
    for sweep in range(sweeps):
        beta = naive_beta(schedule, sweep, sweeps)
        for i in naive.order(scan, sweep, order_key, False):
            clock = sweep * naive.n + i
            if not kept:
                phases[i] = fresh_phases(naive, key, clock, i)
            conditionals = [naive.conditional(i, x[k], beta, VECTOR) for k in range(members)]
            bits = naive_draw(order_key, clock)
            first, second = orders[bits % len(orders)], orders[(bits >> 32) % len(orders)]
            shuffled = [first[second[j]] for j in range(members)]
            below, above, two = two_sides([of_upper_half(p) for p in conditionals], shuffled, kept)
            upper = phases[i]  # of those who come after the others
            if two:
                root = naive.cards[i] // 2
                bits = naive_draw(key if naive.scalar else key + root, clock)
                upper = {root: bits % SCALAR}
            halves = {k: first_half(phases[i], conditionals[k]) for k in below}
            halves |= {k: first_half(upper, conditionals[k]) for k in above}
            for k in shuffled:
                x[k][i] = carried_state(phases[i], conditionals[k], *halves[k])
                add_to_tally(tally, i, conditionals[k])
        samples.append([list(one) for one in x])
    return np.array(samples).reshape(sweeps, members, naive.n), np.array(tally)


def fresh_phases(naive, key, clock, i):
    """A phase for each split of the states in two; split 1 alone for two states."""
    if naive.scalar:
        return {1: naive_draw(key, clock) >> 33}
    return {split: naive_draw(key + split, clock) >> 33 for split in range(1, naive.cards[i])}


def first_phases(naive, seed, chain):
    """Where kept phases start: the places of a variable lie one after another."""
    key, widest = naive_key(seed, chain, 2), max(naive.cards)
    if naive.scalar:
        return {i: {1: naive_draw(key, i) >> 33} for i in range(naive.n)}
    return {
        i: {split: naive_draw(key, i * widest + split) >> 33 for split in range(1, widest)}
        for i in range(naive.n)
    }


def shares(p):
    """The probabilities of all states."""
    return [SCALAR - p, p] if isinstance(p, int) else p


def of_upper_half(p):
    """The share of the upper half of the states."""
    p = shares(p)
    return int(sum(p[len(p) // 2 :]) / sum(p) * SCALAR)


def two_sides(chances, shuffled, kept=False):
    """Who draws first, who draws after them, and whether these have a phase of their own.

    Those below 1/2 are first. Two phases are fresh ones of members who expect less than one 1 on
    the first side; members of 1/2 at odd places of the order are on that side then.
    """
    half = SCALAR // 2
    two = not kept and sum(p for p in chances if p < half) < SCALAR
    first = [k for j, k in enumerate(shuffled) if chances[k] < half + (j % 2 if two else 0)]
    return first, [k for k in shuffled if k not in first], two


def first_half(phases, p):
    """Which half of the states is left after the first split."""
    states = len(shares(p))
    return split(phases, shares(p), 0, states) if states > 1 else (0, 1)


def split(phases, p, low, high):
    """Add the share of the upper half to the phase of this split; a carry takes that half."""
    middle = (low + high) // 2
    value = phases[middle] + int(sum(p[middle:high]) / sum(p[low:high]) * SCALAR)
    phases[middle] = value % SCALAR
    return (middle, high) if value >= SCALAR else (low, middle)


def carried_state(phases, p, low, high):
    """Halve the states that are left until one is."""
    while high - low > 1:
        low, high = split(phases, shares(p), low, high)
    return low

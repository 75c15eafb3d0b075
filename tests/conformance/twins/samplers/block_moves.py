"""Blocks moved at once, with dictionaries: summed out variable by variable, drawn backwards."""

import itertools
import math

import numpy as np

from herded.system.numerics.exp_log import exp, log
from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.draw_rules import naive_choose, naive_pick
from tests.conformance.twins.factors import scopes_and_tables
from tests.conformance.twins.herded_weights import naive_start
from tests.conformance.twins.herds.any_graph import (
    carried_state,
    first_half,
    naive_orders,
    of_upper_half,
    two_sides,
)
from tests.conformance.twins.integer_conditionals import VECTOR, WEIGHT, naive_fixed_vector

FLOOR, WIDEST = 1e-250, 575.0
BINS = 16


def naive_blocks(model, blocks, *, draw, seed=0, chain=0, x0, sweeps, betas=None):
    """x0 (members, N) -> samples (sweeps, members, N) and the sums of all conditionals.

    `blocks` are in their orders of elimination; `draw` is "random" or "herded" for one member,
    "fresh" or "kept" for several.
    """
    cards, n = [int(k) for k in model.cardinalities], model.n_variables
    factors = scopes_and_tables(model)
    movable = [i for i in range(n) if model.evidence[i] < 0 and cards[i] > 1]
    total = sum(map(len, blocks))
    moves = max(1, round(len(movable) * len(blocks) / total)) if blocks else 0
    scale = WEIGHT if draw == "herded" else VECTOR
    chooser = CHOOSERS[draw](blocks, cards, seed, chain, len(x0))
    x, samples, tally = [[int(k) for k in one] for one in x0], [], np.zeros((n, max(cards)), int)
    for sweep in range(sweeps):
        beta = 1.0 if betas is None else betas[sweep]
        for move in range(sweep * moves, (sweep + 1) * moves):
            b = move % len(blocks)
            tables = [naive_tables(factors, blocks[b], cards, one, beta) for one in x]
            for s in range(len(blocks[b]) - 1, -1, -1):
                i = blocks[b][s]
                rows = [own[s].row(one) for own, one in zip(tables, x, strict=True)]
                p = [
                    fixed(row, own[s].in_logs, beta, scale)
                    for row, own in zip(rows, tables, strict=True)
                ]
                chooser.choose(x, i, p, (b, s), move * n + i)
                for one in p:
                    tally[i, : len(one)] += one
        samples.append([list(one) for one in x])
    return np.array(samples).reshape(sweeps, len(x0), n), tally


def fixed(row, in_logs, beta, one):
    """Probabilities that sum to `one`; all alike where nothing is possible."""
    if in_logs:
        return naive_fixed_vector(row, beta, one)
    total, cumulated = sum(row), list(itertools.accumulate(row))
    if total == 0.0:
        cumulated, total = range(1, len(row) + 1), len(row)
    rounded = [int(c / total * one + 0.5) for c in cumulated]
    return tuple(b - a for a, b in zip([0, *rounded], rounded, strict=False))


# -- elimination -----------------------------------------------------------------------------------


class Term:
    """A factor, a message or a table: numbers for the states of a scope."""

    def __init__(self, scope, numbers, in_logs=False, logs=None):
        self.scope, self.numbers, self.in_logs, self.logs = scope, numbers, in_logs, logs
        positive = [] if in_logs else [v for v in numbers.values() if v > 0.0]
        self.low = min(positive, default=1.0)

    def log(self, states, beta):
        if self.logs is not None:
            return self.logs[states]
        return log(self.numbers[states]) / beta

    def row(self, x):
        """The numbers of the last variable's states, given the others."""
        found = [v for key, v in self.numbers.items() if self._agrees(key, x)]
        return found

    def _agrees(self, key, x):
        return all(x[i] == k for i, k in zip(self.scope[:-1], key[:-1], strict=True))


def factor_term(scope, table, beta):
    """A factor's potentials, the largest 1, and its log-potentials."""
    top = float(table.max())
    values, logs = {}, {}
    for states in np.ndindex(table.shape):
        logs[states] = gap = float(table[states])
        values[states] = 1.0 if gap == top else 0.0 if gap == -math.inf else exp(beta * (gap - top))
    term = Term(scope, values, logs=logs)
    term.low = min([1.0, *(v for s, v in values.items() if logs[s] > -math.inf)])
    return term


def naive_tables(factors, order, cards, x, beta):
    """The tables of a block's steps, given the variables of x that are not in it."""
    terms = [factor_term(scope, table, beta) for scope, table in factors]
    waiting = {i: [] for i in order}  # messages to each variable
    tables = []
    for s, i in enumerate(order):
        mine = [term for term in terms if i in term.scope]
        terms = [term for term in terms if i not in term.scope]
        mine += waiting[i]
        later = {j for term in mine for j in term.scope} & set(order[s + 1 :])
        scope = [*sorted(later, key=order.index), i]
        table = naive_product(mine, scope, cards, x, beta)
        tables.append(table)
        if later:
            waiting[scope[0]].append(naive_message(table, cards[i], beta))
    return tables


def naive_product(terms, scope, cards, x, beta):
    """The table of all terms, by multiplication or, where that underflows, in logarithms."""
    keys = list(itertools.product(*(range(cards[j]) for j in scope)))

    def states(term, key):
        now = dict(zip(scope, key, strict=True))
        return tuple(now.get(j, x[j]) for j in term.scope)

    table, low = None, 1.0
    in_logs = beta == math.inf or any(term.in_logs for term in terms)
    for term in () if in_logs else terms:
        if low * term.low < FLOOR and table is not None:
            table, low = naive_rescaled(table)
        if low * term.low < FLOOR:
            in_logs = True
            break
        values = {key: term.numbers[states(term, key)] for key in keys}
        table = values if table is None else {key: table[key] * values[key] for key in keys}
        low *= term.low
    if in_logs:
        sums = dict.fromkeys(keys, 0.0)
        for term in terms:
            sums = {key: sums[key] + term.log(states(term, key), beta) for key in keys}
        return Term(scope, sums, in_logs=True)
    return Term(scope, table or dict.fromkeys(keys, 1.0))


def naive_rescaled(numbers):
    """Numbers whose largest is 1, and the lowest that is not 0."""
    top = max(numbers.values())
    if top == 0.0:
        return numbers, 1.0
    low = min(v for v in numbers.values() if v > 0.0) * (1.0 / top)
    return {key: v * (1.0 / top) for key, v in numbers.items()}, low


def naive_message(table, states, beta):
    """The table summed over its last variable."""
    scope, keys = table.scope[:-1], list(table.numbers)[::states]
    rows = {key[:-1]: [table.numbers[*key[:-1], k] for k in range(states)] for key in keys}
    if not table.in_logs:
        sums = {}
        for key, row in rows.items():
            sums[key] = row[0]
            for value in row[1:]:
                sums[key] += value
        numbers, low = naive_rescaled(sums)
        message = Term(scope, numbers)
        message.low = low
        return message
    logs = {key: naive_log_sum(row, beta) for key, row in rows.items()}
    top, finite = max(logs.values()), [v for v in logs.values() if v > -math.inf]
    if not finite:
        return Term(scope, dict.fromkeys(logs, 0.0))
    logs = {key: v - top for key, v in logs.items()}
    if beta == math.inf or beta * (top - min(finite)) >= WIDEST:
        return Term(scope, logs, in_logs=True, logs=logs)
    message = Term(scope, {k: 0.0 if v == -math.inf else exp(beta * v) for k, v in logs.items()})
    message.low = exp(beta * (min(finite) - top))
    return message


def naive_log_sum(row, beta):
    """log(sum of exp(beta l)) / beta."""
    top = max(row)
    if top == -math.inf:
        return top
    total = 0.0
    for value in row:
        total += exp(beta * (value - top)) if value < top else 1.0
    return top + log(total) / beta


# -- draws -----------------------------------------------------------------------------------------


class Random:
    """One chain, drawn at random."""

    def __init__(self, blocks, cards, seed, chain, members):
        assert members == 1
        self.key = naive_key(seed, chain, 1)

    def choose(self, x, i, p, place, clock):
        x[0][i] = naive_pick(p[0], naive_draw(self.key, clock))


class Herded:
    """One chain, herded in time: a weight for each block, variable and bin of the mean state."""

    def __init__(self, blocks, cards, seed, chain, members):
        assert members == 1
        key, at, self.weights = naive_key(seed, chain, 2), 0, {}
        for b, block in enumerate(blocks):
            for s, i in enumerate(block):
                for q in range(BINS):
                    self.weights[b, s, q] = naive_start(key, at, cards[i])
                    at += cards[i]

    def choose(self, x, i, p, place, clock):
        states = len(p[0])
        mean = sum(k * q for k, q in enumerate(p[0]))
        where = (*place, min(int(mean * (BINS / ((states - 1) * WEIGHT))), BINS - 1))
        x[0][i], self.weights[where] = naive_choose(self.weights[where], p[0], 0, 0)


class Fresh:
    """A herd: one phase for each split of a variable's states, drawn anew at each visit."""

    def __init__(self, blocks, cards, seed, chain, members):
        self.key, self.order_key = naive_key(seed, chain, 4), naive_key(seed, chain, 5)
        self.orders, self.width = naive_orders(members), max(cards)
        self.first = [0, *itertools.accumulate(map(len, blocks))]
        self.start_key, self.phases = naive_key(seed, chain, 2), {}

    def phases_of(self, states, place, clock):
        return {k: naive_draw(self.key + k, clock) >> 33 for k in range(1, states)}

    def choose(self, x, i, p, place, clock):
        phases, bits = self.phases_of(len(p[0]), place, clock), naive_draw(self.order_key, clock)
        rows = self.orders
        first, second = rows[bits % len(rows)], rows[(bits >> 32) % len(rows)]
        shuffled = [first[second[j]] for j in range(len(x))]
        below, above, _ = two_sides([of_upper_half(q) for q in p], shuffled, kept=True)
        halves = {k: first_half(phases, p[k]) for k in [*below, *above]}
        for k in shuffled:
            x[k][i] = carried_state(phases, p[k], *halves[k])


class Kept(Fresh):
    """The same with phases that are kept from visit to visit."""

    def phases_of(self, states, place, clock):
        step = self.first[place[0]] + place[1]
        if place not in self.phases:
            self.phases[place] = {
                k: naive_draw(self.start_key, step * self.width + k) >> 33 for k in range(1, states)
            }
        return self.phases[place]


CHOOSERS = {"random": Random, "herded": Herded, "fresh": Fresh, "kept": Kept}

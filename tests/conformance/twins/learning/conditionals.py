"""What learning visits, row by row: conditionals, what they make one expect, and draws."""

import numpy as np

from herded.system.numerics.exp_log import exp, log
from tests.conformance.twins.counter_rng import naive_draw
from tests.conformance.twins.factors import scopes_and_tables
from tests.conformance.twins.herds.any_graph import naive_orders, two_sides

ONE, AT_ONCE = 2**31, 256


class NaiveRows:
    """A model as dictionaries, with tables that may be replaced, beside rows of states."""

    def __init__(self, model, tables):
        self.cards = [int(k) for k in model.cardinalities]
        self.factors = []
        for (scope, table), first in zip(scopes_and_tables(model), model.table_start, strict=False):
            number = np.arange(first, first + table.size).reshape(table.shape)
            self.factors.append((list(scope), number))
        self.tables = [float(t) for t in tables]

    def entry(self, scope, number, row, i=None, k=None):
        return int(number[tuple(k if j == i else int(row[j]) for j in scope)])

    def conditional(self, i, row):
        logits = [0.0] * self.cards[i]
        for scope, number in self.factors:
            if i in scope:
                for k in range(self.cards[i]):
                    logits[k] += self.tables[self.entry(scope, number, row, i, k)]
        most = max(logits)
        parts = [float(exp(one - most)) for one in logits]
        total = 0.0
        for part in parts:
            total += part
        return [part / total for part in parts]

    def expect(self, i, rows, conditionals, weights, expected):
        for scope, number in self.factors:
            if i in scope:
                share = 1.0 / len(scope)
                for k in range(self.cards[i]):
                    for row, p, weight in zip(rows, conditionals, weights, strict=True):
                        expected[self.entry(scope, number, row, i, k)] += share * weight * p[k]


def naive_pseudo_likelihood(model, tables, rows, weights):
    naive, expected, value = NaiveRows(model, tables), np.zeros(len(tables)), 0.0
    for first in range(0, len(rows), AT_ONCE):
        some, of_them = rows[first : first + AT_ONCE], weights[first : first + AT_ONCE]
        for i in range(len(naive.cards)):
            conditionals = [naive.conditional(i, row) for row in some]
            naive.expect(i, some, conditionals, of_them, expected)
            part = 0.0
            for row, p, weight in zip(some, conditionals, of_them, strict=True):
                part += weight * float(log(p[int(row[i])]))
            value += part
    return value, expected


def naive_herd_sweeps(model, tables, known, rows, key, order_key, first, sweeps, weights):
    """Rows as they are after the sweeps, and what was expected on the way."""
    naive, expected = NaiveRows(model, tables), np.zeros(len(tables))
    rows, members, orders = (
        [list(map(int, row)) for row in rows],
        len(rows),
        naive_orders(len(rows)),
    )
    for sweep in range(first, first + sweeps):
        for i, states in enumerate(naive.cards):
            conditionals = [naive.conditional(i, row) for row in rows]
            for r in range(members):
                if known is not None and known[r][i] >= 0:
                    conditionals[r] = [float(k == known[r][i]) for k in range(states)]
            naive.expect(i, rows, conditionals, weights, expected)
            clock = sweep * len(naive.cards) + i
            bits = naive_draw(order_key, clock)
            a, b = orders[bits % len(orders)], orders[(bits >> 32) % len(orders)]
            shuffled = [a[b[j]] for j in range(members)]
            for row in rows:
                row[i] = 0
            for k in range(states - 1):
                shares = [
                    share_behind(p, k) if row[i] == k else 0
                    for p, row in zip(conditionals, rows, strict=True)
                ]
                carried = carry(shares, shuffled, naive_draw(key + k, clock), members)
                for row, one in zip(rows, carried, strict=True):
                    row[i] += one
    return np.array(rows), expected


def share_behind(p, k):
    behind = 0.0
    for other in p[k + 1 :]:
        behind += other
    return int(behind / (behind + p[k]) * ONE)


def carry(shares, shuffled, bits, members):
    """Those below 1/2 draw first, then the others, who may have a phase of their own."""
    low, high, two = two_sides(shares, shuffled)
    carried, phase = [0] * members, bits >> 33
    for side in (low, high):
        if side is high and two:
            phase = bits % ONE
        for r in side:
            phase += shares[r]
            carried[r] = phase // ONE
            phase %= ONE
    return carried


def naive_scores(model, tables, rows):
    """(tables, rows) what each row scores, variable by variable: a factor counts for all of its."""
    naive, found = NaiveRows(model, tables[0]), np.zeros((len(tables), len(rows)))
    for i in range(len(naive.cards)):
        for scope, number in naive.factors:
            if i in scope:
                for k, table in enumerate(tables):
                    for r, row in enumerate(rows):
                        entry = naive.entry(scope, number, row)
                        found[k, r] += 1.0 / len(scope) * float(table[entry])
    return found


def naive_statistics(model, group, weight, row, count):
    """The statistics of one row."""
    naive, found = NaiveRows(model, model.log_tables), np.zeros(count)
    for scope, number in naive.factors:
        entry = naive.entry(scope, number, row)
        if group[entry] >= 0:
            found[group[entry]] += weight[entry]
    return found

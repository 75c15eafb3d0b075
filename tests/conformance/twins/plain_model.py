"""A model as dictionaries, and its conditionals as each kind of layout has them."""

import math
from functools import cached_property

import numpy as np

from herded.system.numerics.exp_log import exp
from tests.conformance.twins.counter_rng import WORD, naive_shuffle
from tests.conformance.twins.factors import scopes_and_tables
from tests.conformance.twins.integer_conditionals import (
    WEIGHT,
    naive_fixed_products,
    naive_fixed_scalar,
    naive_fixed_vector,
    naive_sigmoid,
)


class Naive:
    """A model as dictionaries: what the twins of all layouts but the lattice look things up in."""

    def __init__(self, model, vector, kind=None):
        self.kind = kind
        self.cards = [int(k) for k in model.cardinalities]
        self.n = len(self.cards)
        self.factors = scopes_and_tables(model)
        known = [int(k) for k in model.evidence]
        self.free = [i for i in range(self.n) if known[i] < 0]
        self.clamped = {i: known[i] for i in range(self.n) if known[i] >= 0}
        self.own = {i: [(s, t) for s, t in self.factors if i in s] for i in range(self.n)}
        self.neighbours = {
            i: sorted({j for s, _ in self.own[i] for j in s if known[j] < 0} - {i})
            for i in range(self.n)
        }
        self.fields, self.rows = {}, {}  # what is known of them by now
        self.scalar = not vector and all(self.cards[i] == 2 for i in self.free)

    def conditional(self, i, x, beta=1.0, one=WEIGHT):
        """The number p_1 in the scalar rule, the tuple (p_0, .., p_(K-1)) in the vector rule."""
        if self.kind == "field":
            return naive_sigmoid(self.field(i, x))
        if self.kind == "pairs":
            return naive_fixed_products(self.products(i, x), one)
        logits = [0.0] * self.cards[i]
        for scope, table in self.own[i]:
            at = [0 if j == i else x[j] for j in scope]
            for k in range(self.cards[i]):
                at[scope.index(i)] = k
                logits[k] += table.item(*at)
        if self.scalar:
            return naive_fixed_scalar(*logits, beta)
        return naive_fixed_vector(logits, beta, one)

    def field(self, i, x):
        """The log-odds of X_i = 1 at scale 2^24: what each neighbour does is rounded by itself."""
        if i not in self.fields:
            self.fields[i] = self.field_alone(i)
        alone, steps = self.fields[i]
        return alone + sum(step * x[j] for j, step in steps)

    def field_alone(self, i):
        """The field where all neighbours are 0, and what each adds to it where it is 1."""
        total, steps = 0, []
        for scope, table in self.own[i]:
            table = np.moveaxis(table, scope.index(i), 0)
            odds = table[1] - table[0]  # one number, or one for each state of the neighbour
            if len(scope) == 1:
                total += round(float(odds) * 2**24)
                continue
            j = scope[1 - scope.index(i)]
            if j in self.clamped:
                total += round(float(odds[self.clamped[j]]) * 2**24)
            else:
                total += round(float(odds[0]) * 2**24)
                steps.append((j, round(float(odds[1] - odds[0]) * 2**24)))
        return total, steps

    def products(self, i, x):
        """What pi(X_i = k) is proportional to: a row for what is clamped, and one a neighbour."""
        products = None
        for j in (None, *self.neighbours[i]):
            name = i, j, j is not None and x[j]
            if name not in self.rows:
                row = self.row(i, x, j)
                self.rows[name] = row if j is None else [float(np.float32(f)) for f in row]
            row = self.rows[name]
            products = row if j is None else [a * b for a, b in zip(products, row, strict=True)]
        return products

    def row(self, i, x, j):
        """exp of the log-potentials between i and j (None: all that is clamped), less the largest.

        They are whole numbers at scale 2^24; what is impossible is 0.
        """
        logs, possible = [0] * self.cards[i], [True] * self.cards[i]
        for scope, table in self.own[i]:
            others = [v for v in scope if v != i and v not in self.clamped]
            if others == ([] if j is None else [j]):
                for k in range(self.cards[i]):
                    log = float(table[tuple(k if v == i else x[v] for v in scope)])
                    possible[k] &= log > -math.inf
                    logs[k] += round(log * 2**24) if log > -math.inf else 0
        top = max((a for a, can in zip(logs, possible, strict=True) if can), default=0)
        return [
            exp((a - top) / 2**24) if can else 0.0 for a, can in zip(logs, possible, strict=True)
        ]

    def around(self, i, x):
        """The states of the neighbours of i."""
        return tuple(x[j] for j in self.neighbours[i])

    @cached_property
    def components(self):
        """Free variables that hang together, in order of their first members."""
        parts, seen = [], set()
        for first in self.free:
            if first not in seen:
                part, waiting = set(), [first]
                while waiting:
                    i = waiting.pop()
                    if i not in part:
                        part.add(i)
                        waiting.extend(self.neighbours[i])
                parts.append(sorted(part))
                seen |= part
        return parts

    @cached_property
    def colours(self):
        """Each variable takes the least colour that no neighbour before it has."""
        colour = {}
        for i in range(self.n):
            taken = {colour[j] for j in self.neighbours[i] if j in colour}
            colour[i] = min(c for c in range(self.n + 1) if c not in taken)
        return colour

    def order(self, scan, sweep, key, whole):
        """Step 2 of Algorithm 1: the variables in order of their visits."""
        if not isinstance(scan, str):
            return [int(i) for i in scan if i in self.free]
        if scan == "checkerboard":
            return sorted(self.free, key=lambda i: (self.colours[i], i))
        if scan != "random":
            return self.free
        order = []
        for part in [self.free] if whole else self.components:
            order += naive_shuffle(part, (key + sweep * self.n + part[0]) & WORD if part else 0)
        return order

"""The choice of blocks with sets: eliminate the smallest cluster, or cut, until nothing is left."""

import itertools
import math

import numpy as np

from tests.conformance.twins.counter_rng import naive_key, naive_shuffle
from tests.conformance.twins.factors import scopes_and_tables


class NaiveChooser:
    """Blocks of at most so many entries, each of which knows what the earlier ones have cut."""

    def __init__(self, model, entries):
        self.cards, self.entries = [int(k) for k in model.cardinalities], entries
        self.movable = [i for i, k in enumerate(self.cards) if model.evidence[i] < 0 and k > 1]
        self.factors = [
            ([i for i in scope if i in self.movable], open_table(model, scope, table))
            for scope, table in scopes_and_tables(model)
        ]
        self.cuts, self.number = dict.fromkeys(self.movable, 0), 0

    def next(self, held=()):
        """One more block; `held` are sets of variables, the later the longer they are kept."""
        rank = naive_shuffle(range(len(self.cards)), naive_key(self.number, 8))
        near = {i: set() for i in self.movable}
        for scope, _ in self.factors:
            for i, j in itertools.permutations(scope, 2):
                near[i].add(j)
        order = []
        while near:
            size = {i: math.prod(self.cards[j] for j in {i, *near[i]}) for i in near}
            i = min(near, key=lambda i: (size[i], rank.index(i)))
            if size[i] <= self.entries:
                order.append(i)
                for j, k in itertools.permutations(near[i], 2):
                    near[j].add(k)
            else:
                level = {i: sum(i in some for some in held) for i in near}
                i = min(near, key=lambda i: (level[i], self.cuts[i], -len(near[i]), rank.index(i)))
            for j in near.pop(i):
                near[j].discard(i)
        self.number += 1
        if not held:
            torn = [own for own in self.classes() if not own <= set(order)]
            order = [i for i in order if not any(i in own for own in torn)]
        for i in set(self.movable) - set(order):
            self.cuts[i] += 1
        return order

    def classes(self):
        """Sets of variables of which each decides the others."""
        found = [{i} for i in self.movable]
        for scope, possible in self.factors:
            if len(scope) == 2 and (possible.sum(0) <= 1).all() and (possible.sum(1) <= 1).all():
                joined = set().union(*(own for own in found if own & set(scope)))
                found = [own for own in found if not own & joined] + [joined]
        return found


def open_table(model, scope, table):
    """What a factor allows of its movable variables."""
    known = [
        slice(None)
        if model.evidence[i] < 0 and model.cardinalities[i] > 1
        else max(0, int(model.evidence[i]))
        for i in scope
    ]
    return ~np.isneginf(table[tuple(known)])


def naive_choice(model, entries, count):
    """All blocks: `count`, or one that is whole, then what covers variables and hard factors."""
    movable = NaiveChooser(model, 0).movable
    chooser = NaiveChooser(model, max([entries, *(int(model.cardinalities[i]) for i in movable)]))
    blocks = []
    for _ in range(count):
        block = chooser.next()
        if len(block) == len(movable):
            return [block] if block else []
        blocks += [block] if block else []
    while left := set(movable) - {i for block in blocks for i in block}:
        blocks.append(chooser.next([left]))
    tables = scopes_and_tables(model)
    ties = [
        set(scope)
        for (scope, _), (_, table) in zip(chooser.factors, tables, strict=True)
        if np.isneginf(table).any()
        and len(scope) > 1
        and math.prod(chooser.cards[i] for i in scope) <= chooser.entries
    ]
    for _ in range(count):
        ties = [scope for scope in ties if not any(scope <= set(block) for block in blocks)]
        if not ties:
            break
        blocks.append(chooser.next([set().union(*ties), ties[0]]))
    return blocks

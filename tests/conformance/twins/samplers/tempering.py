"""Tempering with lists and sets: rungs one after another, components found anew each time."""

import itertools
import math
from collections import Counter

import numpy as np

from herded.system.numerics.exp_log import exp
from tests.conformance.twins.counter_rng import WORD, naive_draw, naive_key, naive_shuffle
from tests.conformance.twins.draw_rules import naive_pick
from tests.conformance.twins.integer_conditionals import (
    VECTOR,
    naive_fixed_scalar,
    naive_fixed_vector,
    naive_sigmoid,
)
from tests.conformance.twins.plain_model import Naive
from tests.conformance.twins.samplers.algorithm_1 import add_to_tally, empty_tally


def naive_ladder(
    model, *, x0, betas, kind, swaps="components", scan="sequential", seed=0, chain=0, sweeps,
    burn_in, melted=None,
):  # fmt: skip
    """x0 (rungs, N) -> samples (sweeps, rungs, N), sums of the coldest, betas, rejections, trips.

    `melted` is the model of all rungs but the coldest, where that is another.
    """
    ladder = NaiveLadder(model, melted or model, kind, swaps, x0, betas, seed, chain)
    samples, rungs = [], len(betas)
    pace = 2 if kind == "field" and rungs == 8 and has_few_neighbours(ladder.model) else 1
    for sweep in range(sweeps):
        if sweep == burn_in:
            ladder.is_frozen = True
            leaps = naive_leaps(ladder.model, [x[-1] for x in samples]) if kind == "field" else []
        for i in ladder.order(scan, sweep):
            for r in range(rungs):
                ladder.visit(i, r, sweep)
        turn = sweep // pace
        if ladder.is_frozen and leaps and sweep % pace == 0:
            ladder.leap(leaps, turn)
        samples.append([list(x) for x in ladder.x])
        for r in range(turn % 2, rungs - 1, 2) if sweep % pace == pace - 1 else ():
            ladder.exchange(r, turn)
        ladder.respace(sweep + 1)
    return np.array(samples), np.array(ladder.tally), ladder.betas, ladder.rejected, ladder.came


class NaiveLadder:
    """All rungs: states, temperatures, and what happened between them."""

    def __init__(self, model, melted, kind, swaps, x0, betas, seed, chain):
        self.model, self.soft = Naive(model, False, kind), Naive(melted, False, kind)
        self.kind, self.whole = kind, swaps == "whole"
        self.melts = melted is not model
        self.x = [[int(k) for k in x] for x in x0]
        self.betas, n = [float(b) for b in betas], self.model.n
        gaps = len(betas) - 1
        self.tried, self.rejected, self.apart = ([0.0] * gaps for _ in range(3))
        self.from_hottest = [[0] * n for _ in betas]
        self.came, self.is_frozen = [0] * n, False
        self.keys = [naive_key(seed, chain * len(betas) + r, 1) for r in range(len(betas))]
        self.swap_key, self.scan_key = naive_key(seed, chain, 6), naive_key(seed, chain, 7)
        self.leap_key = naive_key(seed, chain, 9)
        self.tally = empty_tally(self.model)

    def order(self, scan, sweep):
        """All rungs are visited in one order; a random one is a shuffle of all variables."""
        if scan != "random":
            return self.model.order(scan, sweep, 0, False)
        apart = [i for part in self.model.components for i in part]
        return naive_shuffle(apart, (self.scan_key + sweep * self.model.n) & WORD)

    def visit(self, i, r, sweep):
        """Draw variable i on rung r."""
        naive, counter = self.model if r == len(self.betas) - 1 else self.soft, sweep * self.model.n
        if self.kind == "field":
            p = naive_sigmoid(math.trunc(naive.field(i, self.x[r]) * self.betas[r]))
            pairs = (len(self.betas) + 1) // 2
            both = naive_draw(self.keys[0], (counter + i) * pairs + r % pairs)
            bits = both if r < pairs else both << 31 & WORD
        else:
            p = self.conditional(naive, i, self.x[r], self.betas[r])
            bits = naive_draw(self.keys[r], counter + i)
        self.x[r][i] = naive_pick(p, bits)
        if r == len(self.betas) - 1:
            add_to_tally(self.tally, i, p)

    @staticmethod
    def conditional(naive, i, x, beta):
        logits = [0.0] * naive.cards[i]
        for scope, table in naive.factors:
            if i in scope:
                for k in range(naive.cards[i]):
                    logits[k] += float(table[tuple(k if j == i else x[j] for j in scope)])
        if naive.scalar:
            return naive_fixed_scalar(*logits, beta)
        return naive_fixed_vector(logits, beta, VECTOR)

    # -- leaps -------------------------------------------------------------------------------

    def leap(self, leaps, turn):
        """Try some of the sets on the colder half of the rungs."""
        rungs, n = len(self.betas), self.model.n
        tries = min(len(leaps), max(1, n * len(leaps) // sum(map(len, leaps))))
        for k in range(tries):
            chosen = leaps[(turn * tries + k) % len(leaps)]
            for r in range(rungs // 2, rungs):
                x = [1 - v if i in chosen else v for i, v in enumerate(self.x[r])]
                gain = self.betas[r] / 2.0**24 * self.rise(self.x[r], x)
                accepted = 1.0 if gain >= 0 else exp(gain)
                bits = naive_draw(self.leap_key, (turn * rungs + r) * 64 + k)
                if (bits >> 11) * 2.0**-53 < accepted:
                    self.x[r] = x

    def rise(self, x, to):
        """S(to) - S(x) in whole numbers, changing one variable after another."""
        x, total = list(x), 0
        for v in range(len(x)):
            if x[v] != to[v]:
                total += self.model.field(v, x) * (to[v] - x[v])
                x[v] = to[v]
        return float(total)

    # -- exchanges ---------------------------------------------------------------------------

    def exchange(self, r, turn):
        """Exchange components between rungs r and r + 1, or all of them at once."""
        naive, clock = self.model, (turn * len(self.betas) + r) * self.model.n
        self.tried[r] += naive.n
        parts = list(self.components(r))
        scale = 2.0**24 if self.kind == "field" else 1.0
        total, gap = 0.0, (self.betas[r + 1] - self.betas[r]) / scale
        for _, difference in parts:
            total += difference
        self.apart[r] -= gap * total * naive.n if total > -math.inf else 0.0
        if self.whole:
            together = [v for part, _ in parts for v in part]
            parts = [(together, total)] if together else []
        for part, difference in parts:
            first = 0 if self.whole else part[0]
            gain = -math.inf if difference == -math.inf else gap * difference
            accepted = 1.0 if gain >= 0 else exp(gain)
            self.rejected[r] += len(part) * (1.0 - accepted)
            if (naive_draw(self.swap_key, clock + first) >> 11) * 2.0**-53 < accepted:
                for v in part:
                    self.swap(r, v)

    def components(self, r):
        """(variables, S(hot) - S(cold)) of each, breadth first from the least variable."""
        hot, cold = self.x[r], self.x[r + 1]
        left = [i for i in range(self.model.n) if hot[i] != cold[i]]
        while left:
            part, difference, seen = [left[0]], 0.0, set()
            possible = True
            for v in part:  # which grows
                for f, (scope, table) in enumerate(self.soft.factors):
                    if v not in scope or f in seen:
                        continue
                    seen.add(f)
                    part += [u for u in scope if u in left and u not in part]
                    here, there = (tuple(x[j] for j in scope) for x in (hot, cold))
                    difference += float(table[here]) - float(table[there])
                    if self.melts and r == len(self.betas) - 2:
                        possible &= self.model.factors[f][1][here] > -math.inf
            if self.kind == "field":
                difference = self.field_difference(r, part)
            yield part, difference if possible else -math.inf
            left = [i for i in left if i not in part]

    def field_difference(self, r, part):
        """S(hot) - S(cold) in whole numbers, changing one variable after another."""
        cold = self.x[r + 1]
        return self.rise(cold, [self.x[r][v] if v in part else cold[v] for v in range(len(cold))])

    def swap(self, r, v):
        hot, cold = self.x[r], self.x[r + 1]
        hot[v], cold[v] = cold[v], hot[v]
        above, below = self.from_hottest[r], self.from_hottest[r + 1]
        above[v], below[v] = below[v], 1 if r == 0 else above[v]
        if r + 2 == len(self.betas):
            self.came[v] += below[v]
            below[v] = 0

    def respace(self, done):
        """At powers of two from 32 on: as much rejection in every gap, or as far apart."""
        if self.is_frozen or done < 32 or done & (done - 1):
            return
        gaps = len(self.tried) - self.melts
        bridges, upto = self.betas[0] == 0.0, [0.0]
        sums = self.apart if bridges else self.rejected
        for r in range(gaps):
            rate = max(sums[r] / self.tried[r] if self.tried[r] > 0 else 0.0, 1e-3)
            upto.append(upto[-1] + (math.sqrt(rate) if bridges else rate))
        old = list(self.betas)
        for r in range(1, gaps):
            wanted = upto[-1] * r / gaps
            gap = next(g for g in range(gaps) if upto[g + 1] >= wanted)
            part = (wanted - upto[gap]) / (upto[gap + 1] - upto[gap])
            self.betas[r] = old[gap] + part * (old[gap + 1] - old[gap])
        self.tried, self.rejected, self.apart = ([0.0] * len(self.tried) for _ in range(3))


def naive_leaps(naive, states):
    """The sets that lie between quenched states of a burn-in: the most frequent 64."""
    every = 1
    while len(states) > 64 * every:
        every *= 2
    quenched, met = [naive_quench(naive, x) for x in states[every - 1 :: every]], Counter()
    for before, after in itertools.pairwise(quenched):
        left = [i for i in range(naive.n) if before[i] != after[i]]
        while left:
            part = [left[0]]
            for v in part:  # which grows
                part += [u for u in left if u not in part and depends(naive, v, u)]
            left = [i for i in left if i not in part]
            met[frozenset(part)] += 1
    return [part for part, _ in met.most_common() if len(part) > 1][:64]


def depends(naive, v, u):
    """Whether the field of v depends on the state of u."""
    zero, one = ([int(k and i == u) for i in range(naive.n)] for k in (0, 1))
    return naive.field(v, zero) != naive.field(v, one)


def has_few_neighbours(naive):
    """Leaps and exchanges take turns there."""
    free = naive.free
    return all(sum(u != v and depends(naive, v, u) for u in free) <= 6 for v in free)


def naive_quench(naive, x):
    """Every variable at its likelier value, one after another until none changes."""
    x, before = list(x), None
    while x != before:
        before = list(x)
        for i in range(naive.n):
            field = naive.field(i, x) if i in naive.free else 0
            x[i] = 1 if field > 0 else 0 if field < 0 else x[i]
    return x

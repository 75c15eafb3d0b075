"""Tempering of functions: whole states exchange, by log-scores that follow every visit."""

import numpy as np

from herded.system.numerics.exp_log import exp
from tests.conformance.twins.counter_rng import naive_draw
from tests.conformance.twins.samplers.tempering import NaiveLadder


def naive_own_ladder(model, *, x0, scores, betas, seed, chain, sweeps, burn_in):
    """x0 (rungs, N) -> samples (sweeps, rungs, N), sums of the coldest, betas, trips, scores."""
    ladder = NaiveOwnLadder(model, model, "factor", "whole", x0, betas, seed, chain)
    ladder.scores, samples = [float(score) for score in scores], []
    for sweep in range(sweeps):
        ladder.is_frozen |= sweep == burn_in
        for i in ladder.order("sequential", sweep):
            for r in range(len(betas)):
                ladder.visit(i, r, sweep)
        samples.append([list(x) for x in ladder.x])
        for r in range(sweep % 2, len(betas) - 1, 2):
            ladder.exchange(r, sweep)
        ladder.respace(sweep + 1)
    return np.array(samples), np.array(ladder.tally), ladder.betas, ladder.came, ladder.scores


class NaiveOwnLadder(NaiveLadder):
    """A ladder that knows log-scores and no factors."""

    def visit(self, i, r, sweep):
        before, logits = self.x[r][i], self.logits(i, self.x[r])
        super().visit(i, r, sweep)
        self.scores[r] += logits[self.x[r][i]] - logits[before]

    def logits(self, i, x):
        found = [0.0] * self.model.cards[i]
        for scope, table in self.model.factors:
            if i in scope:
                for k in range(self.model.cards[i]):
                    found[k] += float(table[tuple(k if j == i else x[j] for j in scope)])
        return found

    def exchange(self, r, sweep):
        n, scores = self.model.n, self.scores
        self.tried[r] += n
        gain = (self.betas[r + 1] - self.betas[r]) * (scores[r] - scores[r + 1])
        accepted = 1.0 if gain >= 0 else exp(gain)
        self.rejected[r] += n * (1.0 - accepted)
        clock = (sweep * len(self.betas) + r) * n
        if (naive_draw(self.swap_key, clock) >> 11) * 2.0**-53 < accepted:
            scores[r], scores[r + 1] = scores[r + 1], scores[r]
            for v in range(n):
                self.swap(r, v)

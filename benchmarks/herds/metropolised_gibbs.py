"""Updates that leave the old state as often as they can: Gibbs sampling without standing still.

    restless     states on a circle, moved on by the largest (Suwa and Todo 2010); not reversible
    zero_self    reversible: ZDNAM (Neal 2024, "Modifying Gibbs sampling to avoid self transitions")
    plain        Gibbs sampling by the same code

With p the conditional, either one stays with probability max(0, 2 max(p) - 1) in all, which is the
least there is. For two states both are Metropolised Gibbs sampling (Liu 1996).
"""

import numpy as np

import herded as hd
from benchmarks.herds.gibbs_variants import UNIT, _11, arrays, conditional, pick, shares
from herded.system.compilation.jit import jit
from herded.system.numerics.counter_rng import random_bits, stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

PLAIN, RESTLESS, ZERO_SELF = 0, 1, 2


def plain(model: hd.FactorGraph, updates: int, seed: int) -> np.ndarray:
    """Marginals (N, K) by Gibbs sampling."""
    return run(model, updates, seed, PLAIN)


def restless(model: hd.FactorGraph, updates: int, seed: int) -> np.ndarray:
    """Marginals (N, K) by Suwa and Todo's updates."""
    return run(model, updates, seed, RESTLESS)


def zero_self(model: hd.FactorGraph, updates: int, seed: int) -> np.ndarray:
    """Marginals (N, K) by Neal's updates."""
    return run(model, updates, seed, ZERO_SELF)


def run(model: hd.FactorGraph, updates: int, seed: int, how: int) -> np.ndarray:
    of = arrays(model, seed)
    kept = np.zeros((len(of.cards), of.cards.max()))
    key = stream_key(seed, 0, StreamPurpose.BENCHMARK_SAMPLERS)
    random_sweeps(of.told, of.start, updates, updates // 10, key, how, kept)
    return shares(of, kept)


@jit
def circle(p, states, now, flow):
    """Fill flow with Suwa and Todo's transition probabilities from state `now`.

    The states are laid end to end round a circle, the most probable one first, and once more moved
    on by its length; where a state's new piece lies over old ones, probability flows.
    """
    top = 0
    for s in range(1, states):
        if p[s] > p[top]:
            top = s
    upto, total = 0.0, 0.0  # the end of `now`, in the order top, 0, 1, ..
    for k in range(states):
        s = top if k == 0 else (k - 1 if k - 1 < top else k)
        total += p[s]
        if s == now:
            upto = total
    before = total  # S_0 = S_n
    for k in range(states):
        s = top if k == 0 else (k - 1 if k - 1 < top else k)
        gap = upto - before + p[top]
        over = min(min(gap, p[now] + p[s] - gap), min(p[now], p[s]))
        flow[s] = max(0.0, over) / p[now]
        before = p[s] if k == 0 else before + p[s]


@jit
def nested(p, states, now, flow, order):
    """Fill flow with ZDNAM's transition probabilities from state `now`.

    States are taken in turn, the most probable first. What is left of each of them, `left` of its
    probability, flows from the state in turn to all later ones in proportion, and back: antithetic
    modification. Two cases differ. A state that has more than all later ones together takes all of
    theirs, and stays with the rest. And where the next one would be such a state, it gets so much
    more from the one in turn that it is left with just what the later ones have: then nobody stays.
    """
    for s in range(states):
        flow[s] = 0.0
        order[s] = s
    for k in range(1, states):  # by insertion: states are few
        s, place = order[k], k
        while place > 0 and p[order[place - 1]] < p[s]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = s
    left, later = 1.0, 0.0
    for k in range(1, states):
        later += p[order[k]]
    for k in range(states):
        one = order[k]
        if later <= p[one]:
            if now == one:
                for j in range(k + 1, states):
                    flow[order[j]] = left * p[order[j]] / p[now]
                flow[one] = left * (p[one] - later) / p[now]
            else:
                flow[one] = left
            return
        second = order[k + 1]
        rest = max(0.0, later - p[second])
        to_second = p[one] * p[second] / later
        if p[second] > rest:
            to_second = (p[one] + p[second] - rest) / 2
        to_rest = p[one] - to_second
        if now == one:
            flow[second] = left * to_second / p[now]
            for j in range(k + 2, states):
                flow[order[j]] = left * to_rest * p[order[j]] / rest / p[now] if rest > 0 else 0.0
            return
        # now comes later: what flows back to the one in turn
        if p[second] > rest:
            back = to_second / p[second] if now == second else to_rest / rest
            flow[one] = left * back
            # the second and the rest have as much left: all of it flows between them
            if now == second:
                for j in range(k + 2, states):
                    flow[order[j]] = left * (1 - to_rest / rest) * p[order[j]] / p[now]
            else:
                flow[second] = left * (1 - back)
            return
        flow[one] = left * p[one] / later
        left *= 1 - p[one] / later
        later = rest


@jit
def random_sweeps(told, start, sweeps, burn_in, key, how, kept):
    cards, free = told[0], told[1]
    x, p, flow, count = start.copy(), np.empty(cards.max()), np.empty(cards.max()), np.uint64(0)
    order = np.empty(cards.max(), np.int64)
    for t in range(sweeps):
        for i in free:
            conditional(told, i, x, p)
            count += np.uint64(1)
            u = np.float64(random_bits(key, count) >> _11) * UNIT
            if how == RESTLESS:
                circle(p, cards[i], x[i], flow)
                x[i] = pick(flow, cards[i], u)
            elif how == ZERO_SELF:
                nested(p, cards[i], x[i], flow, order)
                x[i] = pick(flow, cards[i], u)
            else:
                x[i] = pick(p, cards[i], u)
            if t >= burn_in:
                for s in range(cards[i]):
                    kept[i, s] += p[s]

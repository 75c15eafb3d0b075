"""Herds of pairs: variable after variable, member after member, each down a tree of carries."""

import numpy as np

from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.herds.any_graph import naive_orders
from tests.conformance.twins.herds.potts import ONE, TURN, naive_conditional, naive_share, tree_sum
from tests.conformance.twins.plain_model import Naive

SINGLE = 80.0
RECORDED = 2**30


def naive_pairs_herd(model, *, kept, scan="sequential", seed=0, chain=0, x0, sweeps):
    """x0 (members, N) -> samples (sweeps, members, N), and sums (N, K) of conditionals."""
    naive = Naive(model, vector=True, kind="pairs")
    width = max(4, 2 ** (max(naive.cards) - 1).bit_length())
    kind = np.float32 if spread(naive) <= SINGLE else np.float64
    members, orders = len(x0), naive_orders(len(x0))
    key, order_key = naive_key(seed, chain, 4), naive_key(seed, chain, 5)
    start_key = naive_key(seed, chain, 2)
    phases = {
        i: [(naive_draw(start_key, 2 * width * i + c) >> 33) % ONE for c in range(2 * width)]
        for i in range(naive.n)
    }
    x = [[int(k) for k in start] for start in x0]
    samples, tally = [], np.zeros((naive.n, max(naive.cards)), int)
    for sweep in range(sweeps):
        for i in naive.order(scan, sweep, order_key, False):
            clock = sweep * naive.n + i
            if not kept:
                bits = [naive_draw(key, clock * width + node) for node in range(width)]
                phases[i] = [part % ONE for both in bits for part in (both, both >> 32)]
            bits = naive_draw(order_key, clock)
            first, second = orders[bits % len(orders)], orders[(bits >> 32) % len(orders)]
            dither = naive_draw(bits, 0)
            for j, k in enumerate(first[second[j]] for j in range(members)):
                w = weights(naive, i, x[k], kind)
                conditional = naive_conditional(w, RECORDED, dither + j * TURN)
                tally[i, : naive.cards[i]] += conditional
                x[k][i] = descent(w, width, phases[i])
        samples.append([list(one) for one in x])
    return np.array(samples).reshape(sweeps, members, naive.n), tally


def spread(naive):
    """How far the logarithms around a variable may be apart."""
    around = [0.0] * naive.n
    for scope, table in naive.factors:
        finite = table[np.isfinite(table)]
        for i in scope:
            around[i] += float(finite.max() - finite.min()) if finite.size else 0.0
    return max(around)


def weights(naive, i, x, kind):
    """What the conditional is proportional to, in the precision of the kernel."""
    found = [kind(factor) for factor in naive.row(i, x, None)]
    for j in naive.neighbours[i]:
        row = [np.float32(factor) for factor in naive.row(i, x, j)]
        found = [kind(a * b) for a, b in zip(found, row, strict=True)]
    return found


def descent(w, width, phases):
    """The new state: a carry for each of its bits, the highest first."""
    steps, kind = (len(w) - 1).bit_length(), type(w[0])
    branch = w + [kind(0)] * (2**steps - len(w))
    half, place, state = width >> steps, 0, 0
    for _ in range(steps):
        left, right = branch[: len(branch) // 2], branch[len(branch) // 2 :]
        left_sum, right_sum = tree_sum(left), tree_sum(right)
        share = naive_share(left_sum, right_sum) if left_sum + right_sum > 0 else 0
        at = 2 * (half + place) + (2 * share >= ONE)
        bit, phases[at] = divmod(phases[at] + share, ONE)
        branch, state = right if bit else left, 2 * state + bit
        place, half = place + bit * half, 2 * half
    return state

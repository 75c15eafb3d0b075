"""Herds on Potts lattices: site after site of a colour, word after word, member after member.

Phases and orders are named by the cell of 32 sites that a site lies in when packed by colour.
"""

import math

import numpy as np

from herded.system.exp import exp
from naive.stream import naive_draw, naive_key

LANES = WORD = 32
ONE = 2**24
LEFT = (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF)
STRONGEST = 17.5


def naive_potts_herd(model, *, members, kept, seed=0, chain=0, x0, sweeps):
    """Samples (sweeps, members, N), and sums (N, K) of conditionals at scale 2^24."""
    (height, width), states = model.shape, model.log_unary.shape[2]
    columns, planes = (width + 1) // 2, (states - 1).bit_length()
    cells = math.ceil(height * columns / LANES)
    rows = 2 * (2**planes - 1 if planes <= 3 else 2 ** (planes - 3) + 6)  # two of each node
    key, order_key = naive_key(seed, chain, 4), naive_key(seed, chain, 5)
    start_key, phases = naive_key(seed, chain, 2), {}
    x = [[int(k) for k in member] for member in x0]
    samples, tally = [], np.zeros((height * width, states), int)
    for sweep in range(sweeps):
        for colour in (0, 1):
            sites = [i for i in range(height * width) if sum(divmod(i, width)) % 2 == colour]
            for i in sites:
                r, c = divmod(i, width)
                cell, lane = divmod(r * columns + c // 2, LANES)
                visit = (2 * sweep + colour) * cells + cell
                phi = [lane_bits(naive_draw(key, visit * rows + p), lane) for p in range(rows)]
                if kept:
                    first = (colour * cells + cell) * rows * LANES + lane
                    started = [naive_draw(start_key, first + p * LANES) for p in range(rows)]
                    phi = phases.get(i, [bits >> 33 for bits in started])
                phi = [phase % ONE for phase in phi]
                for m in naive_order(members, order_key, visit, lane):
                    weights = naive_weights(model, r, c, x[m])
                    tally[i] += naive_conditional(weights)
                    x[m][i] = naive_descent(weights, planes, phi)
                phases[i] = phi
        samples.append([list(member) for member in x])
    return np.array(samples).reshape(sweeps, members, -1), tally


def lane_bits(bits, lane):
    """32 random bits of a lane, from the 64 of its cell."""
    word = 2**32 - 1
    z = (lane * 0x9E3779B9 + (bits >> 32)) & word
    z = (z ^ (z >> 16)) * 0x21F0AAAD & word
    z = (z ^ (z >> 15) ^ bits) & word
    z = z * 0x735A2D97 & word
    return z ^ (z >> 15)


def naive_order(members, order_key, visit, lane):
    """The members in the order in which a site takes them."""
    words, order = math.ceil(members / WORD), []
    for word in fisher_yates(words, naive_draw(order_key, visit * (words + 1))):
        name = naive_draw(order_key, visit * (words + 1) + 1 + word)
        live = min(WORD, members - word * WORD)
        seats = list(range(live))
        for stage, left in enumerate(LEFT):
            switches = lane_bits(naive_draw(name, stage), lane) & left
            for k in range(live - 2**stage):
                if switches >> k & 1:
                    seats[k], seats[k + 2**stage] = seats[k + 2**stage], seats[k]
        order += [word * WORD + seats[k] for k in fisher_yates(live, naive_draw(name, len(LEFT)))]
    return order


def fisher_yates(n, key):
    items = list(range(n))
    for last in range(n - 1, 0, -1):
        other = (naive_draw(key, last) >> 32) * (last + 1) >> 32
        items[last], items[other] = items[other], items[last]
    return items


def naive_weights(model, r, c, x):
    """What the conditional of site (r, c) is proportional to, in the precision of the kernels."""
    (height, width), ring = model.shape, model.periodic
    couplings = np.concatenate([model.right.ravel(), model.down.ravel()])
    kind = np.float32 if np.abs(couplings).max(initial=0) <= STRONGEST else np.float64
    there = [ring or c > 0, ring or c < width - 1, ring or r > 0, ring or r < height - 1]
    places = [(r, c - 1), (r, c + 1), (r - 1, c), (r + 1, c)]
    coupling = [(model.right, r, c - 1), (model.right, r, c), (model.down, r - 1, c)]
    coupling.append((model.down, r, c))
    around = [
        (x[a % height * width + b % width], exp(float(table[at, to])))
        for is_there, (a, b), (table, at, to) in zip(there, places, coupling, strict=True)
        if is_there
    ]
    unary = [float(a) for a in model.log_unary[r, c]]
    weights = []
    for k, a in enumerate(unary):
        u = exp(a - max(unary))
        if model.clamped[r, c] >= 0:
            u = float(k == model.clamped[r, c])
        factors = [f for state, f in around if state == k]
        if len(set(couplings)) <= 1:  # powers are tabulated in double precision
            for f in factors:
                u *= f
            weights.append(kind(u if u >= np.finfo(kind).tiny else 0.0))
        else:
            weight = kind(u if u >= np.finfo(kind).tiny else 0.0)
            for f in factors:
                weight = kind(weight * kind(f))
            weights.append(weight)
    return weights


def naive_conditional(weights):
    """At scale 2^24, from cumulated weights."""
    kind, upto, before, p = type(weights[0]), type(weights[0])(0), 0, []
    total = kind(0)
    for weight in weights:
        total = kind(total + weight)
    for weight in weights:
        upto = kind(upto + weight)
        share = min(int(kind(upto * kind(kind(ONE + 4) / total))), ONE)
        p.append(share - before)
        before = share
    return p


def tree_sum(weights):
    """Halves first."""
    half = len(weights) // 2
    return weights[0] if half == 0 else tree_sum(weights[:half]) + tree_sum(weights[half:])


def naive_descent(weights, planes, phi):
    """The new state: a carry for each of its bits. Moves the phases `phi` of nodes on its path.

    From nine states on the last three bits have a tree of their own, the same for all octets.
    """
    kind = type(weights[0])
    branch = weights + [kind(0)] * (2**planes - len(weights))
    state, first, node = 0, 0, 1
    for level in range(planes):
        if level == planes - 3 > 0:
            first, node = 2**level - 1, 1
        half = len(branch) // 2
        left, right = tree_sum(branch[:half]), tree_sum(branch[half:])
        share = int(kind(ONE) * right / kind(left + right))
        at = 2 * (first + node - 1) + (2 * share >= ONE)
        phi[at] += share
        bit, phi[at] = divmod(phi[at], ONE)
        branch = branch[half:] if bit else branch[:half]
        state, node = 2 * state + bit, 2 * node + bit
    return state

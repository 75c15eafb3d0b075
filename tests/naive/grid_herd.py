"""Herds on binary lattices: member after member, in the order that each lane has of its own."""

import math

import numpy as np

from naive.conditional import SCALAR
from naive.lattice import STRIP, _bits_around, _lattice_conditional
from naive.stream import naive_draw, naive_key, naive_shuffle

WORD, LANES, COLUMNS = 16, 128, 1152
SMALL = 2**32 - 1
COARSE = 2**16  # a step of conditionals of 16 bits, at scale 2^31
ORDERS = 5  # the purpose of the stream of orders


def naive_lane_bits(a, b, j):
    """32 random bits of lane j; a and b are the key of its block."""
    z = (j * 0x9E3779B9 + a) & SMALL
    z = (z ^ z >> 16) * 0x21F0AAAD & SMALL
    z = (z ^ z >> 15) ^ b
    z = z * 0x735A2D97 & SMALL
    return z ^ z >> 15


def naive_place_order(column, live):
    """The places of a word in the order of column `column`: by random numbers, the least first."""
    key = naive_key(0, live, ORDERS)
    return sorted(range(live), key=lambda row: naive_draw(key, row * COLUMNS + column))


def naive_herd(model, *, members, kept=False, seed=0, chain=0, x0, sweeps):
    """(sweeps, members, N) samples, the sums of conditionals (N,), and the phases that are left."""
    height, width = model.shape
    columns = (width + 1) // 2
    rows = min(height, math.ceil(STRIP / columns))
    strips = math.ceil(height / rows)
    words = math.ceil(members / WORD)
    key, order_key = naive_key(seed, chain, 4), naive_key(seed, chain, ORDERS)
    start_key = naive_key(seed, chain, 2)
    x = np.array(x0, dtype=int).reshape(members, height, width).tolist()
    tally = np.zeros((height, width), dtype=object)
    phases, samples = {}, []
    places = [
        (r, c)
        for colour in (0, 1)
        for r in range(height)
        for c in range(width)
        if (r + c) % 2 == colour
    ]
    for sweep in range(sweeps):
        for r, c in places:
            part = (r + c) % 2 * strips + r // rows
            lane = r % rows * columns + c // 2
            clock = sweep * 2 * strips + part
            if kept:
                names = [2 * (part * rows * columns + lane) + high for high in (0, 1)]
                phi = phases.get((r, c), [naive_draw(start_key, name) >> 49 for name in names])
            else:
                bits = naive_draw(key, clock)
                both = naive_lane_bits(bits >> 32, bits & SMALL, lane)
                phi = [both >> 17, both % 2**15]
            for k in naive_order(naive_draw(order_key, clock), lane, words, members):
                p = _coarse(model, x[k], r, c)
                tally[r, c] += p * COARSE
                which = p >= 2**14  # conditionals of 1/2 and more have a phase of their own
                x[k][r][c], phi[which] = divmod(phi[which] + p, SCALAR // COARSE)
            phases[r, c] = phi
        samples.append(np.array(x).reshape(members, -1))
    left = [phases[r, c] for r in range(height) for c in range(width)]
    return np.array(samples), tally.reshape(-1).astype(np.int64), np.array(left)


def naive_order(key, lane, words, members):
    """The members in the order of their turns at a site."""
    for turn, word in enumerate(naive_shuffle(range(words), key)):
        live = min(WORD, members - word * WORD)
        window = naive_draw(key, (1 + lane // LANES) * words + turn) >> 54
        for place in naive_place_order(window + lane % LANES, live):
            yield word * WORD + place


def _coarse(model, x, r, c):
    """P(x = 1 | neighbours) at scale 2^15, where only what is certain is 0 or 1."""
    around = _bits_around(x, r, c, model.periodic)
    p = _lattice_conditional(model, r, c, around, model.counts_suffice)
    if 0 < p < SCALAR:
        return min(max(math.floor(p / COARSE + 0.5), 1), SCALAR // COARSE - 1)
    return p // COARSE

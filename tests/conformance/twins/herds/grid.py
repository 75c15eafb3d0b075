"""Herds on binary lattices: member after member, in the order that each lane has of its own."""

import math
from functools import cache

import numpy as np

from tests.conformance.twins.counter_rng import naive_draw, naive_key, naive_shuffle
from tests.conformance.twins.integer_conditionals import SCALAR
from tests.conformance.twins.samplers.grid import STRIP, Plain, _lattice_conditional, places_around

WORD, LANES, COLUMNS = 8, 128, 1152
ROUNDED = 2  # words that share a rounding
GOLDEN = 159  # kept roundings go round 256 by it
SMALL = 2**32 - 1
ONE = 2**7  # scale of phases and of rounded conditionals
COARSE = 2**16  # a step of conditionals of 15 bits, at scale 2^31
ORDERS = 5  # the purpose of the stream of orders


def naive_lane_bits(a, b, j):
    """32 random bits of lane j; a and b are the key of its block."""
    z = (j * 0x9E3779B9 + a) & SMALL
    z = (z ^ z >> 16) * 0x21F0AAAD & SMALL
    z = (z ^ z >> 15) ^ b
    z = z * 0x735A2D97 & SMALL
    return z ^ z >> 15


@cache
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
    x = [[*one, 0] for one in np.array(x0, dtype=int).reshape(members, -1).tolist()]
    tally = np.zeros((height, width), dtype=object)
    plain, by_count = Plain(model), model.counts_suffice
    phases, samples = {}, []
    conditional = cache(lambda r, c, *near: _lattice_conditional(plain, r, c, near, by_count))
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
            phi, chance = naive_phases(key, kept, clock, part, sweep, lane)
            if kept:
                names = [2 * (part * rows * columns + lane) + high for high in (0, 1)]
                phi = phases.get((r, c), [naive_draw(start_key, name) >> 57 for name in names])
            visit = naive_draw(order_key, clock)
            fine = naive_fine_chance(visit, lane)
            turns = naive_order(visit, lane, words, members)
            near = places_around(height, width, r, c, plain.periodic)
            for turn, k in turns:
                p = conditional(r, c, *(x[k][at] for at in near))
                p = naive_rounded(p // COARSE + (p % COARSE > fine), chance, turn)
                tally[r, c] += p * SCALAR // ONE
                x[k][r * width + c] = naive_carry(phi, p)
            phases[r, c] = phi
        samples.append([one[:-1] for one in x])
    left = [phases[r, c] for r in range(height) for c in range(width)]
    return np.array(samples), tally.reshape(-1).astype(np.int64), np.array(left)


def naive_phases(key, kept, clock, part, sweep, lane):
    """Two fresh phases at scale 2^7, and the number from 0 to 255 that decides about rounding."""
    bits = naive_draw(key, part if kept else clock)
    z = naive_lane_bits(bits >> 32, bits & SMALL, lane)
    return [z >> 25, (z >> 18) % ONE], ((z >> 10) + (GOLDEN * sweep if kept else 0)) % 256


def naive_fine_chance(visit, lane):
    """The number below 2^16 that decides how a lane's conditionals are rounded to 15 bits.

    32 random bits serve a lane of the first half of a cell and one of the second half.
    """
    cell, j = divmod(lane, LANES)
    key, half = naive_draw(visit, 0), LANES // 2
    z = naive_lane_bits(key >> 32, key & SMALL, cell * LANES + j % half)
    return z >> 16 if j < half else z % COARSE


def naive_rounded(p, chance, turn):
    """A conditional of 15 bits rounded to 7: up if its last bits and the chance make a step."""
    return (p + (chance + 64 * (turn // ROUNDED)) % 256) // 256


def naive_carry(phi, p):
    """Whether p carries; conditionals of 1/2 and more, but for 1, have a phase of their own."""
    which = ONE // 2 <= p < ONE
    x, phi[which] = divmod(phi[which] + p, ONE)
    return x


def naive_order(key, lane, words, members):
    """The members in the order of their turns at a site, each with the turn of its word."""
    for turn, word in enumerate(naive_shuffle(range(words), key)):
        live = min(WORD, members - word * WORD)
        window = naive_draw(key, (1 + lane // LANES) * words + turn) >> 54
        for place in naive_place_order(window + lane % LANES, live):
            yield turn, word * WORD + place

"""Herds on binary pairwise models, member after member, in whole numbers of Python.

`naive_field_herd`: blocks of variables of one colour, phases of 16 bits (layout "field").
`naive_dense_herd`: variable after variable, phases of 32 bits (layout "dense").
"""

import math
from functools import cache

import numpy as np

from herded.draws.systematic import member_orders
from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.herds.any_graph import two_sides
from tests.conformance.twins.integer_conditionals import naive_fixed_scalar, naive_sigmoid
from tests.conformance.twins.plain_model import Naive

LANES = 64


@cache
def naive_table(field, bits):
    """P(x = 1) at scale 2^31 by a field at scale 2^bits."""
    return naive_fixed_scalar(0.0, field / 2.0**bits)


def naive_lane_bits(key, j):
    """32 random bits for lane j."""
    word = 2**32 - 1
    a, b = key & word, key >> 32
    z = (j * 0x9E3779B9 + a) & word
    z = (z ^ z >> 16) * 0x21F0AAAD & word
    z = (z ^ z >> 15) ^ b
    z = z * 0x735A2D97 & word
    return z ^ z >> 15


@cache
def rows_of_orders(n):
    return member_orders(n).tolist()


def naive_order(n, bits):
    """One order of n, out of the table, for 64 random bits: a row of another row."""
    table = rows_of_orders(n)
    first, second = table[bits % len(table)], table[(bits >> 32) % len(table)]
    return [first[k] for k in second]


def naive_cooled(field, beta, bits, random):
    """beta times a field at scale 2^bits, at scale 2^10: the factor and the product are rounded.

    The factor has 15 bits. `random` is 32 random bits.
    """
    value, shift = beta * 2.0 ** (10 - bits), 0
    while value < 2**14 and shift < 30:
        value, shift = 2 * value, shift + 1
    value = min(value, 2**15 - 1)
    factor = math.floor(value)
    factor += math.floor((value - factor) * 2**16) > random >> 16
    dither = (random % 2**16 << shift) >> 16
    return min(max((field * factor + dither) >> shift, -32767), 32767)


@cache
def naive_multiplier(value, bits):
    """`value` as m / 2^shift, where m has so many bits; the largest m is as good as infinite."""
    if value >= 2**bits - 1:
        return 2**bits - 1, 0
    shift = 0
    while value < 2 ** (bits - 1) and shift < 2 * bits:
        value, shift = 2 * value, shift + 1
    return math.floor(value + 0.5), shift


def slot_order(visit, members):
    """The slots of members in the order of a visit: words, groups, then slots of a group."""
    words, found = -(-members // 64), []
    for word in naive_order(words, visit):
        for group in naive_order(4, naive_draw(visit, word)):
            choice = naive_draw(visit, 2 * words + 4 * word + group)
            found += [word * 64 + group * 16 + k for k in naive_order(16, choice)]
    return found


def members_in_slots(visit, lane, members):
    """Which member is in each slot of a lane: those 1, 2, 4, .. apart may change places."""
    words, slots = -(-members // 64), list(range(members))
    for word in range(words):
        key = naive_draw(visit, words + word)
        for nth, distance in enumerate((1, 2, 4, 8, 16, 32)):
            bits = naive_lane_bits(key, 6 * lane + nth)
            for k in range(min(64, members - word * 64 - distance)):
                low, high = word * 64 + k, word * 64 + k + distance
                place = k if k < 32 else k - 32 + distance  # of the random bit
                if not k & distance and bits >> place & 1:
                    slots[low], slots[high] = slots[high], slots[low]
    return slots


def naive_roundings(key, lane, rows):
    """What decides how a field is rounded, numbers below 2^16: alone, then row by row."""
    found = [naive_lane_bits(key, lane) >> 16]
    for row in range(rows):
        found.append((found[-1] * 25173 + row * 40503) % 2**16)
    return found


def naive_field_herd(layout, draw, x0, sweeps, chain=0, betas=None):
    """x0 (members, N) -> samples (sweeps, members, N) and sums of p at scale 2^31, (N,)."""
    a, members = layout.arrays, len(x0)
    row_start, place = a.row_start.tolist(), a.place.tolist()
    neighbour, coupling, alone = a.neighbour, a.coupling.astype(np.int64), a.alone.tolist()
    coupling_rest, alone_rest = a.coupling_rest.tolist(), a.alone_rest.tolist()
    blocks, size, words = len(row_start) - 1, len(alone), -(-members // 64)
    key, order_key = naive_key(draw.seed, chain, 4), naive_key(draw.seed, chain, 5)
    start = naive_key(draw.seed, chain, 2)
    phases = [naive_draw(start, at) >> 48 & 0x7FFF for at in range(2 * size)]
    x = np.zeros((size + 1, members), np.int64)
    known = layout.model.evidence >= 0
    for i in np.flatnonzero(~known):
        x[place[i]] = [int(one[i]) for one in x0]
    tally, samples, used = [0] * (size + 1), [], set(place)
    for sweep in range(sweeps):
        for b in range(blocks):
            name = sweep * blocks + b
            visit, phase_key = naive_draw(order_key, name), naive_draw(key, name)
            order, new, rounding = slot_order(visit, members), [], naive_draw(visit, 6 * words)
            for lane in range(LANES):
                at, states = b * LANES + lane, [0] * members
                if at not in used:  # nobody's lane
                    new.append(states)
                    continue
                low = 2 * b * LANES + lane  # and LANES behind it the phase of p from 1/2 on
                if not draw.kept:
                    both = naive_lane_bits(phase_key, lane)
                    phases[low], phases[low + LANES] = both >> 16 & 0x7FFF, both & 0x7FFF
                slots, p_of = members_in_slots(visit, lane, members), [0] * (64 * words)
                in_order = [slots[slot] if slot < members else slot for slot in order]
                links = slice(row_start[b] * LANES + lane, row_start[b + 1] * LANES, LANES)
                alone_at, *row_at = naive_roundings(rounding, lane, row_start[b + 1] - row_start[b])
                up = [rest > r for rest, r in zip(coupling_rest[links], row_at, strict=True)]
                fields = (coupling[links] + np.array(up, np.int64)) @ x[neighbour[links]]
                fields += alone[at] + (alone_rest[at] > alone_at)
                chance = naive_lane_bits(rounding, lane) % 2**16
                for k, field in enumerate(fields.tolist()):
                    if betas is None:
                        p = naive_table(field, layout.bits)
                    else:
                        random = naive_lane_bits(rounding, LANES + lane)
                        cooled = naive_cooled(field, betas[sweep], layout.bits, random)
                        p = naive_table(cooled, 10)
                    p_of[k] = (p + chance) >> 16
                below = [p_of[k] * (p_of[k] < 2**14) for k in in_order]
                fours = [sum(below[j : j + 4]) for j in range(0, len(below), 4)]
                one = sum(four >> 4 for four in fours) >= 2**11
                if one and not draw.kept:  # the others come after them
                    phases[low + LANES] = (phases[low] + sum(below)) & 0x7FFF
                turns = not one and not draw.kept
                sides = [p_of[k] < 2**14 + (turns and j % 2) for j, k in enumerate(in_order)]
                for k, side in zip(in_order, sides, strict=True):
                    if k >= members:
                        continue
                    p, own = p_of[k], low if side else low + LANES
                    states[k] = (phases[own] + p) >> 15
                    phases[own] = (phases[own] + p) & 0x7FFF
                    tally[at] += p << 16
                new.append(states)
            x[b * LANES : (b + 1) * LANES] = new
        sample = x[place].T.copy()
        sample[:, known] = layout.model.evidence[known]
        samples.append(sample)
    return np.array(samples), np.array([tally[at] for at in place])


def naive_dense_herd(layout, draw, x0, sweeps, chain=0, betas=None, scan="sequential"):
    """The same where lanes are members; fields are summed from the arrays of the layout."""
    a, members = layout.arrays, len(x0)
    start, neighbour, coupling = a.link_start.tolist(), a.neighbour.tolist(), a.coupling.tolist()
    alone, scale, n = a.alone.tolist(), float(a.scale[0]), len(a.alone)
    key, order_key = naive_key(draw.seed, chain, 4), naive_key(draw.seed, chain, 5)
    phases = [naive_draw(naive_key(draw.seed, chain, 2), i) >> 33 for i in range(n)]
    x, tally, samples = [[int(k) for k in one] for one in x0], [0] * n, []
    naive = Naive(layout.model, vector=False)
    for sweep in range(sweeps):
        m, shift = naive_multiplier((1.0 if betas is None else betas[sweep]) * scale, 31)
        for i in naive.order(scan, sweep, order_key, False):
            clock = sweep * n + i
            bits = naive_draw(key, clock)
            phi = [phases[i] if draw.kept else bits >> 33]
            p = []
            for one in x:
                links = range(start[i], start[i + 1])
                field = alone[i] + sum(
                    coupling[e] * one[neighbour[e]] for e in links if coupling[e]
                )
                p.append(naive_sigmoid((field * m + (1 << shift >> 1)) >> shift))
            order = naive_order(members, naive_draw(order_key, clock))
            below, above, two = two_sides(p, order, draw.kept)
            if two:
                phi.append(bits % 2**31)  # of those who come after the others
            for own, side in ((0, below), (-1, above)):
                for k in side:
                    x[k][i], phi[own] = divmod(phi[own] + p[k], 2**31)
            tally[i] += sum(p)
            phases[i] = phi[0]
        samples.append([list(one) for one in x])
    return np.array(samples), np.array(tally)

"""Herds on Potts lattices: site after site of a colour, word after word, member after member.

Rows along the last axis are packed so that even and odd parities take turns. Phases and orders are
named by the cell of 32 sites that a site lies in when packed by colour.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from herded.system.numerics.exp_log import exp
from tests.conformance.twins.counter_rng import naive_draw, naive_key

LANES = WORD = 32
ONE, RECORDED = 2**31, 2**24
TURN = 0x9E3779B9
LEFT = (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF, 0x0000FFFF)
STRONGEST = 65.0


def naive_potts_herd(model, *, members, kept, seed=0, chain=0, x0, sweeps):
    """Samples (sweeps, members, N), and sums (N, K) of conditionals at scale 2^24."""
    states, width = model.log_unary.shape[-1], model.shape[-1]
    columns, planes = (width + 1) // 2, (states - 1).bit_length()
    rows = list(itertools.product(*map(range, model.shape[:-1])))
    taken = {0: itertools.count(0, 2), 1: itertools.count(1, 2)}
    place = [next(taken[sum(row) % 2]) for row in rows]
    cells = math.ceil(len(rows) * columns / LANES)
    nodes = 2 * (2**planes - 1 if planes <= 3 else 2 ** (planes - 3) + 6)  # two phases each
    key, order_key = naive_key(seed, chain, 4), naive_key(seed, chain, 5)
    start_key, phases = naive_key(seed, chain, 2), {}
    sites = [naive_site(model, at) for at in itertools.product(*map(range, model.shape))]
    x = [[int(k) for k in member] for member in x0]
    samples, tally = [], np.zeros((model.n_variables, states), int)
    for sweep in range(sweeps):
        for colour, i in itertools.product((0, 1), range(model.n_variables)):
            row, c = divmod(i, width)
            if (sum(rows[row]) + c) % 2 != colour:
                continue
            cell, lane = divmod(place[row] * columns + c // 2, LANES)
            visit = (2 * sweep + colour) * cells + cell
            if not kept:
                phi = [lane_bits(naive_draw(key, visit * nodes + p), lane) for p in range(nodes)]
            elif i in phases:
                phi = phases[i]
            else:
                first = (colour * cells + cell) * nodes * LANES + lane
                phi = [naive_draw(start_key, first + p * LANES) >> 33 for p in range(nodes)]
            phases[i] = phi = [phase % ONE for phase in phi]
            alike = {}  # members whose neighbours are the same have the same conditional
            for m, dither in naive_order(members, order_key, visit, lane):
                around = tuple(x[m][j] for j, _ in sites[i].around)
                if around not in alike:
                    alike[around] = naive_weights(sites[i], around)
                weights = alike[around]
                tally[i] += naive_conditional(weights, RECORDED, dither)
                x[m][i] = naive_descent(weights, planes, phi)
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
    """The members in the order in which a site takes them, and 32 random bits for each."""
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
        places = fisher_yates(live, naive_draw(name, len(LEFT)))
        bits = lane_bits(naive_draw(name, len(LEFT) + 1), lane)
        order += [(word * WORD + seats[k], bits + n * TURN) for n, k in enumerate(places)]
    return order


def fisher_yates(n, key):
    items = list(range(n))
    for last in range(n - 1, 0, -1):
        other = (naive_draw(key, last) >> 32) * (last + 1) >> 32
        items[last], items[other] = items[other], items[last]
    return items


class Site(NamedTuple):
    """What the conditional of a site is made of."""

    kind: type  # the precision of the kernels
    tabulated: bool  # powers of one coupling, in double precision
    own: list[float]  # by state
    around: list[tuple[int, float]]  # neighbours, and what they multiply their state by


def naive_site(model, at):
    couplings, sides = model.all_couplings, 2 * len(model.shape)
    strongest = sides * np.abs(couplings).max(initial=0)
    unary, clamped = [float(a) for a in model.log_unary[at]], int(model.clamped[at])
    own = [exp(a - max(unary)) for a in unary]
    if clamped >= 0:
        own = [float(k == clamped) for k in range(len(unary))]
    return Site(
        np.float32 if strongest <= STRONGEST else np.float64,
        len(set(couplings)) <= 1 and sides <= 6,
        own,
        [
            (int(np.ravel_multi_index(place, model.shape)), exp(coupling))
            for place, coupling in neighbours(model, at)
        ],
    )


def neighbours(model, at):
    """The place of each neighbour of a site and their coupling: along the last axis first."""
    last, found = len(model.shape) - 1, []
    for axis in (last, *range(last)):
        n, along, joined = (
            model.shape[axis],
            model.couplings[last - axis],
            model.is_periodic_by_axis[last - axis],
        )
        for to in (at[axis] - 1, at[axis] + 1):
            if joined or 0 <= to < n:
                edge = (*at[:axis], min(at[axis], to) % n, *at[axis + 1 :])
                found.append(((*at[:axis], to % n, *at[axis + 1 :]), float(along[edge])))
    return found


def naive_weights(site, around):
    """What the conditional of a site is proportional to, given the states of its neighbours."""
    kind, weights, tiny = site.kind, [], np.finfo(site.kind).tiny
    for k, u in enumerate(site.own):
        factors = [f for state, (_, f) in zip(around, site.around, strict=True) if state == k]
        if site.tabulated:
            for f in factors:
                u *= f
        weight = kind(u if u >= tiny else 0.0)
        if not site.tabulated:
            for f in factors:
                weight = kind(weight * kind(f))
        weights.append(weight)
    return weights


def naive_conditional(weights, scale, dither):
    """Each state's share of the weights at this scale, rounded up where the dither asks for it."""
    kind = type(weights[0])
    total = kind(0)
    for weight in weights:
        total = kind(total + weight)
    fraction = kind((dither % 2**32 >> 8) / 2**24)
    return [int(kind(weight * kind(kind(scale) / total)) + fraction) for weight in weights]


def tree_sum(weights):
    """Halves first."""
    half = len(weights) // 2
    return weights[0] if half == 0 else tree_sum(weights[:half]) + tree_sum(weights[half:])


def naive_share(left, right):
    """The right branch's share, from that of the lighter one."""
    kind = type(left)
    small = int(kind(kind(kind(ONE) * min(left, right)) / kind(left + right)) + kind(0.5))
    return ONE - small if right > left else small


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
        share = naive_share(left, right)
        at = 2 * (first + node - 1) + (right > left)
        phi[at] += share
        bit, phi[at] = divmod(phi[at], ONE)
        branch = branch[half:] if bit else branch[:half]
        state, node = 2 * state + bit, 2 * node + bit
    return state

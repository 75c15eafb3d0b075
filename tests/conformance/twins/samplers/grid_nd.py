"""Binary lattices of any dimension with equal couplings: a plain checkerboard, and herds on it.

Sites are named as they lie packed: in rows along the last axis with a border at either end, in
strips of whole layers of the first axis.
"""

import itertools
import math
from functools import cache

import numpy as np

from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.draw_rules import naive_choose, naive_pick
from tests.conformance.twins.herded_weights import naive_start
from tests.conformance.twins.herds.grid import (
    COARSE,
    ORDERS,
    WORD,
    naive_carry,
    naive_fine_chance,
    naive_order,
    naive_phases,
    naive_rounded,
)
from tests.conformance.twins.herds.grid import ONE as SITE_ONE
from tests.conformance.twins.integer_conditionals import SCALAR, naive_fixed_scalar
from tests.conformance.twins.samplers.grid import STRIP


def naive_cube(model, *, weights, phases="random", seed=0, chain=0, x0, sweeps):
    """Sites whose coordinates have an even sum, then the others; weights are "shared" or None."""
    key, phase_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    random = phases == "random" or chain > 0
    contexts = 7 if len(model.shape) <= 3 else 15
    x, tally, w, samples = list(map(int, x0)), [0] * model.n_variables, {}, []
    sites, strips, places = packed_sites(model.shape)
    near, conditional = around(model)
    for sweep in range(sweeps):
        for i, part, place in sites:
            ones = sum(x[j] for j in near[i])
            p = conditional(i, ones)
            if weights is None:
                counter = (sweep * 2 * strips + part) * places + place
                x[i] = naive_pick(p, naive_draw(key, counter))
            else:
                name = (part * places + place) * contexts + ones
                old = w.get((i, ones), naive_start(phase_key if random else None, name, 0))
                x[i], w[i, ones] = naive_choose(old, p)
            tally[i] += p
        samples.append(list(x))
    return np.array(samples), np.array(tally).reshape(-1, 1)


def naive_cube_herd(model, *, members, kept=False, seed=0, chain=0, x0, sweeps):
    """(sweeps, members, N) samples, the sums of conditionals (N,), and the phases that are left."""
    words = math.ceil(members / WORD)
    key, order_key = naive_key(seed, chain, 4), naive_key(seed, chain, ORDERS)
    start_key = naive_key(seed, chain, 2)
    x = np.array(x0, dtype=int).tolist()
    tally, phases, samples = [0] * model.n_variables, {}, []
    sites, strips, places = packed_sites(model.shape)
    near, conditional = around(model)
    for sweep in range(sweeps):
        for i, part, place in sites:
            clock = sweep * 2 * strips + part
            phi, chance = naive_phases(key, kept, clock, part, sweep, place)
            if kept:
                names = [2 * (part * places + place) + high for high in (0, 1)]
                phi = phases.get(i, [naive_draw(start_key, name) >> 57 for name in names])
            visit = naive_draw(order_key, clock)
            fine = naive_fine_chance(visit, place)
            for turn, k in naive_order(visit, place, words, members):
                p = conditional(i, sum(x[k][j] for j in near[i]))
                p = naive_rounded(p // COARSE + (p % COARSE > fine), chance, turn)
                tally[i] += p * SCALAR // SITE_ONE
                x[k][i] = naive_carry(phi, p)
            phases[i] = phi
        samples.append(np.array(x))
    return np.array(samples), np.array(tally), np.array([phases[i] for i in sorted(phases)])


def packed_sites(shape):
    """Sites in the order of a sweep, with strip and place; how many of both there are."""
    layer, wide = math.prod(shape[1:-1]), (shape[-1] + 1) // 2 + 2
    layers = shape[0] if len(shape) > 1 else 1
    rows = layer * min(layers, math.ceil(STRIP / (layer * (wide - 2))))
    strips = math.ceil(layer * layers / rows)
    sites = []
    for i, at in enumerate(itertools.product(*map(range, shape))):
        row, j = divmod(i, shape[-1])
        colour = sum(at) % 2
        sites.append((i, colour * strips + row // rows, row % rows * wide + j // 2 + 1))
    return sorted(sites, key=lambda site: site[1] // strips), strips, rows * wide


def around(model):
    """The neighbours of every site, and a function of a site and how many of its are 1: P(x = 1).

    It does not matter which are: the first are taken.
    """
    near = [model.neighbours(i).tolist() for i in range(model.n_variables)]

    @cache
    def conditional(i, ones):
        if model.evidence[i] >= 0:
            return SCALAR * int(model.evidence[i])
        logits = model.log_unary.reshape(-1, 2)[i].tolist()
        for n in range(len(near[i])):
            up, coupling = int(n < ones), float(model.all_couplings[0])
            logits[up] += coupling
            logits[1 - up] += coupling * model.unlike
        return naive_fixed_scalar(*logits)

    return near, conditional

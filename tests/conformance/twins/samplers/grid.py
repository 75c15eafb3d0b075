"""Binary lattices: a plain checkerboard, whose sites and weights are named as they lie packed."""

import itertools
import math
from functools import cache

import numpy as np

from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.draw_rules import naive_choose, naive_pick
from tests.conformance.twins.herded_weights import naive_start
from tests.conformance.twins.integer_conditionals import SCALAR, naive_fixed_scalar

STRIP = 512  # sites in a strip of packed rows, at least


def naive_lattice(model, *, weights, phases="random", seed=0, chain=0, x0, sweeps):
    """Binary grids: first the sites with r + c even, then the others; weights=None draws.

    A context is the four neighbours' bits ("blanket"), or how many of them are 1 ("shared", and
    any draw on equal couplings). Phases and draws are named by where a site lies when packed.
    """
    height, width = model.shape
    by_count = model.counts_suffice and weights != "blanket"
    key, phase_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    random = phases == "random" or chain > 0
    x = [*np.array(x0, dtype=int).tolist(), 0]  # beyond the border
    w, samples = {}, []
    tally = [[0] * width for _ in range(height)]
    plain = Plain(model)
    sites = sorted(itertools.product(range(height), range(width)), key=lambda s: sum(s) % 2)
    for sweep in range(sweeps):
        for r, c in sites:
            around = [x[at] for at in places_around(height, width, r, c, plain.periodic)]
            context = sum(around) if by_count else sum(b << d for d, b in enumerate(around))
            p = _lattice_conditional(plain, r, c, around, by_count)
            stored, phase = packed_place(plain.shape, r, c, context, by_count)
            if weights is None:
                counter = sweep * packed_size(plain.shape) + stored
                x[r * width + c] = naive_pick(p, naive_draw(key, counter))
            else:
                first = naive_start(phase_key if random else None, phase, 0)
                old = w.get((r, c, context), first)
                x[r * width + c], w[r, c, context] = naive_choose(old, p)
            tally[r][c] += p
        samples.append(x[:-1])
    return np.array(samples), np.array(tally).reshape(-1, 1)


@cache
def places_around(height, width, r, c, periodic):
    """Left, right, up, down; beyond the border -1, or where periodic what is on the other side."""
    places = ((r, c - 1), (r, c + 1), (r - 1, c), (r + 1, c))
    if periodic:
        return [a % height * width + b % width for a, b in places]
    return [a * width + b if 0 <= a < height and 0 <= b < width else -1 for a, b in places]


class Plain:
    """A lattice as lists."""

    def __init__(self, model):
        self.shape, self.periodic, self.unlike = model.shape, model.periodic, float(model.unlike)
        self.clamped, self.unary = model.clamped.tolist(), model.log_unary.tolist()
        self.right, self.down = model.right.tolist(), model.down.tolist()


def _lattice_conditional(plain, r, c, bits, by_count):
    height, width = plain.shape
    if plain.clamped[r][c] >= 0:
        return SCALAR * plain.clamped[r][c]
    ring = plain.periodic
    around = [
        (plain.right[r][c - 1], bits[0]) if c > 0 or ring else None,
        (plain.right[r][c], bits[1]) if c < width - 1 or ring else None,
        (plain.down[r - 1][c], bits[2]) if r > 0 or ring else None,
        (plain.down[r][c], bits[3]) if r < height - 1 or ring else None,
    ]
    if ring and c == 0:  # in the order of the model's factors, which has wrapped edges last
        around[0], around[1] = around[1], around[0]
    if ring and r == 0:
        around[2], around[3] = around[3], around[2]
    there = [edge for edge in around if edge is not None]
    if by_count:  # it does not matter which of them are 1: take the first
        there = [(j, int(n < sum(bits))) for n, (j, _) in enumerate(there)]
    logits = list(plain.unary[r][c])
    for j, b in there:
        logits[b] += j
        logits[1 - b] += j * plain.unlike
    return naive_fixed_scalar(*logits)


@cache
def _packed_shape(shape):
    """Columns of a half-lattice, rows of a strip, strips."""
    columns = (shape[1] + 1) // 2
    rows = min(shape[0], math.ceil(STRIP / columns))
    return columns, rows, math.ceil(shape[0] / rows)


def packed_size(shape):
    columns, rows, strips = _packed_shape(shape)
    return 2 * strips * rows * columns


def packed_place(shape, r, c, context, by_count):
    """(number of the site, number of its weight) in the packed arrays."""
    columns, rows, strips = _packed_shape(shape)
    strip = (r + c) % 2 * strips + r // rows
    site = r % rows * columns + c // 2
    stored = strip * rows * columns + site
    if by_count:
        return stored, (strip * 5 + context) * rows * columns + site
    return stored, stored * 16 + context

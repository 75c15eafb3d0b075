"""Potts lattices: products of exponentials, swept as a plain checkerboard."""

import numpy as np

from herded.system.numerics.exp_log import exp
from tests.conformance.twins.counter_rng import naive_draw, naive_key
from tests.conformance.twins.draw_rules import naive_choose, naive_pick
from tests.conformance.twins.herded_weights import NaiveWeights
from tests.conformance.twins.integer_conditionals import VECTOR, WEIGHT, naive_fixed_products
from tests.conformance.twins.plain_model import Naive
from tests.conformance.twins.samplers.algorithm_1 import add_to_tally, empty_tally
from tests.conformance.twins.samplers.grid import packed_place, packed_size


class NaivePotts(Naive):
    """A Potts grid: conditionals are products of exponentials, and colours those of a board."""

    def __init__(self, model):
        self.model, self.scalar = model, False
        self.cards = [int(k) for k in model.cardinalities]
        self.n = len(self.cards)
        self.free = range(self.n)  # clamped sites are visited too: one state is possible
        self.unary, self.clamped = model.log_unary.tolist(), model.clamped.tolist()
        self.right, self.down = model.right.tolist(), model.down.tolist()
        self.parts = [self._parts(i) for i in range(self.n)]

    def conditional(self, i, x, beta=1.0, one=WEIGHT):
        own, edges = self.parts[i]
        product = list(own)
        for j, factor in edges:
            product[x[j]] *= factor
        return naive_fixed_products(product, one)

    def _parts(self, i):
        """What a site has of its own by state, and what each neighbour multiplies its state by."""
        (height, width), ring = self.model.shape, self.model.periodic
        r, c = divmod(i, width)
        unary, known = self.unary[r][c], self.clamped[r][c]
        product = [exp(a - max(unary)) for a in unary]
        if known >= 0:
            product = [float(k == known) for k in range(len(unary))]
        edges = [
            (c > 0, r, c - 1, self.right[r][c - 1] if c > 0 or ring else 0.0),
            (c < width - 1, r, c + 1, self.right[r][c] if c < len(self.right[r]) else 0.0),
            (r > 0, r - 1, c, self.down[r - 1][c] if r > 0 or ring else 0.0),
            (r < height - 1, r + 1, c, self.down[r][c] if r < len(self.down) else 0.0),
        ]
        return product, [
            (a % height * width + b % width, exp(coupling))
            for inside, a, b, coupling in edges
            if inside or ring
        ]


def naive_potts(model, *, weights, phases="random", seed=0, chain=0, x0, sweeps):
    """Potts grids, first the sites with r + c even, then the others; weights=None draws."""
    naive, width = NaivePotts(model), model.shape[1]
    key, phase_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    random = phases == "random" or chain > 0
    memory = NaiveWeights(naive, weights, "factor", phase_key if random else None)
    x, samples, tally = [int(k) for k in x0], [], empty_tally(naive)
    order = sorted(range(naive.n), key=lambda i: sum(divmod(i, width)) % 2)
    for sweep in range(sweeps):
        memory.split(sweep)
        for i in order:
            p = naive.conditional(i, x, one=VECTOR if weights is None else WEIGHT)
            if weights is None:
                stored, _ = packed_place(model.shape, *divmod(i, width), 0, True)
                counter = sweep * packed_size(model.shape) + stored
                x[i] = naive_pick(p, naive_draw(key, counter))
            else:
                context = (i, memory.bin(p, sweep))
                x[i], memory.of[context] = naive_choose(memory.get(i, context, None), p)
            add_to_tally(tally, i, p)
        samples.append(list(x))
    return np.array(samples).reshape(sweeps, naive.n), np.array(tally)

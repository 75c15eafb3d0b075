"""Lattices for the suites of tiles, and what they are as a whole."""

import numpy as np

import herded as hd

SHARED = hd.HerdedGibbs(weights="shared", phases="random", seed=7)


def lattice(h, w, seed=0, uniform=True):
    rng = np.random.default_rng(seed)
    field = rng.normal(size=(h, w))
    pair = rng.normal(size=(h, w - 1)), rng.normal(size=(h - 1, w))
    return hd.StoredLattice(field, 0.4 if uniform else pair)


def whole(stored, method, sweeps, burn_in=0, **keep):
    model = hd.ising_grid(stored.field, stored.coupling)
    keep = [hd.Marginals(**keep)]
    result = hd.infer(model, method, sweeps=sweeps, burn_in=burn_in, plan="lattice", keep=keep)
    assert result.provenance["plan"] == "lattice"
    return result.marginals[..., 1]

"""Lattices for the suites of tiles, and what they are as a whole."""

import os
import signal

import numpy as np

import herded as hd
from herded.tiled import infer_tiled as tiled

SHARED = hd.HerdedGibbs(weights="shared", phases="random", seed=7)


def lattice(h, w, seed=0, uniform=True, clamped=False, periodic=False):
    rng = np.random.default_rng(seed)
    field = rng.normal(size=(h, w))
    shapes = ((h, w), (h, w)) if periodic else ((h, w - 1), (h - 1, w))
    pair = tuple(rng.normal(size=shape) for shape in shapes)
    known = rng.choice([-1, -1, 0, 1], (h, w)).astype(np.int8) if clamped else None
    return hd.StoredLattice(field, 0.4 if uniform else pair, known, periodic)


def as_model(stored):
    """The same lattice in memory."""
    model = hd.ising_grid(stored.field, stored.coupling, periodic=stored.periodic)
    if stored.clamped is None:
        return model
    places = map(tuple, np.argwhere(stored.clamped >= 0).tolist())
    return model.given({place: int(stored.clamped[place]) for place in places})


def whole(stored, method, sweeps, burn_in=0, **keep):
    model = as_model(stored)
    keep = [hd.Marginals(**keep)]
    result = hd.infer(model, method, sweeps=sweeps, burn_in=burn_in, layout="grid", keep=keep)
    assert result.provenance["layout"] == "grid"
    return result.marginals[..., 1]


def killed_after(sweeps, folder):
    """In a process of its own: 40 sweeps of f.npy, which kills itself after some of them."""

    class Bar(tiled.Progress):
        def update(self, done, note=""):
            if done >= sweeps:
                os.kill(os.getpid(), signal.SIGKILL)

    tiled.MAX_PASS_SWEEPS, tiled.Progress = 2, Bar
    os.chdir(folder)
    lattice = hd.StoredLattice("f.npy", 0.4)
    hd.infer_tiled(lattice, SHARED, out="m.npy", sweeps=40, tile=40, checkpoint="run")

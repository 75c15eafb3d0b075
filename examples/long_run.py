"""A long run that is interrupted and resumed, to the bits of one that never was.

A callback that raises KeyboardInterrupt ends it as Ctrl-C would; with `checkpoint=` it is resumed.
"""

import numpy as np

import herded as hd

model = hd.ising_grid(np.random.default_rng(0).normal(size=(20, 20)), 0.1)
options = {"sweeps": 4000, "burn_in": 100, "chains": 2, "keep": [hd.Observable(hd.energy)]}


def stop(snapshot):
    if snapshot.sweeps >= 1000:
        print(f"after {snapshot.sweeps} sweeps {snapshot.states().mean():.0%} of the spins are up")
        raise KeyboardInterrupt


try:
    hd.infer(model, hd.Gibbs(), checkpoint="run.ckpt", callback=stop, **options)
except hd.Interrupted as error:
    part = error.result
whole = hd.infer(model, hd.Gibbs(), checkpoint="run.ckpt", **options)
at_once = hd.infer(model, hd.Gibbs(), **options)
print(f"interrupted: {part.provenance['interrupted']}; resumed to {whole.sweeps} sweeps")
energies = [run.observables["energy"].series for run in (whole, at_once)]
print(f"the same energies to the last bit: {np.array_equal(*energies)}")
hd.plot.series(whole, "energy").savefig("long_run.png", dpi=110)

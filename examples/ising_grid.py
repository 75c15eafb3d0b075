"""How fast do errors fall? Gibbs and herded Gibbs on a 10x10 Ising grid with random couplings.

Its exact marginals are known: `ErrorCurve` records the mean absolute error after the given sweeps.
Gibbs converges as 1 / sqrt(sweeps). Where couplings are as weak as these, herded Gibbs is several
times as accurate; with stronger ones the difference becomes small: try STRENGTH = 1.
"""

import numpy as np

import herded as hd

STRENGTH = 0.3  # fields and couplings are uniform on (-STRENGTH, STRENGTH)
SWEEPS = [100, 1_000, 10_000]

rng = np.random.default_rng(0)
shapes = (10, 10), (10, 9), (9, 10)  # of the spins, and of pairs to the right and down
field, right, down = (rng.uniform(-STRENGTH, STRENGTH, shape) for shape in shapes)
model = hd.ising_grid(field, (right, down))
truth = hd.infer(model, hd.Exact()).marginals
keep = [hd.ErrorCurve(truth, at=SWEEPS, rao_blackwell=True), hd.Marginals(rao_blackwell=True)]

print(f"{'sweeps':<16}" + "".join(f"{sweeps:>12,}" for sweeps in SWEEPS))
runs = {}
for name, method in (("Gibbs", hd.Gibbs()), ("herded Gibbs", hd.HerdedGibbs())):
    runs[name] = hd.infer(model, method, sweeps=SWEEPS[-1], chains=4, keep=keep)
    errors = runs[name].curve.errors.mean(axis=0)  # over the chains
    print(f"{name:<16}" + "".join(f"{error:>12.6f}" for error in errors))
hd.plot.curve(runs).savefig("ising_grid.png", dpi=110)

"""When do spins order? The magnetisation of an Ising model against its coupling, with error bars.

Above the critical coupling 0.4407 most spins point the same way. That ordered members seldom turn
round is warned of; the size of the magnetisation is the same in both directions.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

warnings.simplefilter("ignore", hd.HerdedWarning)
SIZE = hd.Observable(lambda s, model: abs(hd.magnetisation(s, model)), name="size", every=4)

figure, axis = plt.subplots(figsize=(5, 3.6), layout="constrained")
for coupling in (0.30, 0.36, 0.40, 0.42, 0.44, 0.46, 0.50):
    model = hd.ising_grid(np.zeros((16, 16)), coupling, periodic=True)
    options = {"sweeps": 400, "burn_in": 400, "chains": 4, "keep": [SIZE]}
    found = hd.infer(model, hd.Gibbs(herd=64), **options).observables["size"]
    low, high = found.interval
    print(f"coupling {coupling:.2f}: |m| = {found.mean:.3f} ({low:.3f} to {high:.3f})")
    axis.errorbar(coupling, found.mean, (high - low) / 2, fmt="o", color="#c4382f", capsize=3)
axis.axvline(0.4407, color="grey", ls="--")
axis.set(xlabel="coupling", ylabel="mean |magnetisation|, 16 x 16 spins", ylim=(0, 1))
figure.savefig("phase_transition.png", dpi=110)

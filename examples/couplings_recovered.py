"""Couplings recovered: how well do samples of a spin glass tell the couplings it has?

By exact maximum likelihood, and by pseudo-likelihood, which neither sums nor samples a model.
"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

SIDE, ROWS = 8, 5_000
rng = np.random.default_rng(0)
right, down = rng.normal(0, 0.4, (SIDE, SIDE - 1)), rng.normal(0, 0.4, (SIDE - 1, SIDE))
truth = hd.ising_grid(rng.normal(0, 0.2, (SIDE, SIDE)), (right, down))
keep = [hd.Samples(every=100)]
rows = hd.infer(truth, hd.Gibbs(herd=ROWS), sweeps=100, keep=keep).samples
rows = rows.reshape(ROWS, SIDE, SIDE)

blank = hd.ising_grid(np.zeros((SIDE, SIDE)), 0.0)
figure, axis = plt.subplots(figsize=(4, 4), layout="constrained")
for name, objective, mark in (("likelihood", "likelihood", "o"), ("pseudo", "pseudo", "x")):
    fitted = hd.learn.fit(blank, rows, objective=objective)
    error = fitted.model.all_couplings - truth.all_couplings
    print(f"{name}: error {np.sqrt((error**2).mean()):.4f}; {fitted.convergence}")
    axis.plot(truth.all_couplings, fitted.model.all_couplings, mark, label=name, alpha=0.6)
axis.axline((0, 0), slope=1, color="grey", linewidth=0.5)
axis.set(xlabel="true coupling", ylabel="learned", aspect="equal")
axis.legend()
figure.savefig("couplings_recovered.png", dpi=110)

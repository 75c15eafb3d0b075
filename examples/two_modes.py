"""Two modes, and a chain that sees one of them: tempering lets it cross.

Strongly coupled spins with a weak random field are nearly all up or nearly all down, the one more
often than the other. A chain of single moves stays where it started; `hd.Tempered` runs copies at
higher temperatures and exchanges states with them.
"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

rng = np.random.default_rng(3)
model = hd.ising_grid(0.08 * rng.normal(size=(8, 8)), 0.75)
truth = hd.infer(model, hd.Exact()).marginals[..., 1].mean()
figure, axes = plt.subplots(2, 1, figsize=(6, 3.8), layout="constrained", sharex=True, sharey=True)
for axis, method in zip(axes, (hd.Gibbs(), hd.Tempered()), strict=True):
    start = None if isinstance(method, hd.Tempered) else np.zeros(64, int)
    run = hd.infer(model, method, sweeps=4000, start=start, keep=[hd.Samples()])
    up = run.samples[0].mean(axis=1)
    name = type(method).__name__
    print(f"{name:9} {up.mean():.2f} of the spins are up, exactly {truth:.2f}")
    axis.plot(up, lw=0.5, color="#2563a8")
    axis.axhline(truth, color="grey", ls="--")
    axis.set(ylabel="share up", title=name)
axes[1].set_xlabel("sweep")
figure.savefig("two_modes.png", dpi=110)

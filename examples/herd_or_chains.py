"""64 chains, together or apart: how much does drawing together take off the error?

A herd of 64 Gibbs chains shares one random number for each visit of a variable, 64 independent
chains draw their own. Same updates, same law of every chain; the averages differ.
"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

MEMBERS, SWEEPS = 64, np.unique(np.logspace(1, 3, 12).astype(int))

rng = np.random.default_rng(0)
model = hd.ising_grid(rng.uniform(-0.5, 0.5, (8, 8)), 0.3)
truth = hd.infer(model, hd.Exact()).marginals[..., 1]
figure, axis = plt.subplots(figsize=(5, 3.6), layout="constrained")
for name, herd, chains in (("apart", 1, MEMBERS), ("a herd", MEMBERS, 1)):
    options = {"sweeps": int(SWEEPS[-1]), "burn_in": 50, "chains": chains, "keep": [hd.Samples()]}
    samples = hd.infer(model, hd.Gibbs(herd=herd), **options).samples
    ones = samples.sum(axis=0, dtype=np.int64).cumsum(axis=0)[SWEEPS - 1]
    errors = abs(ones / (MEMBERS * SWEEPS[:, None]) - truth.ravel()).mean(axis=1)
    print(f"{name:8} mean error after {SWEEPS[-1]} sweeps {errors[-1]:.6f}")
    axis.loglog(SWEEPS, errors, "o-", label=f"{MEMBERS} chains, {name}")
axis.set(xlabel="sweeps", ylabel="mean error of the marginals")
axis.legend()
figure.savefig("herd_or_chains.png", dpi=110)

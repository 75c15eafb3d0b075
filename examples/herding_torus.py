"""Two coins without chance: herding walks on a torus, and fills it or gets stuck.

Each coin keeps a weight, what is still owed to heads; modulo 1 both turn by their probability at
every step. If these have no rational relation the walk fills the square evenly, so that all four
states come as often as they should; two fair coins move as one.
"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

pairs = {"no rational relation": (2**0.5 - 1, 3**0.5 - 1), "two fair coins": (0.5, 0.5)}
figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
for axis, (title, chances) in zip(axes, pairs.items(), strict=True):
    tables = [((i,), np.log([1 - p, p])) for i, p in enumerate(chances)]
    model = hd.FactorGraph([2, 2], tables)
    method = hd.HerdedGibbs(phases="half")
    result = hd.infer(model, method, sweeps=2000, keep=[hd.Joint(), hd.Samples()])
    truth = np.outer(*[(1 - p, p) for p in chances])
    print(f"{title}: the joint is {abs(result.joint - truth).sum() / 2:.4f} from the truth")
    walk = (np.arange(2000)[:, None] * chances + 0.25) % 1
    colour = result.samples[0] @ [1, 2]
    axis.scatter(*walk.T, c=colour, s=9, cmap="viridis", vmin=0, vmax=3)
    axis.set(title=title, xlabel="first weight", ylabel="second weight", aspect="equal")
    axis.set(xlim=(0, 1), ylim=(0, 1))
figure.savefig("herding_torus.png", dpi=110)

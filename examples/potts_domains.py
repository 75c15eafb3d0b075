"""Domains of a Potts model grow from noise: three colours on a torus of 96 x 96, sweep by sweep.

Below the temperature at which colours separate, neighbours want to be alike. Pictures are states of
one chain after 1, 10 and 100 sweeps.
"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

SHOWN = (1, 10, 100)

model = hd.potts_grid(np.zeros((96, 96, 3)), coupling=1.4, periodic=True)
start = np.random.default_rng(0).integers(3, size=(96, 96))
run = hd.infer(model, hd.Gibbs(), sweeps=SHOWN[-1], start=start, keep=[hd.Samples()])
figure, axes = plt.subplots(1, 3, figsize=(7.5, 2.9), layout="constrained")
for axis, sweep in zip(axes, SHOWN, strict=True):
    state = run.samples[0, sweep - 1].reshape(96, 96)
    alike = np.mean([(state == np.roll(state, 1, axis)).mean() for axis in (0, 1)])
    print(f"after {sweep:>3} sweeps {alike:.0%} of the neighbours are alike")
    axis.imshow(state, cmap="viridis", interpolation="nearest")
    axis.set(title=f"{sweep} sweep{'s' * (sweep > 1)}", xticks=[], yticks=[])
figure.savefig("potts_domains.png", dpi=110)

"""Which of three materials is each pixel? A Potts prior, and probabilities instead of a guess.

Three levels of grey under heavy noise. Each pixel alone is a poor guess; with neighbours that tend
to be alike most are right, and where the answer is uncertain the probabilities say so.
"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

LEVELS, SIGMA = np.array([0.0, 0.5, 1.0]), 0.45

row, column = np.mgrid[:80, :80] / 80
clean = np.where((row - 0.5) ** 2 + (column - 0.4) ** 2 < 0.08, 2, (column > 0.6).astype(int))
noisy = LEVELS[clean] + SIGMA * np.random.default_rng(0).normal(size=clean.shape)
log_unary = -((noisy[..., None] - LEVELS) ** 2) / (2 * SIGMA**2)
model = hd.potts_grid(log_unary, coupling=1.2)
found = hd.infer(model, hd.Gibbs(), sweeps=200, burn_in=50, chains=4).marginals
for name, guess in (("alone", log_unary), ("together", found)):
    print(f"wrong pixels, {name}: {100 * (guess.argmax(-1) != clean).mean():.1f} %")
pictures = {"noisy": noisy, "most probable": found.argmax(-1), "how sure": found.max(-1)}
figure, axes = plt.subplots(1, 3, figsize=(7.5, 2.9), layout="constrained")
for axis, (title, picture) in zip(axes, pictures.items(), strict=True):
    axis.imshow(picture, cmap="viridis")
    axis.set(title=title, xticks=[], yticks=[])
figure.savefig("segmentation.png", dpi=110)

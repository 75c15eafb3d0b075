"""Clean a noisy grey picture by its level sets: python examples/grey_picture.py"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

SIGMA = 0.1

row, column = np.mgrid[:64, :64] / 64
clean = 0.3 + 0.4 * column  # a slope, a bright disc, a dark bar
clean[(row - 0.4) ** 2 + (column - 0.4) ** 2 < 0.06] = 0.8
clean[(row > 0.75) & (row < 0.85)] = 0.15
noisy = clean + np.random.default_rng(0).normal(scale=SIGMA, size=clean.shape)


def decibels(picture: np.ndarray) -> float:
    return float(-10 * np.log10(((picture - clean) ** 2).mean()))


found = hd.vision.restore(noisy)  # finds out by itself that two levels do not fit
print(f"model {found.model}, {len(found.levels)} levels, sigma {found.sigma:.3f}")
print(f"noisy: {decibels(noisy):.1f} dB, restored: {decibels(found.image):.1f} dB")
plt.imsave("grey_picture.png", np.hstack([noisy, found.image]).clip(0, 1), cmap="gray", dpi=110)

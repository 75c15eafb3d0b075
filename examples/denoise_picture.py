"""Clean a noisy picture: section 4.2 of the paper on a picture that this script draws.

A ring and a bar of two grey levels get Gaussian noise. `hd.vision.restore` estimates the noise and
the levels, builds the posterior (an Ising model with the noisy pixels as fields) and runs herded
Gibbs on it. Beside it, each pixel for itself: the nearer of the two levels.

    python examples/denoise_picture.py
"""

import numpy as np

import herded as hd

SIDE = 64
NOISE = 0.8


def ring_and_bar() -> np.ndarray:
    """A picture of the levels -1 and 1."""
    row, column = np.mgrid[:SIDE, :SIDE]
    radius = np.hypot(row - 24, column - 28)
    ring = (radius > 9) & (radius < 19)
    bar = (row > 48) & (row < 57) & (column > 6)
    return np.where(ring | bar, 1.0, -1.0)


def shown(picture: np.ndarray) -> str:
    """Every second row and column as text."""
    return "\n".join("".join("#" if p > 0 else "." for p in row) for row in picture[::4, ::2])


def main() -> None:
    clean = ring_and_bar()
    noisy = clean + np.random.default_rng(1).normal(scale=NOISE, size=clean.shape)
    nearest = np.where(noisy > 0, 1.0, -1.0)
    restored = hd.vision.restore(noisy, coupling=0.8, sweeps=30)

    print(shown(nearest), shown(restored.image), sep="\n\n")
    print(f"noise: {restored.sigma:.2f} estimated, {NOISE} true; levels: {restored.levels}")
    for name, picture in (("each pixel for itself", nearest), ("herded Gibbs", restored.image)):
        print(f"wrong pixels, {name}: {100 * (picture != clean).mean():.1f} %")


if __name__ == "__main__":
    main()

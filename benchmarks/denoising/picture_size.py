"""How much the paper's denoising result owes to the picture: the drawn one at several sizes."""

from collections.abc import Iterator

import numpy as np

from herded.paper.denoising import METHODS, SIGMAS, drawn_picture, errors_over_sweeps

NAMES = ("Herded Gibbs, shared", "Herded Gibbs", "Gibbs")


def lines(quick: bool) -> Iterator[str]:
    yield "## Denoising and the size of the picture"
    yield ""
    images = 1 if quick else 3
    yield f"The drawn picture, {images} noisy ones each: does shared <= herded < Gibbs hold at"
    yield "sigma = 4, 6, 8, and Gibbs's error over that of shared at sigma = 8 (paper: 1.54)"
    yield ""
    yield "| side | order | ratio |"
    yield "|---|---|---|"
    for side in (64, 128, 160, 192, 256, 320):
        clean = drawn_picture(side)
        shared, herded, gibbs = (_errors(clean, name, images) for name in NAMES)
        holds = "holds" if ((shared <= herded) & (herded < gibbs)).all() else "fails"
        yield f"| {side} | {holds} | {gibbs[-1] / shared[-1]:.2f} |"


def _errors(clean: np.ndarray, name: str, images: int) -> np.ndarray:
    """Mean error after the last sweep at sigma = 4, 6, 8, on the experiment's own pictures."""
    truth = np.where(clean, 1.0, -1.0)
    found = np.empty((len(SIGMAS) - 1, images))
    for s, sigma in enumerate(SIGMAS[1:]):
        for image in range(images):
            noise = np.random.default_rng([sigma, image]).normal(size=clean.shape)
            noisy = truth + sigma * noise
            errors, _ = errors_over_sweeps(noisy, sigma, clean, METHODS[name](image))
            found[s, image] = errors[-1]
    return found.mean(axis=1)

"""Does the model fit the picture? What it leaves over must not be alike in neighbours."""

import numpy as np

from herded.vision.noise import Flip, Gauss
from herded.vision.starts import shared_variance

ALIKE = 0.25  # of the variance: two levels and noise leave hardly anything that neighbours share
FEWEST = 64  # pixels, before anything is said


def hint(noisy: np.ndarray, noise: Gauss | Flip, bright: np.ndarray) -> str:
    """A sentence if two levels do not fit; else nothing.

    Noise is independent from pixel to pixel. What is left of a grey picture is not.
    """
    if isinstance(noise, Flip) or min(noisy.shape) < 3 or noisy.size < FEWEST:
        return ""
    left = noisy.astype(float)
    for here in (bright, ~bright):
        if here.any():
            left[here] -= noisy[here].mean()
    total = float(left.var())
    share = shared_variance(left) / total if total > 0 else 0.0
    if share < ALIKE:
        return ""
    return (
        f"two levels do not fit this picture: neighbours share {share:.0%} of what is left over, "
        'and noise is not shared. For a grey picture, levels="grey" is better'
    )

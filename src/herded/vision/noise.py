"""Estimate the two levels and the noise of a picture from its moments.

Noise is independent from pixel to pixel, so it has no effect on products of *neighbouring* pixels:

    E (y_i - m)(y_j - m) = Var x (nearly),   E (y_i - m)(y_j - m)(y_k - m) = third moment of x

and a two-level x is known from its first three moments.
"""

import numpy as np

CANONICAL = ((-1.0, 1.0), (0.0, 1.0))  # levels that pictures usually have
CLOSE = 0.25  # estimates within this share of the gap from canonical levels mean these


def estimate_sigma(image: np.ndarray) -> float:
    """Standard deviation of Gaussian noise on a picture of mostly flat regions.

    From the median of neighbours' differences, which edges hardly move; if more than half of the
    neighbours are equal (no noise, or a few flipped pixels), from the variance that neighbours do
    not share.
    """
    steps = np.concatenate([np.diff(image, axis=0).ravel(), np.diff(image, axis=1).ravel()])
    if steps.size == 0:
        return 0.0
    median = float(np.median(np.abs(steps)))
    if median > 0:
        found: float = median / (0.6744897501960817 * np.sqrt(2.0))  # of |N(0, 2 sigma^2)|
        return found
    return float(np.sqrt(max(0.0, image.var() - shared_variance(image))))


def estimate_flips(picture: np.ndarray) -> float:
    """The share of flipped pixels of a two-valued picture.

    With x = +-1 flipped at rate e, E y = (1 - 2e) E x and E y_i y_j = (1 - 2e)^2 E x_i x_j, and
    E x_i x_j goes to 1 as the neighbours get closer.
    """
    y = np.where(picture, 1.0, -1.0)
    mean = y.mean()
    agreement = shared_variance(y) + mean * mean
    return float(np.clip((1.0 - np.sqrt(np.clip(agreement, 0.0, 1.0))) / 2.0, 1e-4, 0.45))


def estimate_levels(image: np.ndarray) -> tuple[float, float]:
    """The two levels of a picture under noise; close to -1, 1 or 0, 1 they are exactly that."""
    low, high = float(image.min()), float(image.max())
    if low == high:  # one level, and the other at 0
        return (min(low, 0.0), max(low, 0.0)) if low else (0.0, 1.0)
    mean, least = float(image.mean()), float(image.var() / np.sqrt(image.size))
    variance = max(shared_variance(image), least)  # a smaller one is indistinguishable from noise
    centred = image - mean
    triples = [centred[:, :-2] * centred[:, 1:-1] * centred[:, 2:]] if image.shape[1] > 2 else []
    triples += [centred[:-2] * centred[1:-1] * centred[2:]] if image.shape[0] > 2 else []
    third, error = _mean_and_error(triples)
    skew = third / (variance * np.sqrt(variance)) if abs(third) > 2 * error else 0.0
    # (1 - 2q) / sqrt(q (1 - q)) = skew, where q is the share of the upper level
    q = float(np.clip(0.5 - 0.5 * skew / np.sqrt(skew * skew + 4.0), 0.05, 0.95))
    gap = np.sqrt(variance / (q * (1.0 - q)))
    return snap((mean - gap * q, mean + gap * (1.0 - q)))


def _mean_and_error(parts: list[np.ndarray]) -> tuple[float, float]:
    values = np.concatenate([part.ravel() for part in parts]) if parts else np.zeros(0)
    if values.size < 2:
        return 0.0, 0.0
    return float(values.mean()), float(values.std() / np.sqrt(values.size))


def snap(levels: tuple[float, float]) -> tuple[float, float]:
    """Canonical levels where they are close, else the given ones."""
    for low, high in CANONICAL:
        if max(abs(levels[0] - low), abs(levels[1] - high)) < CLOSE * (high - low):
            return low, high
    return levels


def shared_variance(image: np.ndarray) -> float:
    """The variance of what neighbours share, extrapolated from distances 1 and 2 to 0."""
    centred = image - image.mean()

    def at(lag: int) -> float:
        parts = [centred[lag:] * centred[:-lag]] if image.shape[0] > lag else []
        parts += [centred[:, lag:] * centred[:, :-lag]] if image.shape[1] > lag else []
        return float(np.mean([part.mean() for part in parts])) if parts else 0.0

    near, far = at(1), at(2)
    return 2.0 * near - far if 0 < far < near else near

"""Initial guesses of levels and noise, of which the fit keeps the best after a few rounds."""

import numpy as np

from herded.vision.noise.models import MAX_FLIP_RATE, MIN_FLIP_RATE

MIN_PLACES_FOR_FLIPS = 100  # pixels needed to count flips
TAIL_QUANTILES = ((0.01, 0.5), (0.5, 0.99))  # of the local mean, as candidate levels
LEAST_STEP = 1e-6  # of the range: smaller differences of values are rounding errors
MEDIAN_OF_ABS_NORMAL = 0.6744897501960817  # of |Z|


def local_sigma(image: np.ndarray, use: np.ndarray | None = None) -> float:
    """Estimate the standard deviation of Gaussian noise from what neighbours do not share.

    It uses the median of second differences in squares of 2 x 2 pixels (of differences, in a line),
    which slopes do not affect and edges hardly do. If more than half of them are 0 (no noise, or a
    few flipped pixels), it uses their mean square. Only squares whose pixels are in `use` count.
    """
    steps, spread = image, 1.0
    inside = np.ones(image.shape, bool) if use is None else use
    for axis in (0, 1):
        if image.shape[axis] > 1:
            steps, spread = np.diff(steps, axis=axis), 2.0 * spread
            inside = inside.take(range(1, inside.shape[axis]), axis) & inside.take(
                range(inside.shape[axis] - 1), axis
            )
    steps = steps[inside]
    if spread == 1.0 or steps.size == 0:
        return 0.0
    median = float(np.median(np.abs(steps)))
    if median > 0:
        return float(median / (MEDIAN_OF_ABS_NORMAL * np.sqrt(spread)))
    return float(np.sqrt((steps * steps).mean() / spread))


def local_mean(image: np.ndarray) -> np.ndarray:
    """Average each pixel and its eight neighbours, as far as they exist."""
    total, count = np.zeros_like(image), np.zeros(image.shape)
    h, w = image.shape
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            here = np.s_[max(0, -down) : h - max(0, down), max(0, -right) : w - max(0, right)]
            there = np.s_[max(0, down) : h + min(0, down), max(0, right) : w + min(0, right)]
            total[here] += image[there]
            count[here] += 1
    return total / count


def local_median(image: np.ndarray) -> np.ndarray:
    """Take the median of each pixel and its eight neighbours; borders are repeated."""
    h, w = image.shape
    padded = np.pad(image, 1, mode="edge")
    around = [padded[r : r + h, c : c + w] for r in range(3) for c in range(3)]
    found: np.ndarray = np.median(np.stack(around), axis=0)
    return found


def value_step(pixels: np.ndarray) -> float:
    """Return the least difference of two values: the step to which a picture is rounded."""
    values = np.unique(pixels)
    steps = np.diff(values)
    steps = steps[steps > LEAST_STEP * np.ptp(values)] if len(values) > 1 else steps
    return float(steps.min()) if len(steps) else 0.0


def level_guesses(image: np.ndarray) -> list[tuple[float, float]]:
    """Guess pairs of levels: by moments, and from tails of the local mean."""
    smooth = local_mean(image)
    pairs = [levels_by_moments(image)]
    pairs += [tuple(map(float, np.quantile(smooth, tails))) for tails in TAIL_QUANTILES]  # type: ignore[misc]
    return [pair for pair in pairs if pair[0] < pair[1]]


def flip_rate(picture: np.ndarray) -> tuple[float, bool]:
    """Estimate the share of flips in a two-valued picture, and whether it is reliable.

    If the eight neighbours of a pixel are equal, the pixel of nearly every clean picture equals
    them, so the noisy one differs at the rate of flips. With few such places, the rate at which
    neighbours differ is a start.
    """
    h, w = picture.shape
    around = np.zeros((max(h - 2, 0), max(w - 2, 0)), np.int8)
    for r in range(3 if around.size else 0):
        for c in range(3):
            around += picture[r : r + h - 2, c : c + w - 2]
    inner = picture[1:-1, 1:-1]
    others = around - inner
    differ, agree = int(((others == 0) & inner).sum() + ((others == 8) & ~inner).sum()), 0
    agree = int(((others == 0) | (others == 8)).sum())
    if agree >= MIN_PLACES_FOR_FLIPS:
        return min(max(differ / agree, MIN_FLIP_RATE), MAX_FLIP_RATE), True
    steps = [np.diff(picture, axis=axis).mean() for axis in (0, 1) if picture.shape[axis] > 1]
    return min(
        max(float(np.mean(steps)) / 2 if steps else 0.0, MIN_FLIP_RATE), MAX_FLIP_RATE
    ), False


def levels_by_moments(image: np.ndarray) -> tuple[float, float]:
    """Estimate the two levels of a picture under noise.

    Noise is independent from pixel to pixel, so it has no effect on products of *neighbouring*
    pixels:

        E (y_i - m)(y_j - m) = Var x (nearly),   E (y_i - m)(y_j - m)(y_k - m) = third moment of x

    and the first three moments determine a two-level x.
    """
    mean, least = float(image.mean()), float(image.var() / np.sqrt(image.size))
    variance = max(shared_variance(image), least)  # a smaller one is indistinguishable from noise
    centred = image - mean
    triples = [centred[:, :-2] * centred[:, 1:-1] * centred[:, 2:]] if image.shape[1] > 2 else []
    triples += [centred[:-2] * centred[1:-1] * centred[2:]] if image.shape[0] > 2 else []
    third, error = _mean_and_error(triples)
    skew = third / (variance * np.sqrt(variance)) if abs(third) > 2 * error else 0.0
    # (1 - 2q) / sqrt(q (1 - q)) = skew, where q is the share of the upper level
    q = float(np.clip(0.5 - 0.5 * skew / np.sqrt(skew * skew + 4.0), 0.05, 0.95))
    gap = float(np.sqrt(variance / (q * (1.0 - q))))
    return mean - gap * q, mean + gap * (1.0 - q)


def _mean_and_error(parts: list[np.ndarray]) -> tuple[float, float]:
    values = np.concatenate([part.ravel() for part in parts]) if parts else np.zeros(0)
    if values.size < 2:
        return 0.0, 0.0
    return float(values.mean()), float(values.std() / np.sqrt(values.size))


def shared_variance(image: np.ndarray) -> float:
    """Estimate the variance that neighbours share, extrapolated from distances 1 and 2 to 0."""
    centred = image - image.mean()

    def at(lag: int) -> float:
        parts = [centred[lag:] * centred[:-lag]] if image.shape[0] > lag else []
        parts += [centred[:, lag:] * centred[:, :-lag]] if image.shape[1] > lag else []
        return float(np.mean([part.mean() for part in parts])) if parts else 0.0

    near, far = at(1), at(2)
    return 2.0 * near - far if 0 < far < near else near

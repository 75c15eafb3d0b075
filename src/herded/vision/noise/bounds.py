"""Upper bounds of the noise in a picture, from its calmest part.

Noise affects all parts of a picture equally, and the picture's own variation only adds to it. So
the noise is at most its smallest estimate: in the calmest patches and the weakest direction of
their covariance (Gaussian noise), in the most predictable neighbourhood (flips), around
surroundings that are seldom black or white (salt and pepper). A texture or a halftone has hardly
any noise by these measures, although neighbouring pixels differ everywhere.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from herded.vision.noise.initial_guesses import local_median, value_step

PATCH_SIDES = (5, 3, 2)  # of the patches for covariances; smaller ones if pixels are missing
CALMEST_PATCH_SHARE = 0.3  # share of the patches, by variance
CALMEST_HUNDREDTH, CALM_TENTH = 0.01, 0.1  # shares whose variances differ unless noise is uniform
# times the rise between them is subtracted: clean grass then has no noise
RISE_FACTOR = 2.0
MIN_PATCHES = 100  # 4 for every dimension of the largest patch
MAX_PATCHES = 20_000
MAX_KURTOSIS = (
    (0.3, 3.33),
    (0.6, 3.7),
)  # (share of calm patches, kurtosis of differences); 3 for noise
MIN_UNSATURATED = 0.15  # share of patches without black and white pixels, to use only those
MIN_CONTEXT = 50  # pixels with the same eight neighbours, to count flips among them
MIN_SAME_PATTERN = 10  # pixels with the same eight neighbours, to count patterns without exception
MIN_UNIFORM = 100  # pixels whose neighbours are all equal
COUNT_SIGMAS = 3.0  # standard errors of a count: there are up to 256 neighbourhoods
MEDIAN_BINS = 6
HALF_CUT_VARIANCE = 0.34  # 1/2 - 1/(2 pi): the remaining variance if half of the noise is cut
MAX_FREQUENCY = 60  # half periods within the range
MAX_STEP_ANGLE = 1.5  # of the characteristic function: above, it reflects the rounding of values
MIN_CHARACTERISTIC = 0.1  # below, it carries no information
# seeds unlike those that people add noise with, which must not recur
TRIAL_NOISE_SEED = (20130501, 31)


def careful_sigma(picture: np.ndarray, missing: np.ndarray | None = None) -> float:
    """Estimate the standard deviation of Gaussian noise, rather too low than too high.

    Noise adds the same variance to every direction of a patch, so its variance is at most the least
    eigenvalue of the patches' covariance. If eigenvalues differ, the picture adds to them, and then
    probably to the least one, too: the excess of the middle one is subtracted. The same steps on
    white noise calibrate the choice of calm patches and the random spread of estimated eigenvalues.
    Zero if the picture is too small.
    """
    patches, noise_patches = _patches_and_noise(picture, missing)
    if len(patches) < MIN_PATCHES:
        return 0.0
    values = _eigenvalues(patches) / _eigenvalues(noise_patches)
    least, middle = float(values[0]), float(values[len(values) // 2])
    return float(np.sqrt(max(least - max(middle - least, 0.0), 0.0)))


def homogeneous_sigma(picture: np.ndarray, missing: np.ndarray | None = None) -> float:
    """Bound the part of the noise that is uniform over the picture, as added noise is.

    The variance of the calmest patches bounds the noise. If it rises towards the calmest tenth, the
    picture adds to it, and probably at least as much to the calmest patches: fur and foliage vary
    in roughness. Zero if the picture is too small.
    """
    patches, noise_patches = _patches_and_noise(picture, missing)
    if len(patches) < MIN_PATCHES:
        return 0.0
    variances, unit = patches.var(axis=1), noise_patches.var(axis=1)

    def relative(share: float) -> float:
        calm, usual = (v[v <= np.quantile(v, share)].mean() for v in (variances, unit))
        return float(calm / usual)

    calmest, calm_tenth = relative(CALMEST_HUNDREDTH), relative(CALM_TENTH)
    return float(np.sqrt(max(calmest - RISE_FACTOR * max(calm_tenth - calmest, 0.0), 0.0)))


def has_gaussian_differences(picture: np.ndarray, missing: np.ndarray | None = None) -> bool:
    """Return whether differences of neighbours in calm patches have Gaussian tails.

    The tails of fur and grass are heavier, at 30 and at 60 % of the patches. True if too few
    patches are known.
    """
    patches, _ = _patches_and_noise(picture, missing)
    if len(patches) < MIN_PATCHES or patches.shape[1] < 9:
        return True
    variances, side = patches.var(axis=1), int(np.sqrt(patches.shape[1]))
    for share, most in MAX_KURTOSIS:
        calm = patches[variances <= np.quantile(variances, share)].reshape(-1, side, side)
        steps = calm[:, 1, 1] - calm[:, 0, 1] - calm[:, 1, 0] + calm[:, 0, 0]
        square = float((steps * steps).mean())
        if square == 0 or float((steps**4).mean()) <= most * square * square:
            return True
    return False


def _patches_and_noise(
    picture: np.ndarray, missing: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return patches of the picture and of white noise, of the largest side with enough of them."""
    patches = np.zeros((0, 1))
    for side in PATCH_SIDES if missing is not None else PATCH_SIDES[:1]:
        if min(picture.shape) >= side:
            patches = _usable_patches(picture, missing, side)
        if len(patches) >= MIN_PATCHES:
            break
    else:
        return patches, patches
    noise = np.random.default_rng(TRIAL_NOISE_SEED).normal(size=picture.shape)
    noise_patches = sliding_window_view(noise, (side, side)).reshape(-1, side * side)
    noise_patches = noise_patches[:: max(1, len(noise_patches) // len(patches))]
    return patches, noise_patches[: len(patches)]


def _usable_patches(picture: np.ndarray, missing: np.ndarray | None, side: int) -> np.ndarray:
    """Return patches of known pixels, without the ends of the range if there are enough.

    At an end of the range, noise is cut off and looks weaker than it is.
    """
    patches = sliding_window_view(picture, (side, side)).reshape(-1, side * side)
    if missing is not None:
        known = ~sliding_window_view(missing, (side, side)).any(axis=(2, 3)).ravel()
        patches = patches[known]
    if len(patches) == 0:
        return patches
    patches = patches[:: max(1, len(patches) // MAX_PATCHES)]
    low, high = picture.min(), picture.max()
    inside = ((patches > low) & (patches < high)).all(axis=1)
    enough = inside.sum() >= max(MIN_PATCHES, MIN_UNSATURATED * len(patches))
    return patches[inside] if enough else patches


def _eigenvalues(patches: np.ndarray) -> np.ndarray:
    """Compute the increasing eigenvalues of the covariance of the calmest patches."""
    variances = patches.var(axis=1)
    calm = patches[variances <= np.quantile(variances, CALMEST_PATCH_SHARE)]
    calm = calm - calm.mean(axis=1, keepdims=True)  # the brightness of a patch is not noise
    values: np.ndarray = np.linalg.eigvalsh(calm.T @ calm / len(calm))[
        1:
    ]  # the mean contributes none
    return values


def distribution_bound(pixels: np.ndarray) -> float:
    """Bound the standard deviation of Gaussian noise by the values that occur.

    Noise of variance s2 leaves at least 0.36 s2 within the best two clusters of the values, and a
    characteristic function of at most exp(-s2 t^2 / 2) at every t. So dots of few values have
    little noise, however they are arranged.
    """
    size = float(np.ptp(pixels))
    if size == 0:
        return 0.0
    values = (pixels - pixels.min()) / size
    cluster_variance = within_clusters(values)
    at_ends = float(((values == 0) | (values == 1)).mean())
    bound = cluster_variance / HALF_CUT_VARIANCE
    values = values[:: max(1, len(values) // MAX_PATCHES)]
    step = value_step(pixels) / size
    for t in np.pi * np.arange(0.5, MAX_FREQUENCY, 0.5):
        if t * step > MAX_STEP_ANGLE:
            break
        size_at_t = float(np.abs(np.exp(1j * t * values).mean()))
        chance = float(np.sqrt(max(1.0 - size_at_t * size_at_t, 0.0) / len(values)))
        size_at_t -= 2.0 * at_ends + chance
        if size_at_t > MIN_CHARACTERISTIC:
            bound = min(bound, -2.0 * float(np.log(size_at_t)) / (t * t))
    return float(np.sqrt(max(bound, 0.0))) * size


def within_clusters(pixels: np.ndarray) -> float:
    """Compute the variance within the best two clusters of the values."""
    values = np.sort(pixels)
    values = values - values.mean()
    below = np.arange(1, len(values))
    sums = np.cumsum(values)[:-1]
    between = sums * sums * (1.0 / below + 1.0 / (len(values) - below))  # the sum of all is 0
    return (float((values * values).sum()) - float(between.max(initial=0.0))) / len(values)


def flip_bound(bright: np.ndarray, missing: np.ndarray | None = None) -> float:
    """Bound the share of flipped pixels in a picture of two levels.

    Under flips, the rarer value is at least as frequent as flips among pixels whose eight
    neighbours form the same pattern. So the rate is at most that of any pattern. Zero if too few
    pixels have equal neighbours.
    """
    if min(bright.shape) < 3:
        return 0.0
    pattern, centre = _known_patterns(bright, missing)
    total = np.bincount(pattern, minlength=256)
    ones = np.bincount(pattern, weights=centre, minlength=256)
    rarer = np.minimum(ones, total - ones)
    uniform = total[0] + total[255]
    differing = ones[0] + total[255] - ones[255]
    if uniform < MIN_UNIFORM:
        return 0.0
    frequent = total >= MIN_CONTEXT
    highest = (rarer + COUNT_SIGMAS * np.sqrt(rarer + 1.0) + COUNT_SIGMAS)[frequent] / total[
        frequent
    ]
    # For the flips themselves a cautious count, since a few lone pixels are no evidence.
    careful = max(differing - COUNT_SIGMAS * np.sqrt(differing), 0.0) / uniform
    return float(min(careful, highest.min())) if frequent.any() else 0.0


def _known_patterns(
    bright: np.ndarray, missing: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return patterns and pixels for patterns without missing pixels."""
    pattern, centre = _neighbour_patterns(bright)
    if missing is None:
        return pattern, centre
    known = ~sliding_window_view(missing, (3, 3)).any(axis=(2, 3)).ravel()
    return pattern[known], centre[known]


def _neighbour_patterns(bright: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eight neighbours of every inner pixel as a number below 256, and the pixel."""
    h, w = bright.shape
    pattern = np.zeros((h - 2, w - 2), np.int64)
    for row, column in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)):
        pattern = 2 * pattern + bright[row : row + h - 2, column : column + w - 2]
    return pattern.ravel(), bright[1:-1, 1:-1].ravel()


def has_predictable_patterns(
    bright: np.ndarray, rate: float, missing: np.ndarray | None = None
) -> bool:
    """Return whether more patterns determine the pixel than flips would allow.

    A clean halftone has such patterns; at that rate of flips, a pattern of n pixels has no
    exception with probability (1 - rate)^n.
    """
    pattern, centre = _known_patterns(bright, missing)
    total = np.bincount(pattern, minlength=256)
    ones = np.bincount(pattern, weights=centre, minlength=256)
    often = total >= MIN_SAME_PATTERN
    chance = (1.0 - rate) ** total[often]
    certain = (np.minimum(ones, total - ones)[often] == 0).sum()
    return bool(certain > chance.sum() + COUNT_SIGMAS * np.sqrt((chance * (1.0 - chance)).sum()))


def lone_pixels(
    bright: np.ndarray, missing: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return inner pixels that differ from eight equal neighbours, and all with such neighbours."""
    around, centre = _neighbour_patterns(bright)
    uniform = (around == 0) | (around == 255)
    if missing is not None:
        uniform &= ~sliding_window_view(missing, (3, 3)).any(axis=(2, 3)).ravel()
    lone = uniform & (centre != (around == 255))
    inner = bright.shape[0] - 2, bright.shape[1] - 2
    return lone.reshape(inner), uniform.reshape(inner)


def impulse_bound(at_end: np.ndarray, filled: np.ndarray) -> float:
    """Bound the share of pixels that salt (or pepper) has put at an end of the range.

    The share of such pixels is at least that of the noise in any surroundings, which are classified
    by the median of a pixel and its neighbours.
    """
    median = local_median(filled).ravel()
    edges = np.quantile(median, np.linspace(0, 1, MEDIAN_BINS + 1)[1:-1])
    place = np.searchsorted(edges, median, side="right")
    total = np.bincount(place, minlength=MEDIAN_BINS)
    counts = np.bincount(place, weights=at_end.ravel(), minlength=MEDIAN_BINS)
    frequent = total >= MIN_CONTEXT
    if not frequent.any():
        return 0.0
    highest = (counts + COUNT_SIGMAS * np.sqrt(counts))[frequent] / total[frequent]
    return float(min(highest.min(), at_end.mean()))

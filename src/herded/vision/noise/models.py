"""Noise on a picture of two levels: its effect on a pixel, and how it is fitted.

Gauss  y = level + sigma z, cut to [floor, ceiling] if the picture's range ends there: a pixel at an
       end is only known to be there or beyond
Flip   y = the other level, at a rate

A missing pixel is NaN, and equally likely under either level.
"""

from dataclasses import dataclass, replace
from operator import sub
from typing import ClassVar, NamedTuple

import numpy as np

from herded.system.numerics.exp_log import log
from herded.vision.noise.normal_distribution import HALF_LOG_2_PI, hazard, log_below

COMMON_LEVELS = ((-1.0, 1.0), (0.0, 1.0))  # common levels of pictures
MIN_SIGMA = 1e-3  # of half the gap between levels
MIN_FLIP_RATE, MAX_FLIP_RATE = 1e-4, 0.45
EM_ROUNDS = 60  # of EM for pixels cut off, on a few sums
STEPS_INSIDE, MIN_PEAK_RATIO = 5, 2.0  # distinguish an end of the range from a fading tail
MIN_END_SHARE = 0.002


@dataclass(frozen=True)
class FlipNoise:
    """Noise that gives pixels the other level, at a rate."""

    levels: tuple[float, float]
    rate: float
    rate_known: bool = False
    sigma: float = 0.0
    scale: ClassVar[float] = 1.0  # of the parameters

    @property
    def parameters(self) -> tuple[float, ...]:
        """The fitted parameters."""
        return (self.rate,)

    def at(self, rate: float) -> "FlipNoise":
        """Return the same noise with another rate."""
        return replace(self, rate=min(max(rate, MIN_FLIP_RATE), MAX_FLIP_RATE))

    @property
    def known(self) -> bool:
        """Whether nothing is left to fit."""
        return self.rate_known

    def usual(self) -> "tuple[FlipNoise, ...]":
        """Return no alternatives: the levels are those of the noisy picture."""
        return ()

    def log_likelihoods(self, noisy: np.ndarray) -> np.ndarray:
        """Compute log p(pixel | level) (2, H, W), for the lower and for the higher level."""
        kept, flipped = float(log(1.0 - self.rate)), float(log(self.rate))
        bright = noisy > (self.levels[0] + self.levels[1]) / 2
        found = np.stack([np.where(bright, flipped, kept), np.where(bright, kept, flipped)])
        found[:, np.isnan(noisy)] = 0.0
        return found

    def fitted(self, noisy: np.ndarray, bright: np.ndarray) -> "FlipNoise":
        """Fit the rate, given the probability `bright` that a pixel has the higher level.

        The levels stay those of the noisy picture.
        """
        if self.known:
            return self
        seen = noisy > (self.levels[0] + self.levels[1]) / 2
        rate = float(np.where(seen, 1.0 - bright, bright)[~np.isnan(noisy)].mean())
        return self.at(rate)


@dataclass(frozen=True)
class GaussianNoise:
    """Gaussian noise on two levels, cut to the range of the picture."""

    levels: tuple[float, float]
    sigma: float
    floor: float = -np.inf
    ceiling: float = np.inf
    levels_known: bool = False
    sigma_known: bool = False
    rate: float = 0.0
    range_: tuple[float, float] = (-np.inf, np.inf)  # of the pixels: levels lie within

    @property
    def scale(self) -> float:
        """The gap between the levels, the unit of the parameters."""
        return self.levels[1] - self.levels[0]

    @property
    def parameters(self) -> tuple[float, ...]:
        """The fitted parameters."""
        return (*self.levels, self.sigma)

    def at(self, low: float, high: float, sigma: float) -> "GaussianNoise":
        """Return the same noise with other levels and sigma, if they make sense.

        Levels outside the range of the pixels are moved to its ends.
        """
        if not self.levels_known:
            low, high = max(low, self.range_[0]), min(high, self.range_[1])
        if not low < high or sigma <= 0:
            return self
        return replace(self, levels=(low, high), sigma=max(sigma, MIN_SIGMA * (high - low) / 2))

    @property
    def known(self) -> bool:
        """Whether nothing is left to fit."""
        return self.levels_known and self.sigma_known

    def usual(self) -> "tuple[GaussianNoise, ...]":
        """Return the same noise with the usual levels of such a picture: its ends, or 0 and 1."""
        if self.levels_known:
            return ()
        pairs = [
            pair
            for pair in COMMON_LEVELS
            if max(map(abs, map(sub, self.levels, pair))) < (pair[1] - pair[0]) / 2
            and self.range_[0] <= pair[0]
            and pair[1] <= self.range_[1]
        ]
        if self.floor > -np.inf and self.ceiling < np.inf:
            pairs.insert(0, (self.floor, self.ceiling))
        return tuple(replace(self, levels=pair, levels_known=True) for pair in dict.fromkeys(pairs))

    def log_likelihoods(self, noisy: np.ndarray) -> np.ndarray:
        """Compute log p(pixel | level) (2, H, W), for the lower and for the higher level."""
        found = np.empty((2, *noisy.shape))
        for k, level in enumerate(self.levels):
            off = (noisy - level) / self.sigma
            found[k] = -0.5 * off * off - (HALF_LOG_2_PI + float(log(self.sigma)))
            if self.floor > -np.inf:
                found[k][noisy <= self.floor] = log_below((self.floor - level) / self.sigma)
            if self.ceiling < np.inf:
                found[k][noisy >= self.ceiling] = log_below((level - self.ceiling) / self.sigma)
        found[:, np.isnan(noisy)] = 0.0
        return found

    def fitted(self, noisy: np.ndarray, bright: np.ndarray) -> "GaussianNoise":
        """Fit levels and sigma, given the probability `bright` of the higher level.

        A picture that is cut off is fitted by EM: values beyond an end are replaced by their
        expectations (Dempster, Laird and Rubin 1977, section 4.2).
        """
        if self.known:
            return self
        middle = (self.levels[0] + self.levels[1]) / 2  # sums of squares far from 0 lose digits
        known = ~np.isnan(noisy)
        centred = np.where(known, noisy - middle, 0.0)
        ends = (self.floor - middle, self.ceiling - middle)
        shares = (np.where(known, 1.0 - bright, 0.0), np.where(known, bright, 0.0))
        sums = [_sums(centred, share, ends) for share in shares]
        means = [level - middle for level in self.levels]
        sigma = self.sigma
        for _ in range(EM_ROUNDS if any(part.below + part.above for part in sums) else 1):
            means, sigma = self._step(sums, means, sigma, ends)
        levels = self.levels if self.levels_known else (means[0] + middle, means[1] + middle)
        return self.at(*levels, sigma)

    def _step(
        self, sums: "list[PixelSums]", means: list[float], sigma: float, ends: tuple[float, float]
    ) -> tuple[list[float], float]:
        found, squares = list(means), 0.0
        for k, part in enumerate(sums):
            low, high = ((end - means[k]) / sigma for end in ends)
            down = hazard(low) if part.below else 0.0
            up = hazard(-high) if part.above else 0.0
            total = part.inside + part.below + part.above
            beyond = sigma * (part.above * up - part.below * down)  # total distance from the mean
            if not self.levels_known and total > 1.0:
                outside = part.below + part.above
                found[k] = (part.first + outside * means[k] + beyond) / total
            shift = means[k] - found[k]
            squares += part.second - 2 * found[k] * part.first + found[k] ** 2 * part.inside
            if part.below:
                squares += part.below * (sigma * sigma * (1.0 - low * down) + shift * shift)
            if part.above:
                squares += part.above * (sigma * sigma * (1.0 + high * up) + shift * shift)
            squares += 2 * shift * beyond
        n = sum(part.inside + part.below + part.above for part in sums)
        return found, sigma if self.sigma_known else float(np.sqrt(max(squares, 0.0) / n))


class PixelSums(NamedTuple):
    """Sums for a level: pixels inside the range, their first two moments, pixels at the ends."""

    inside: float
    first: float
    second: float
    below: float
    above: float


def _sums(centred: np.ndarray, share: np.ndarray, ends: tuple[float, float]) -> PixelSums:
    below, above = centred <= ends[0], centred >= ends[1]
    weight = np.where(below | above, 0.0, share)
    first = weight * centred
    moments = float(weight.sum()), float(first.sum()), float((first * centred).sum())
    return PixelSums(*moments, float(share[below].sum()), float(share[above].sum()))


def range_ends(noisy: np.ndarray) -> tuple[float, float]:
    """Return where the range ends on either side; infinite if no pixels were cut off there.

    An end has far more pixels than any of the values next to it.
    """
    values, counts = np.unique(noisy, return_counts=True)
    if len(values) < 3:
        return -np.inf, np.inf
    fewest = max(4.0, MIN_END_SHARE * noisy.size)
    low = counts[0] > max(fewest, MIN_PEAK_RATIO * counts[1 : 1 + STEPS_INSIDE].max())
    high = counts[-1] > max(fewest, MIN_PEAK_RATIO * counts[-1 - STEPS_INSIDE : -1].max())
    return float(values[0]) if low else -np.inf, float(values[-1]) if high else np.inf

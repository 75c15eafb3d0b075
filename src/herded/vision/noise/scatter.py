"""A test of whether odd pixels are scattered like noise, which hits pixels independently.

Given the places where an odd pixel would be seen, pairs of odd pixels at any offset of two pixels
or more are then as frequent as expected by chance. Dots of a screen and of error diffusion keep a
distance, so there are too few close pairs; those of a lattice have one offset far more often.
"""

import numpy as np

REACHES = (2, 4, 6, 8, 12, 16)  # the largest row and column offsets of counted pairs
MIN_EXPECTED = 8.0  # pairs needed for a judgement
SURE, SPARSE = 3.0, 0.6  # standard errors below the number expected by chance, and times that
PERIODIC, PERIODIC_PAIRS = 4.0, 12.0  # times the mean count of an offset, and more: a lattice


def is_random_scatter(odd: np.ndarray, places: np.ndarray, lattices: bool = True) -> bool:
    """Return whether odd pixels lie among `places` as independent ones would.

    Touching pixels are not counted, since they hide each other. If odd pixels may lie along edges,
    lattices are not tested for.
    """
    places = places | odd
    seen, possible = int(odd.sum()), int(places.sum())
    if seen < 2 or min(odd.shape) < 3:
        return True
    pairs, chances = _pair_counts(odd), _pair_counts(places)
    expected = chances * (seen / possible) ** 2
    down, right = np.indices(pairs.shape)
    distance = np.maximum(down, np.abs(right - REACHES[-1]))
    for reach in REACHES:
        near = (distance >= 2) & (distance <= reach)
        count, by_chance = float(pairs[near].sum()), float(expected[near].sum())
        least = min(by_chance - SURE * np.sqrt(by_chance), SPARSE * by_chance)
        if by_chance >= MIN_EXPECTED and count < least:
            return False
        if lattices and pairs[near].max() > PERIODIC * pairs[near].mean() + PERIODIC_PAIRS:
            return False
    return True


def _pair_counts(marked: np.ndarray) -> np.ndarray:
    """Count pairs of marked pixels by offset: rows down 0 to 16, columns -16 to 16."""
    reach = REACHES[-1]
    shape = [n + reach for n in marked.shape]
    spectrum = np.fft.rfft2(marked.astype(float), shape)
    counts = np.rint(np.fft.irfft2(spectrum * spectrum.conj(), shape))
    columns = np.arange(-reach, reach + 1) % shape[1]
    half: np.ndarray = counts[: reach + 1][:, columns]
    half[0, :reach] = 0.0  # the same pairs as those to the right
    return half

"""Missing pixels: their positions, and smooth values for them to start from.

A masked pixel or a NaN carries no information about the picture. Models treat it as a pixel without
a field; steps that need a number in every pixel use the smooth fill.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

RELAXATION_SWEEPS = 60  # of the fill at full size; coarser levels do the rest
HOLE_SHIFTS = ((3, 5), (-5, 3), (7, -4), (-11, -13))  # shifts of the holes to known pixels

HoleFiller = Callable[
    [np.ndarray, np.ndarray], np.ndarray
]  # from a picture and its missing pixels to the filled picture


def split_mask(image: ArrayLike) -> tuple[ArrayLike, np.ndarray | None]:
    """Separate a masked array into numbers and its mask; None for an array without one."""
    if isinstance(image, np.ma.MaskedArray) and np.ma.is_masked(image):
        mask = np.ma.getmaskarray(image)
        data = image.data.copy()
        data[mask] = 0  # values below the mask, even infinite ones, are ignored
        return data, mask
    return image, None


def smooth_fill(picture: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Fill missing pixels by the smoothest surface through their surroundings.

    Coarser pictures provide a start (pull and push), then four neighbours are averaged a few times.
    """
    filled = np.where(missing, _pyramid_fill(np.where(missing, 0.0, picture), ~missing), picture)
    rows, columns = np.nonzero(missing)
    h, w = picture.shape
    around = [
        (np.clip(rows + down, 0, h - 1), np.clip(columns + right, 0, w - 1))
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1))
    ]
    for _ in range(RELAXATION_SWEEPS):
        filled[rows, columns] = sum(filled[place] for place in around) / len(around)
    return filled


def _pyramid_fill(total: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Fill by means of ever larger squares, each used where smaller ones have no pixel."""
    known = weight > 0
    mean = np.where(known, total / np.where(known, weight, 1.0), 0.0)
    if known.all() or max(total.shape) == 1:
        return mean
    coarse = _pyramid_fill(_halve_picture(total), _halve_picture(weight.astype(float)))
    h, w = total.shape
    large = coarse.repeat(2, axis=0).repeat(2, axis=1)[:h, :w]
    return np.where(known, mean, large)


def _halve_picture(picture: np.ndarray) -> np.ndarray:
    """Sum squares of 2 x 2 pixels."""
    h, w = picture.shape
    even = np.pad(picture, ((0, h % 2), (0, w % 2)))
    halved: np.ndarray = even.reshape((h + 1) // 2, 2, (w + 1) // 2, 2).sum(axis=(1, 3))
    return halved


def best_fill(
    picture: np.ndarray,
    missing: np.ndarray,
    fillers: Sequence[HoleFiller],
    trial: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> np.ndarray:
    """Fill with the filler that predicts known pixels best, in holes of the same shapes.

    The holes are moved by a few pixels to known parts of the picture, and each filler predicts them
    on the part of the picture that `trial` selects. The first one wins a tie, or if no hole can be
    moved.
    """
    best = fillers[0]
    part, unknown = trial(picture), trial(missing)
    held_out = np.zeros_like(unknown)
    for shift in HOLE_SHIFTS:
        held_out |= np.roll(unknown, shift, axis=(0, 1)) & ~unknown
        if held_out.any():
            break
    least = np.inf
    if held_out.any() and not (held_out | unknown).all():
        for filler in fillers:
            found = filler(part, unknown | held_out)
            error = float(((found - part)[held_out] ** 2).mean())
            if error < least:
                best, least = filler, error
    return np.where(missing, best(picture, missing), picture)

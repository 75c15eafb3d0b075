"""Pictures that fooled denoising once: levels out of range, dots, dither, masks, rounding."""

import warnings

import numpy as np
import pytest

import herded as hd
from benchmarks.denoising import gain_by_noise
from herded import vision
from herded.vision.noise.bounds import (
    careful_sigma,
    distribution_bound,
    has_predictable_patterns,
    lone_pixels,
)
from herded.vision.noise.initial_guesses import value_step
from herded.vision.noise.models import GaussianNoise
from herded.vision.noise.scatter import is_random_scatter

SIDE = 64
ROW, COLUMN = np.mgrid[:SIDE, :SIDE]
DISC = np.round(255 * np.clip(20.5 - np.hypot(ROW - 32, COLUMN - 32), 0, 1)) / 255  # antialiased
DOTS = ((ROW % 8 == 0) & (COLUMN % 8 == 0)).astype(float)
STRIPES = (COLUMN // 3 % 2).astype(float)
SCREEN = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])  # Bayer 1973
TOLERANCE = 10**0.01  # 0.1 dB


def error_diffusion(grey):
    """Floyd and Steinberg 1976."""
    left, dots = np.pad(grey, ((0, 1), (1, 1))), np.zeros_like(grey)
    for i, j in np.ndindex(grey.shape):
        dots[i, j] = left[i, j + 1] > 0.5
        error = left[i, j + 1] - dots[i, j]
        for down, right, share in ((0, 1, 7), (1, -1, 3), (1, 0, 5), (1, 1, 1)):
            left[i + down, j + 1 + right] += error * share / 16
    return dots


def dithered(seed=0):
    """A slope by dots at random."""
    slope = (ROW + COLUMN) / (2 * SIDE - 2)
    return (np.random.default_rng(seed).random(slope.shape) < slope).astype(float)


def with_noise(clean, sigma, seed=3):
    noise = sigma * np.random.default_rng(seed).normal(size=clean.shape)
    return np.round(255 * np.clip(clean + noise, 0, 1)) / 255


def with_speckle(clean, sigma, seed=3):
    noise = sigma * np.random.default_rng(seed).normal(size=clean.shape)
    return np.round(255 * np.clip(clean * (1 + noise), 0, 1)) / 255


def restored(noisy):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        return vision.restore(noisy)


def ratio(noisy, clean, found):
    """Squared errors after over before."""
    return float(((found - clean) ** 2).sum() / ((noisy - clean) ** 2).sum())


def scikit_image(name):
    data = pytest.importorskip("skimage.data", reason="needs scikit-image for its picture")
    return getattr(data, name)()


# Levels


@pytest.mark.parametrize("seed", range(3))
def test_levels_stay_within_the_range(seed):
    hit = np.random.default_rng(seed).random(DISC.shape) < 0.2
    noisy = np.where(hit, np.random.default_rng(seed + 9).integers(0, 2, DISC.shape), DISC)
    found = restored(noisy)
    assert found.image.min() >= 0 and found.image.max() <= 1
    assert ratio(noisy, DISC, found.image) < TOLERANCE


def test_the_fit_keeps_levels_within_the_range():
    noise = GaussianNoise((0.1, 0.9), 0.3, 0.0, 1.0, range_=(0.0, 1.0))
    assert noise.at(-9.5, 10.0, 0.3).levels == (0.0, 1.0)
    assert noise.at(-9.5, -9.0, 0.3) is noise
    assert GaussianNoise((0.1, 0.9), 0.3).at(-9.5, 10.0, 0.3).levels == (-9.5, 10.0)


def test_usual_levels_are_not_believed_outside_the_range():
    pairs = [
        noise.levels for noise in GaussianNoise((-0.2, 0.9), 0.3, 0.0, range_=(0.0, 1.0)).usual()
    ]
    assert pairs == [(0.0, 1.0)]


@pytest.mark.parametrize("clean", [STRIPES, DOTS], ids=["stripes", "dots"])
def test_speckle_on_black_and_white_is_not_made_worse(clean):
    noisy = with_speckle(clean, 0.15)
    found = restored(noisy)
    assert found.image.min() >= 0
    assert ratio(noisy, clean, found.image) < TOLERANCE


def test_levels_at_the_noise_of_stripes_of_one_pixel():
    """Without neighbours that are alike, a pixel is rounded only where that has less error."""
    clean = (COLUMN % 2).astype(float)
    for sigma, least in ((0.1, 0.01), (0.3, TOLERANCE)):
        noisy = with_noise(clean, sigma)
        assert ratio(noisy, clean, restored(noisy).image) < least


@pytest.mark.parametrize(("scale", "offset"), [(1000.0, 0.0), (2.0, -1.0), (0.02, 5.0)])
def test_an_affine_change_of_values_does_no_harm(scale, offset):
    clean = offset + scale * DISC
    noisy = offset + scale * gain_by_noise.salt_and_pepper(DISC, 0.2)
    found = restored(noisy)
    assert noisy.min() <= found.image.min() and found.image.max() <= noisy.max()
    assert ratio(noisy, clean, found.image) < TOLERANCE


# The size of Gaussian noise


@pytest.mark.parametrize("sigma", [0.02, 0.1, 0.2])
def test_dither_is_not_taken_for_noise(sigma):
    clean = dithered()
    noisy = with_noise(clean, sigma)
    assert ratio(noisy, clean, restored(noisy).image) < TOLERANCE


@pytest.mark.parametrize("sigma", [0.02, 0.1])
def test_grey_dots_are_not_smoothed_away(sigma):
    clean = np.where((ROW % 5 == 0) & (COLUMN % 5 == 0), 0.9, 0.1)
    noisy = with_noise(clean, sigma)
    assert ratio(noisy, clean, restored(noisy).image) < TOLERANCE


def test_values_bound_the_noise():
    """From above, and nearly exactly for a picture of few values."""
    rng = np.random.default_rng(1)
    for clean in (np.zeros(SIDE * SIDE), dithered().ravel(), np.round(3 * rng.random(4096)) / 3):
        for sigma in (0.02, 0.1):
            bound = distribution_bound(clean + sigma * rng.normal(size=clean.size))
            assert 0.95 * sigma < bound < 1.25 * sigma
    uniform = rng.random(4096)
    assert distribution_bound(uniform) < 0.22 < uniform.std()
    assert distribution_bound(np.full(9, 2.0)) == 0.0


def test_less_noise_than_rounding_is_no_evidence():
    assert value_step(np.array([3, 5, 9, 9])) == 2.0
    assert value_step(np.array([3.0])) == 0.0
    picture = scikit_image("camera")[:64, :64] // 8
    assert np.array_equal(restored(picture).image, picture)


# Two values


@pytest.mark.parametrize("share", [0.0, 0.01, 0.05])
@pytest.mark.parametrize(
    "clean",
    [DOTS, error_diffusion(np.full((SIDE, SIDE), 0.02)), (SCREEN[ROW % 4, COLUMN % 4] < 1) * 1.0],
    ids=["dots", "error diffusion", "Bayer"],
)
def test_sparse_dots_are_not_erased(clean, share):
    noisy = gain_by_noise.salt_and_pepper(clean, share)
    found = restored(noisy)
    assert ((found.image != clean).sum()) <= (noisy != clean).sum()


def test_random_stars_are_left_where_nothing_else_would_remain():
    stars = np.random.default_rng(0).random((SIDE, SIDE)) < 0.02
    assert np.array_equal(restored(stars).image, stars)


def test_flips_on_shapes_are_still_undone():
    clean = np.hypot(ROW - 32, COLUMN - 32) < 20
    noisy = clean ^ (np.random.default_rng(0).random(clean.shape) < 0.05)
    found = restored(noisy)
    assert found.model == "two-level"
    assert (found.image != clean).sum() < 0.2 * (noisy != clean).sum()


def test_impulses_are_not_seen_in_a_lattice_of_dots():
    noisy = with_noise(DOTS, 0.1)
    assert ratio(noisy, DOTS, restored(noisy).image) < TOLERANCE


def test_scatter_by_chance_and_by_a_screen():
    everywhere = np.ones((SIDE, SIDE), bool)
    for seed in range(20):
        flips = np.random.default_rng(seed).random((SIDE, SIDE)) < 0.03
        assert is_random_scatter(flips, everywhere)
    for period in (3, 4, 5, 8, 12):
        assert not is_random_scatter((ROW % period == 0) & (COLUMN % period == 0), everywhere)
    assert not is_random_scatter(error_diffusion(np.full((SIDE, SIDE), 0.03)) > 0, everywhere)
    assert is_random_scatter(np.zeros((SIDE, SIDE), bool), everywhere)


def test_lone_pixels_have_eight_equal_neighbours():
    picture = np.zeros((7, 9), bool)
    picture[2, 2] = picture[4, 6] = picture[4, 7] = True
    lone, places = lone_pixels(picture)
    assert np.argwhere(lone).tolist() == [[1, 1]]
    assert places[lone].all() and places.sum() < places.size
    missing = np.zeros((7, 9), bool)
    missing[1, 1] = True
    assert not lone_pixels(picture, missing)[0].any()


# Warnings


def test_a_clean_halftone_gives_no_warning():
    slope = (ROW + COLUMN) / (2 * SIDE - 2)
    halftone = slope > (SCREEN[ROW % 4, COLUMN % 4] + 0.5) / 16
    with warnings.catch_warnings():
        warnings.simplefilter("error", hd.HerdedWarning)
        assert np.array_equal(vision.denoise(halftone), halftone)
    assert has_predictable_patterns(halftone, 0.1)
    flipped = halftone ^ (np.random.default_rng(0).random(halftone.shape) < 0.1)
    assert not has_predictable_patterns(flipped, 0.1)


def test_scattered_missing_pixels_do_not_hide_noise():
    clean = scikit_image("camera")[100:196, 200:296] / 255
    noisy = with_noise(clean, 0.1)
    hidden = np.random.default_rng(1).random(clean.shape) < 0.3
    assert careful_sigma(noisy, hidden) == pytest.approx(0.1, rel=0.35)
    found = restored(np.ma.array(noisy, mask=hidden))
    assert found.model == "grey"
    assert ratio(noisy[~hidden], clean[~hidden], found.image[~hidden]) < 0.7


# Photographs


@pytest.mark.parametrize(
    ("name", "top", "left", "side", "step"),
    [("horse", 177, 285, 96, 1), ("horse", 20, 61, 64, 2), ("hubble_deep_field", 72, 149, 64, 2)],
)
@pytest.mark.parametrize("noise", ["impulses", "speckle"])
def test_crops_that_lost_decibels(name, top, left, side, step, noise):
    grey = scikit_image(name).astype(float)
    grey = grey[..., :3] @ (0.299, 0.587, 0.114) if grey.ndim == 3 else grey
    clean = grey[::step, ::step][top : top + side, left : left + side]
    clean = np.round(255 * clean / max(clean.max(), 1.0)) / 255
    if noise == "speckle":
        clean = (clean >= clean.mean()).astype(float)
        noisy = with_speckle(clean, 0.15)
    else:
        noisy = gain_by_noise.salt_and_pepper(clean, 0.2)
    assert ratio(noisy, clean, restored(noisy).image) < TOLERANCE

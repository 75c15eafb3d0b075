"""What denoising is made of: the normal distribution, noise, predictions, starts, level sets."""

import itertools
import math

import numpy as np
import pytest

import herded as hd
from herded.vision.level_sets import (
    GreyFit,
    grey_levels,
    has_salt_and_pepper,
    odd_ends,
    posterior_mean,
)
from herded.vision.noise import two_level_fit
from herded.vision.noise.initial_guesses import flip_rate, local_mean, local_median, local_sigma
from herded.vision.noise.leave_one_out import leave_one_out_predictions, neighbour_shares
from herded.vision.noise.models import FlipNoise, GaussianNoise, range_ends
from herded.vision.noise.normal_distribution import hazard, log_below, log_odds_above

RNG = np.random.default_rng


def below(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


@pytest.mark.parametrize("x", [-30.0, -8.0, -3.001, -3.0, -1.5, 0.0, 0.4, 3.0, 3.001, 7.0])
def test_the_normal_distribution(x):
    assert log_below(x) == pytest.approx(math.log(below(x)), rel=1e-9, abs=1e-15)
    density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    assert hazard(x) == pytest.approx(density / below(x), rel=1e-9)
    odds = math.log(below(x)) - math.log(below(-x))
    assert log_odds_above(np.array([x]))[0] == pytest.approx(odds, rel=1e-3, abs=1e-3)


def test_what_a_pixel_says_is_a_probability():
    """Densities inside the range and masses at its ends add up to one."""
    noise = GaussianNoise((0.2, 0.9), 0.3, 0.0, 1.0)
    inside = np.linspace(0, 1, 2002)[1:-1]
    grid = np.concatenate([[0.0], inside, [1.0]])[None]
    p = np.exp(noise.log_likelihoods(grid))[:, 0]
    total = p[:, 0] + p[:, -1] + p[:, 1:-1].sum(axis=1) * (inside[1] - inside[0])
    assert total == pytest.approx([1, 1], abs=1e-3)
    flips = np.exp(FlipNoise((3.0, 5.0), 0.1).log_likelihoods(np.array([[3.0, 5.0]])))
    assert flips[:, 0] == pytest.approx(np.array([[0.9, 0.1], [0.1, 0.9]]))


@pytest.mark.parametrize("cut", [False, True])
def test_a_fit_with_the_truth_in_hand_finds_the_noise(cut):
    bright = RNG(0).random((200, 200)) < 0.2
    noisy = np.where(bright, 1.1, 0.1) + 0.4 * RNG(1).normal(size=bright.shape)
    noisy = np.clip(noisy, 0, 1) if cut else noisy
    noise = GaussianNoise((0.0, 0.5), 0.2, *range_ends(noisy))
    for _ in range(5):
        noise = noise.fitted(noisy, bright.astype(float))
    assert noise.parameters == pytest.approx((0.1, 1.1, 0.4), abs=0.02)
    known = GaussianNoise((0.1, 1.1), 0.4, *range_ends(noisy), levels_known=True)
    assert known.fitted(noisy, bright.astype(float)).levels == (0.1, 1.1)


def test_ends_are_told_from_tails():
    noisy = 0.5 + 0.2 * RNG(0).normal(size=(100, 100))
    assert range_ends(noisy) == range_ends(np.round(255 * noisy)) == (-np.inf, np.inf)
    assert range_ends(np.clip(noisy, 0.3, 2)) == (0.3, np.inf)
    assert range_ends(np.round(255 * np.clip(noisy, -1, 0.8))) == (-np.inf, 204.0)
    assert range_ends(np.eye(4)) == (-np.inf, np.inf)


@pytest.mark.parametrize("coupling", [0.0, 0.4, 1.2])
def test_predictions_are_those_of_enumeration(coupling):
    shape = (2, 3)
    likelihoods = RNG(0).normal(size=(2, *shape))
    states = np.array(list(itertools.product([0, 1], repeat=6))).reshape(-1, *shape)
    prior = np.exp(hd.ising_grid(np.zeros(shape), coupling).log_score(states))
    pixels = np.exp(np.where(states == 1, likelihoods[1], likelihoods[0]))  # p(y_i | x_i)
    joint = prior * pixels.prod(axis=(1, 2))
    posterior = joint / joint.sum()
    each = np.stack([neighbour_shares(state[None]) for state in states])
    shares = np.tensordot(posterior, each, axes=1)
    logs, without, within = leave_one_out_predictions(shares, likelihoods, coupling)
    for at in np.ndindex(shape):
        others = joint / pixels[:, *at]
        bright = states[:, *at] == 1
        assert logs[at] == pytest.approx(math.log(joint.sum() / others.sum()))
        assert without[at] == pytest.approx(others[bright].sum() / others.sum())
        assert within[at] == pytest.approx(posterior[bright].sum())


@pytest.mark.parametrize("members", [1, 255, 256, 70_000])
def test_shares_of_any_number_of_members(members):
    """Counts are kept in as few bytes as they need."""
    states = RNG(1).integers(0, 2, (members, 2, 3), np.uint8)
    states[:, 0] = 1
    spins = np.pad(2 * states.astype(int) - 1, ((0, 0), (1, 1), (1, 1)))
    around = spins[:, :-2, 1:-1] + spins[:, 2:, 1:-1] + spins[:, 1:-1, :-2] + spins[:, 1:-1, 2:]
    expected = [np.count_nonzero(around == total, axis=0) / members for total in range(-4, 5)]
    assert np.array_equal(neighbour_shares(states), expected)
    assert np.array_equal(neighbour_shares(np.ones_like(states))[6], [[1, 0, 1], [1, 0, 1]])


def test_large_pictures_are_fitted_on_bands_from_all_over():
    tall = np.arange(2000)[:, None] * np.ones((1, 300))
    for picture in (tall, tall.T):
        part = two_level_fit.crop_to_fit(picture)
        assert part.size <= two_level_fit.MAX_FIT_PIXELS and part.shape[1] == 300
        assert part.min() < 500 and part.max() > 1500
    assert two_level_fit.crop_to_fit(tall[:50]) is not None and two_level_fit.crop_to_fit(
        tall[:50]
    ).shape == (50, 300)


def test_local_means_medians_and_noise():
    picture = RNG(0).normal(size=(5, 4))
    for r, c in np.ndindex(picture.shape):
        window = picture[max(0, r - 1) : r + 2, max(0, c - 1) : c + 2]
        assert local_mean(picture)[r, c] == pytest.approx(window.mean())
    inner = [[np.median(picture[r : r + 3, c : c + 3]) for c in range(2)] for r in range(3)]
    assert np.array_equal(local_median(picture)[1:-1, 1:-1], inner)
    slope = np.add.outer(np.arange(80.0), 2 * np.arange(90.0))
    assert local_sigma(slope + RNG(1).normal(size=slope.shape)) == pytest.approx(1, abs=0.05)
    assert local_sigma(slope) == local_sigma(np.ones((1, 1))) == 0


def test_flips_are_counted_where_neighbours_agree():
    picture = np.ones((60, 60), bool)
    picture[10:12, 10:50] = False
    hit = RNG(0).random(picture.shape) < 0.05
    rate, known = flip_rate(picture ^ hit)
    assert known and rate == pytest.approx(0.05, abs=0.015)
    assert not flip_rate(picture[:5, :5])[1]


def test_without_a_coupling_level_sets_add_up_to_the_picture():
    """Also where steps between levels are much larger than the noise."""
    noisy = RNG(0).uniform(0.2, 0.8, size=(3, 4))

    def run(model, number):
        return hd.infer(model, hd.Exact())

    for sigma in (0.001, 0.1):
        picture = GreyFit(noisy, np.linspace(-0.5, 1.5, 41), sigma)
        found, slope = posterior_mean(picture, 0.0, run)
        assert found == pytest.approx(noisy, abs=0.005) and slope == pytest.approx(1, abs=0.05)
    assert len(grey_levels(0, 1, 0.05)) == 26 and len(grey_levels(0, 1, 0.0)) == 64


def test_salt_and_pepper_are_told_from_black_and_white_regions():
    picture = np.full((40, 40), 0.5)
    picture[:10] = 0.0
    picture[25, 5:35:3] = 1.0
    low, high = odd_ends(picture)
    assert low == 0 and high == 1


def slopes_and_disc(side=80):
    row, column = np.mgrid[:side, :side] / side
    disc = (row - 0.5) ** 2 + (column - 0.4) ** 2 < 0.05
    return 0.2 + 0.5 * column * row + 0.25 * disc


def rounded(picture):
    return np.round(255 * np.clip(picture, 0, 1)) / 255


@pytest.mark.parametrize("share", [0.01, 0.1, 0.4])
@pytest.mark.parametrize("sigma", [0.0, 0.03])
def test_salt_and_pepper_are_seen_in_a_grey_picture(share, sigma):
    picture, chance = slopes_and_disc(), RNG(3).random((80, 80))
    picture = picture + sigma * RNG(4).normal(size=picture.shape)
    both = np.where(chance < share / 2, 0.0, np.where(chance > 1 - share / 2, 1.0, picture))
    assert has_salt_and_pepper(rounded(both))
    assert has_salt_and_pepper(rounded(np.where(chance < share / 2, 1.0, picture)))  # salt alone


def test_what_is_not_salt_and_pepper():
    clean = slopes_and_disc()
    assert not has_salt_and_pepper(clean) and not has_salt_and_pepper(np.full((9, 9), 0.5))
    for sigma in (0.02, 0.1, 0.3, 0.8):  # much of it is cut off
        assert not has_salt_and_pepper(rounded(clean + sigma * RNG(5).normal(size=clean.shape)))
    strokes = clean.copy()
    strokes[10:70:6, 5:70] = 0.0  # thin lines
    strokes[5:70, 20:75:9] = 1.0
    assert not has_salt_and_pepper(strokes)
    # two levels, not grey
    assert not has_salt_and_pepper((RNG(6).random((50, 50)) < 0.1).astype(float))


def test_pixels_that_are_salt_and_pepper_do_not_weaken_the_coupling():
    """What a smooth picture loses to salt and pepper comes back from neighbours."""
    clean, chance = rounded(slopes_and_disc(32)), RNG(7).random((32, 32))
    noisy = np.where(chance < 0.05, 0.0, np.where(chance > 0.95, 1.0, clean))
    found = hd.vision.restore(noisy, levels="grey")
    assert found.noise == "flip" and found.coupling >= 0.6
    assert np.abs(found.image - clean).max() < 0.2 and ((found.image - clean) ** 2).mean() < 4e-4

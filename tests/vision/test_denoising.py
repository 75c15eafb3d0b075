"""Denoising as a tool: what it estimates, what it gives back, and what it says to nonsense."""

import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import herded as hd
from herded import vision
from herded.paper.denoising import drawn_picture
from herded.vision.noise.initial_guesses import local_sigma
from tests.support.example_budget import ALL, examples

LEVELS = ((-1.0, 1.0), (0.0, 1.0), (50.0, 200.0))
CLEAN = drawn_picture(96)


def noisy_picture(low, high, noise, seed=0, clean=CLEAN):
    """The drawn picture with noise, in units of half the gap."""
    spread = noise * (high - low) / 2
    return np.where(clean, high, low) + spread * np.random.default_rng(seed).normal(
        size=clean.shape
    )


@cache
def restored(low, high, noise):
    """Fits are dear: several tests look at the same one."""
    return vision.restore(noisy_picture(low, high, noise))


def wrong(found, low, high, clean=CLEAN):
    return float(((found > (low + high) / 2) != clean).mean())


# What it estimates


@pytest.mark.parametrize(("low", "high"), LEVELS)
@pytest.mark.parametrize("noise", [0.5, 2, 8])
def test_sigma_is_estimated_from_neighbours_within_ten_percent(low, high, noise):
    sigma = noise * (high - low) / 2
    assert local_sigma(noisy_picture(low, high, noise)) == pytest.approx(sigma, rel=0.1)


@pytest.mark.parametrize(("low", "high", "noise"), [(50.0, 200.0, 2), (0.3, 0.8, 0.5)])
def test_levels_and_sigma_are_estimated(low, high, noise):
    found, gap = restored(low, high, noise), high - low
    assert found.levels == pytest.approx((low, high), abs=0.05 * gap)
    assert found.sigma == pytest.approx(noise * gap / 2, rel=0.05)


NOISIEST = [(0, 1, 4), *([(-1, 1, 4)] if ALL else [])]  # the example of `restore` is -1 and 1 too


@pytest.mark.parametrize(("low", "high", "noise"), [(0, 1, 0.2), *NOISIEST])
def test_usual_levels_are_recognised_exactly(low, high, noise):
    assert restored(low, high, noise).levels == (low, high)


def test_the_range_of_a_picture_may_cut_its_noise_off():
    noisy = np.clip(noisy_picture(0, 1, 0.8), 0, 1)
    found = vision.restore(noisy, sweeps=3)
    assert found.levels == (0.0, 1.0) and found.sigma == pytest.approx(0.4, rel=0.05)


def test_levels_of_pure_noise_lie_within_the_noise():
    noise = 1e-3 * np.random.default_rng(0).normal(size=(48, 48))
    low, high = vision.restore(noise, levels=2, sweeps=3).levels
    assert -1e-3 < low < high < 1e-3


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.1, 0.2])
def test_the_rate_of_flips_is_estimated(rate):
    flips = np.random.default_rng(0).random(CLEAN.shape) < rate
    found = vision.restore(CLEAN ^ flips, sweeps=3)
    assert found.noise == "flip" and found.flips == pytest.approx(rate, abs=0.02)


@pytest.mark.parametrize(
    ("text", "noise", "clipped"), [(False, 0.6, True), (True, 0.6, True), (True, 1.0, False)]
)
def test_what_is_estimated_leaves_hardly_more_wrong_than_the_truth(text, noise, clipped):
    clean = strokes() if text else CLEAN
    noisy = noisy_picture(0, 1, noise, clean=clean)
    noisy = np.clip(noisy, 0, 1) if clipped else noisy
    best = min(
        wrong(vision.denoise(noisy, noise / 2, j, levels=(0, 1)), 0, 1, clean)
        for j in (0.4, 0.5, 0.7, 1.0, 1.4)
    )
    found = vision.restore(noisy)
    assert wrong(found.image, 0, 1, clean) <= 1.2 * best + 0.0005
    assert wrong(found.image, 0, 1, clean) < 0.6 * wrong(noisy, 0, 1, clean)


def strokes():
    """Like a page of text: rows of thin strokes, a tenth of it ink."""
    rng = np.random.default_rng(5)
    page = np.ones((78, 104), bool)
    for top in range(6, 68, 14):
        for left in range(6, 96, 6):
            if rng.random() < 0.75:
                page[top : top + 9, left] = False
                page[top + 2 * rng.integers(0, 4), left : left + 4] = False
    return page


def test_a_hint_where_two_levels_do_not_fit():
    slope = np.add.outer(np.linspace(0, 1, 48), np.linspace(0, 1, 48))
    noise = 0.1 * np.random.default_rng(0).normal(size=slope.shape)
    with pytest.warns(hd.HerdedWarning, match='two levels do not fit.*levels="grey"'):
        assert 'levels="grey"' in vision.restore(slope + noise, levels=2, sweeps=3).hint
    assert vision.restore(slope + noise, sweeps=3).model == "grey"
    assert restored(0, 1, 0.2).hint == restored(50.0, 200.0, 2).hint == ""


# What it gives back


@pytest.mark.parametrize(
    ("low", "high", "noise", "most"),
    [(0, 1, 1, 0.012), (50.0, 200.0, 2, 0.05), *((*noisy, 0.15) for noisy in NOISIEST)],
)
def test_most_pixels_come_back(low, high, noise, most):
    noisy, found = noisy_picture(low, high, noise), restored(low, high, noise)
    assert wrong(found.image, low, high) < min(most, 0.5 * wrong(noisy, low, high))
    assert set(np.unique(found.image)) <= set(found.levels)
    assert found.image.shape == noisy.shape and found.image.dtype == np.float64


@pytest.mark.parametrize("coupling", [1.0, "auto"])
@pytest.mark.parametrize("clean", [drawn_picture(64), drawn_picture(40)], ids=["large", "small"])
def test_a_clean_picture_stays_as_it_is(clean, coupling):
    assert np.array_equal(vision.denoise(clean, coupling=coupling), clean)
    for low, high in LEVELS:
        picture = np.where(clean, high, low)
        assert wrong(vision.denoise(picture, coupling=coupling), low, high, clean) == 0


def test_flipped_pixels_of_a_bool_picture_come_back():
    flips = np.random.default_rng(1).random(CLEAN.shape) < 0.1
    found = vision.denoise(CLEAN ^ flips)
    assert found.dtype == bool and found.shape == CLEAN.shape
    assert (found != CLEAN).mean() < 0.01


def test_the_known_sigma_and_levels_are_used():
    found = vision.restore(noisy_picture(0, 1, 1), 0.5, 0.8, levels=(0, 1), sweeps=7)
    assert (found.sigma, found.coupling, found.levels) == (0.5, 0.8, (0.0, 1.0))
    assert found.result.sweeps == 7


@pytest.mark.parametrize("k", [5, 8, 16])
def test_grey_levels_lower_the_error_of_a_gradient(k):
    clean = np.add.outer(np.linspace(0, 1, 40), np.linspace(0, 1, 40)) / 2
    noisy = clean + 0.15 * np.random.default_rng(0).normal(size=clean.shape)
    found = vision.restore(noisy, levels=k, coupling=2.0)
    assert len(found.levels) == k
    assert found.sigma == pytest.approx(0.15, rel=0.1)
    assert ((found.image - clean) ** 2).mean() < 0.5 * ((noisy - clean) ** 2).mean()


def decibels(found, clean):
    return -10 * np.log10(((found - clean) ** 2).mean())


def test_a_photograph_comes_out_as_well_as_by_total_variation():
    data = pytest.importorskip("skimage.data", reason="needs scikit-image for its photograph")
    from skimage.restoration import denoise_tv_chambolle

    clean = data.camera()[116:180, 196:260] / 255.0
    noisy = clean + 0.1 * np.random.default_rng(0).normal(size=clean.shape)
    found = vision.restore(noisy, levels="grey")
    assert found.sigma == pytest.approx(0.1, rel=0.15)
    tuned = max(
        decibels(denoise_tv_chambolle(noisy, weight=w), clean) for w in (0.05, 0.07, 0.1, 0.14)
    )
    assert decibels(found.image, clean) > tuned - 1.5


@pytest.mark.parametrize("noise", [0.002, 0.1])
def test_a_grey_picture_is_never_worse_than_before(noise):
    y, x = np.mgrid[:32, :32] / 32
    clean = 0.5 + 0.3 * np.sin(5 * x) * np.cos(4 * y) + 0.2 * (x > y)
    noisy = clean + noise * np.random.default_rng(0).normal(size=clean.shape)
    found = vision.restore(noisy, levels="grey")
    assert decibels(found.image, clean) > decibels(noisy, clean) + (3 if noise > 0.01 else 0)


def test_salt_and_pepper_leave_a_grey_picture():
    clean = np.add.outer(np.linspace(0.2, 0.5, 30), np.linspace(0, 0.3, 30))
    clean[9:19, 9:19] += 0.15
    rng = np.random.default_rng(0)
    hit = rng.random(clean.shape) < 0.1
    noisy = np.where(hit, rng.integers(0, 2, clean.shape), clean)
    found = vision.restore(noisy, levels="grey", noise="flip")
    assert found.flips == pytest.approx(hit.mean(), abs=0.02)
    assert decibels(found.image, clean) > decibels(noisy, clean) + 12


METHODS = [
    hd.HerdedGibbs(),
    hd.HerdedGibbs(weights="shared"),
    hd.HerdedGibbs(slack=1.0),
    hd.Gibbs(seed=1),
    hd.MeanField(damping=0.5),
    hd.BeliefPropagation(damping=0.5),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("levels", [(-1, 1), (-1, 0, 1)], ids=["two", "three"])
def test_every_method_denoises_and_repeats_itself(method, levels):
    clean = drawn_picture(32)
    noisy = noisy_picture(-1, 1, 1, clean=clean)
    found, again = (vision.denoise(noisy, 1.0, 0.7, levels=levels, method=method) for _ in range(2))
    assert wrong(found, -1, 1, clean) < 0.5 * wrong(noisy, -1, 1, clean)
    assert np.array_equal(found, again)


def test_sampling_agrees_with_exact_on_a_tiny_picture():
    noisy = noisy_picture(-1, 1, 1, clean=drawn_picture(8)[:4])
    exact = vision.restore(noisy, 1.0, 0.3, levels=(-1, 1), method=hd.Exact())
    herded = vision.restore(noisy, 1.0, 0.3, levels=(-1, 1), sweeps=4000)
    sure = np.abs(exact.result.marginals[..., 1] - 0.5) > 0.05
    assert np.array_equal(exact.image[sure], herded.image[sure])


def test_the_same_picture_gives_the_same_answer():
    noisy = noisy_picture(0, 1, 1, clean=drawn_picture(32))
    first, second = (vision.restore(noisy, coupling="auto") for _ in range(2))
    assert np.array_equal(first.image, second.image) and first.coupling == second.coupling


def test_lists_integers_and_other_floats_are_pictures_too():
    noisy = (100 * noisy_picture(0, 1, 1, clean=drawn_picture(16))).astype(int)
    expected = vision.denoise(noisy, coupling=1.0, levels=2)
    for picture in (noisy.tolist(), noisy.astype(np.float32), np.asfortranarray(noisy)):
        found = vision.denoise(picture, coupling=1.0, levels=2)
        assert np.array_equal(np.round(found), expected)


def test_the_input_is_not_changed():
    noisy = noisy_picture(0, 1, 1, clean=drawn_picture(32))
    before = noisy.copy()
    vision.denoise(noisy, coupling="auto")
    assert np.array_equal(noisy, before)


@pytest.mark.parametrize("coupling", [1.0, "auto"])
@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 3.0, 0.3, True, False])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (4, 4)])
def test_a_constant_picture_stays_as_it_is(shape, value, coupling):
    picture = np.full(shape, value)
    for levels in (None, 2, 5):
        found = vision.denoise(picture, coupling=coupling, levels=levels)
        assert found.shape == shape and np.array_equal(found, picture)


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (1, 9), (9, 1), (2, 2)])
def test_thin_pictures_have_an_answer(shape):
    noise = np.random.default_rng(0).normal(size=shape)
    for picture in (noise, noise > 0):
        for coupling in (1.0, "auto"):
            assert vision.denoise(picture, coupling=coupling).shape == shape


# What it says to nonsense

PICTURE = np.random.default_rng(0).normal(size=(5, 6))


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        (np.zeros((0, 3)), "non-empty 2-D"),
        (np.zeros(5), "2-D"),
        (np.zeros((4, 4, 3)), "2-D"),
        (np.full((2, 3), np.nan), "all 6 are masked or NaN"),
        (np.ma.masked_all((2, 3)), "all 6 are masked or NaN"),
        (np.array([[0.0, np.inf]]), "finite pixels"),
        (None, "2-D"),
        ("picture.png", "numbers"),
        ([["a"]], "numbers"),
        ([[1], [1, 2]], "numbers"),
        (PICTURE + 1j, "numbers"),
        (1e300 * PICTURE, "rescale"),
        (1e-300 * PICTURE, "rescale"),
    ],
)
def test_a_picture_that_is_none(picture, said):
    with pytest.raises(hd.HerdedError, match=f"(?s)^expected .*{said}"):
        vision.denoise(picture)


NONSENSE = [
    *(("sigma", value) for value in (0, -1, np.nan, np.inf, 1e-200, 1e200, "a", [1], 1j)),
    *(("coupling", value) for value in (np.nan, np.inf, 1e308, "x", "1", None, [1, 2], 1j)),
    *(("noise", value) for value in ("salt", None, 1, ["flip"])),
    *(("levels", value) for value in (0, 1, -1, 2.5, 300, "two", np.nan, np.inf, {1, 2})),
    *(("levels", value) for value in ([], [1], [1, 1], [2, 1], [[0, 1]], ["a", "b"], [1j, 2])),
    *(("levels", value) for value in ([np.nan, 1], [0, np.inf], [-1e308, 1e308], [0, 1e-320])),
    *(("sweeps", value) for value in (0, -1, 1.5, "a", True)),
    *(("method", value) for value in ("magic", hd.Gibbs, 3, hd.Viterbi())),
]

KNOWN = {"sigma": 1.0, "coupling": 1.0, "levels": (-1, 1)}  # nothing is fitted first


@pytest.mark.parametrize(("option", "value"), NONSENSE, ids=repr)
@pytest.mark.parametrize("picture", [PICTURE, PICTURE > 0], ids=["float", "bool"])
def test_an_option_that_makes_no_sense(picture, option, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(hd.HerdedError, match=r"^expected .*, (got|but) "):
            vision.denoise(picture, **KNOWN | {option: value})


floats = st.floats(allow_nan=True, allow_infinity=True) | st.floats(-2, 2)
pictures = arrays.arrays(
    st.sampled_from([np.float64, np.float32, np.uint8, np.int64, bool]),
    arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5),
) | arrays.arrays(
    np.float64, arrays.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=floats
)


@examples(60)
@given(
    pictures,
    st.none() | floats,
    st.just("auto") | floats,
    st.none() | st.just("grey") | st.integers(-1, 6) | st.lists(floats, max_size=4),
    st.sampled_from(["auto", "gauss", "flip"]),
)
@example(np.array([[-1.0, 0.0, 0.0, 15.0]]), None, 5.0, None, "auto")  # nothing predicts the last
def test_whatever_comes_there_is_a_picture_or_a_sentence(picture, sigma, coupling, levels, noise):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", hd.HerdedWarning)
        try:
            found = vision.restore(picture, sigma, coupling, levels=levels, noise=noise, sweeps=3)
        except hd.HerdedError as error:
            found, said = None, str(error)
    if found is None:
        assert said.startswith("expected ")
        return
    assert found.image.shape == picture.shape
    assert np.isfinite(found.image).all()
    low, high = (
        (np.nanmin(picture), np.nanmax(picture))
        if levels is None
        else found.levels[:: len(found.levels) - 1]
    )
    slack = 1e-9 * max(abs(low), abs(high))
    assert low - slack <= found.image.min() and found.image.max() <= high + slack

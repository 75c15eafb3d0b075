"""Denoising that does no harm: what is chosen by evidence, missing pixels, dtypes, warnings."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import herded as hd
from benchmarks.denoising import gain_by_noise
from herded import vision
from herded.paper.denoising import drawn_picture
from herded.vision.noise.bounds import careful_sigma, homogeneous_sigma
from herded.vision.noise.fit_diagnostic import FitDiagnostic
from tests.support.example_budget import examples

ROW, COLUMN = np.mgrid[:48, :48] / 48
SMOOTH = 0.3 + 0.4 * COLUMN  # a slope, a bright disc, a dark bar
SMOOTH = np.where((ROW - 0.4) ** 2 + (COLUMN - 0.4) ** 2 < 0.06, 0.8, SMOOTH)
SMOOTH = np.where((ROW > 0.75) & (ROW < 0.85), 0.15, SMOOTH)
SHAPES = drawn_picture(48)


def with_noise(clean, sigma, seed=3):
    return clean + sigma * np.random.default_rng(seed).normal(size=clean.shape)


def squared_error(found, clean):
    return float(((np.asarray(found, float) - clean) ** 2).mean())


def quietly(picture, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        return vision.restore(picture, **options)


# What is chosen


@pytest.mark.parametrize("name", gain_by_noise.generated_pictures())
def test_a_clean_picture_is_not_changed(name):
    clean = gain_by_noise.generated_pictures()[name][:48, :48]
    assert np.array_equal(quietly(clean).image, clean)


@pytest.mark.parametrize("flips", [0.0, 0.02, 0.1])
def test_a_halftone_and_a_checkerboard_lose_no_pixel(flips):
    pictures = gain_by_noise.generated_pictures()
    for name in ("halftone", "checkerboard"):
        clean = pictures[name] > 0.5
        noisy = clean ^ (np.random.default_rng(0).random(clean.shape) < flips)
        assert (quietly(noisy).image != clean).sum() <= (noisy != clean).sum()


def test_the_camera_gains_at_sigma_a_tenth():
    data = pytest.importorskip("skimage.data", reason="needs scikit-image for its photograph")
    clean = data.camera()[100:196, 200:296] / 255.0
    noisy = np.round(255 * np.clip(with_noise(clean, 0.1), 0, 1)) / 255
    found = quietly(noisy)
    assert found.model == "grey"
    assert squared_error(found.image, clean) < 0.4 * squared_error(noisy, clean)


def test_photographs_of_scikit_image_are_not_changed():
    pytest.importorskip("skimage.data", reason="needs scikit-image for its photographs")
    pictures = gain_by_noise.scikit_image_pictures()
    assert len(pictures) == 20
    for name, clean in pictures.items():
        assert np.array_equal(quietly(clean).image, clean), name


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.3])
def test_models_are_told_apart(sigma):
    assert quietly(with_noise(SMOOTH, sigma)).model == "grey"
    assert quietly(with_noise(SHAPES.astype(float), sigma)).model == "two-level"


def test_grain_that_differs_from_place_to_place_is_no_noise():
    """As fur has it: a patch that is calm bounds the noise of the others."""
    rough = np.where(COLUMN < 0.5, 0.02, 0.2) * np.random.default_rng(0).normal(size=ROW.shape)
    even = 0.1 * np.random.default_rng(0).normal(size=ROW.shape)
    assert homogeneous_sigma(rough) < 0.03
    assert homogeneous_sigma(even) == pytest.approx(0.1, rel=0.25)
    assert careful_sigma(even) == pytest.approx(0.1, rel=0.1)
    assert homogeneous_sigma(even[:4]) == careful_sigma(even[:4]) == 0.0


def test_salt_and_pepper_are_replaced_and_the_rest_stays():
    noisy = gain_by_noise.salt_and_pepper(np.round(255 * SMOOTH) / 255, 0.1)
    found = quietly(noisy)
    assert found.model == "impulses"
    inside = (noisy > 0) & (noisy < 1)
    assert (found.image == noisy)[inside].mean() > 0.98
    assert squared_error(found.image, SMOOTH) < 0.05 * squared_error(noisy, SMOOTH)


# Missing pixels


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("clean", [SMOOTH, SHAPES.astype(float)], ids=["grey", "two"])
def test_missing_pixels_are_filled_better_than_by_the_mean(clean, share):
    hidden = np.random.default_rng(1).random(clean.shape) < share
    masked = np.ma.array(np.where(hidden, 1e9, clean), mask=hidden)
    found = quietly(masked)
    assert type(found.image) is np.ndarray
    assert np.array_equal(found.image[~hidden], clean[~hidden])
    mean = squared_error(clean[~hidden].mean(), clean[hidden])
    assert squared_error(found.image[hidden], clean[hidden]) < 0.25 * mean


def test_what_is_below_a_mask_has_no_influence():
    noisy = np.round(200 * with_noise(SMOOTH, 0.05)).astype(np.int16)
    hidden = np.random.default_rng(1).random(noisy.shape) < 0.1
    hidden[10:14, 20:30] = True
    found = [
        quietly(np.ma.array(np.where(hidden, below, noisy), mask=hidden)).image
        for below in (0, 30_000, np.arange(48) * 500)
    ]
    unknown = quietly(np.where(hidden, np.nan, noisy.astype(float))).image
    assert found[0].dtype == np.int16
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
    assert np.array_equal(found[0], np.round(unknown))


@pytest.mark.parametrize("mask", [np.ma.nomask, False, np.zeros(SMOOTH.shape, bool)])
def test_a_mask_without_a_masked_pixel_is_none(mask):
    noisy = with_noise(SMOOTH, 0.1)
    found = quietly(np.ma.array(noisy, mask=mask)).image
    assert type(found) is np.ndarray and np.array_equal(found, quietly(noisy).image)


def test_all_pixels_but_one_may_be_missing():
    picture = np.full((4, 5), np.nan, np.float32)
    picture[1, 2] = 3.0
    found = vision.denoise(picture)
    assert found.dtype == np.float32 and (found == 3.0).all()


def test_an_infinite_pixel_may_be_masked():
    picture = np.ma.masked_invalid(np.where(ROW == 0, np.inf, SMOOTH))
    assert np.isfinite(quietly(picture).image).all()
    with pytest.raises(hd.ModelError, match="expected finite pixels, got 48 that are infinite"):
        vision.denoise(picture.data)


# What comes back


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [(0, 255, np.uint8), (0, 65535, np.uint16), (-1000, 5000, np.float32), (-9, 90, np.int8)],
)
def test_dtype_and_range_are_kept(low, high, kind):
    noisy = np.clip(low + (high - low) * with_noise(SMOOTH, 0.1), low, high).astype(kind)
    found = quietly(noisy)
    assert found.model == "grey" and found.image.dtype == kind
    assert noisy.min() <= found.image.min() and found.image.max() <= noisy.max()
    before, after = (squared_error(p, low + (high - low) * SMOOTH) for p in (noisy, found.image))
    assert after < 0.5 * before


small_pictures = arrays.arrays(
    st.sampled_from([np.float64, np.float32, np.uint8, np.uint16, np.int32, bool]),
    arrays.array_shapes(min_dims=2, max_dims=2, max_side=9),
    elements={"min_value": 0, "max_value": 1},
)


@examples(60)
@given(small_pictures, st.integers(0, 2**32), st.floats(0, 1))
def test_masked_pictures_keep_dtype_shape_and_range(picture, seed, share):
    hidden = np.random.default_rng(seed).random(picture.shape) < share
    masked = np.ma.array(picture, mask=hidden)
    if hidden.all():
        with pytest.raises(hd.ModelError, match="are masked or NaN"):
            vision.denoise(masked, sweeps=3)
        return
    found = quietly(masked, sweeps=3).image
    known = picture[~hidden]
    assert type(found) is np.ndarray
    assert found.dtype == picture.dtype and found.shape == picture.shape
    assert known.min() <= found.min() and found.max() <= known.max()
    if known.min() == known.max():
        assert (found == known.min()).all()


# What is said


def test_a_warning_names_the_line_of_the_caller():
    noisy = with_noise(SMOOTH, 0.05)
    for call in (vision.denoise, vision.restore):
        with pytest.warns(hd.HerdedWarning, match="two levels do not fit") as caught:
            call(noisy, levels=2, sweeps=3)
        assert caught[0].filename == __file__


def test_noise_that_no_model_reduces_is_a_warning():
    halftone = gain_by_noise.generated_pictures()["halftone"] > 0.5
    noisy = halftone ^ (np.random.default_rng(0).random(halftone.shape) < 0.1)
    with pytest.warns(hd.HerdedWarning, match="no model fits this picture: .* flips"):
        found = vision.restore(noisy)
    assert found.model == "none" and found.misfit is not None
    assert (found.misfit.kind, found.misfit.noise) == ("no-model", "flip")
    assert found.hint == str(found.misfit) and np.array_equal(found.image, noisy)


def test_a_misfit_speaks_the_words_of_its_reader():
    misfit = FitDiagnostic("other-levels", "gauss", 0.4)
    assert 'levels="grey"' in str(misfit)
    assert "--levels grey" in misfit.sentence(grey="--levels grey")
    assert vision.restore(np.ones((3, 3))).hint == ""


# The benchmark


def test_the_benchmark_prints_its_table(monkeypatch):
    pytest.importorskip("skimage", reason="needs scikit-image for its pictures")
    monkeypatch.setattr(gain_by_noise, "SIGMAS", (0.0, 0.1))
    monkeypatch.setattr(gain_by_noise, "IMPULSES", (0.05,))
    monkeypatch.setattr(gain_by_noise, "QUICK_PICTURES", 1)
    monkeypatch.setattr(gain_by_noise, "SIDE", 24)
    page = list(gain_by_noise.lines(quick=True))
    rows = [line for line in page if line.startswith(("| astronaut", "| halftone"))]
    assert len(rows) == 2 and all(row.count("|") == 5 for row in rows)
    assert page[-1].startswith("Worst loss: 0.") and page[-1].endswith("in 6 pictures")


def test_a_changed_clean_picture_is_an_infinite_loss():
    case = gain_by_noise.Case("generated", "a", "sigma 0", 0.0, 0.1, "grey", False, False)
    assert case.gain == -np.inf and case.cell() == "changed g"
    assert case._replace(after=0.0).gain == 0.0
    assert case._replace(before=0.1, after=0.01).gain == pytest.approx(10.0)

"""Pictures: what `hd.vision.denoise` leaves wrong if it is told nothing.

Beside it the same with the truth given (levels, sigma, and the best of eight couplings, chosen by
the errors themselves), and scikit-image's total variation with the best of eight weights, chosen
the same way. Text is set in Pillow's own font; the other pictures are drawn here or come with
scikit-image, without which this says so and ends.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import herded as hd
from herded.errors import missing_extra_error
from herded.paper.denoising import drawn_picture

SIGMAS = (0.2, 0.35, 0.5)
GREY_SIGMAS = (0.05, 0.1, 0.2)
COUPLINGS = (0.3, 0.4, 0.5, 0.6, 0.75, 1.0, 1.4, 2.0)
WEIGHTS = (0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5, 0.8)
FEW = 10  # wrong pixels, of which no ratio is taken
WORDS = """a herd of chains draws together and every member is exactly a Gibbs chain so that the
average of all is less noisy than that of as many chains which know nothing of each other"""


def page_of_text(size: int, shape: tuple[int, int] = (120, 200)) -> np.ndarray:
    """Paper is True, ink False; letters of `size` pixels, without grey edges."""
    from PIL import Image, ImageDraw, ImageFont

    height, width = shape
    page = Image.new("1", (width, height), 1)
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(size)
    x, y, word, words = 8.0, 8.0, 0, WORDS.split()
    while y < height - 1.5 * size:
        text = words[word % len(words)] + " "
        if x + pen.textlength(text, font) > width - 8:
            x, y = 8.0, y + 1.6 * size
            continue
        pen.text((x, y), text, 0, font)
        x, word = x + pen.textlength(text, font), word + 1
    return np.array(page)


def two_level_pictures() -> dict[str, np.ndarray]:
    """Three pages of text, three drawings."""
    data = _scikit_image("data")
    scan = data.page() / 255.0
    paper = _scikit_image("filters").gaussian(scan, 12)  # uneven light
    return {
        "text, 12 pixels": page_of_text(12),
        "text, 18 pixels": page_of_text(18),
        "scanned text (page)": (scan > 0.85 * paper)[:120, :200],
        "drawn shapes": drawn_picture(192),
        "horse": data.horse()[::2, ::2],
        "blobs": data.binary_blobs(192, rng=0),
    }


def grey_pictures() -> dict[str, np.ndarray]:
    """Four photographs, and a smooth drawing, which suits total variation."""
    data = _scikit_image("data")
    y, x = np.mgrid[:128, :128] / 128
    disc = (x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.06
    return {
        "camera": data.camera()[::4, ::4] / 255.0,
        "astronaut": _scikit_image("color").rgb2gray(data.astronaut())[::4, ::4],
        "coins": data.coins()[:128, :128] / 255.0,
        "brick": data.brick()[::4, ::4] / 255.0,
        "waves and a disc, drawn": 0.5 + 0.3 * np.sin(4 * x) * np.cos(3 * y) + 0.2 * disc,
    }


def noisy_version(clean: np.ndarray, sigma: float) -> np.ndarray:
    """With Gaussian noise, cut to 0 to 1 and rounded to 256 levels, as a file has it."""
    noise = np.random.default_rng(1).normal(scale=sigma, size=clean.shape)
    found: np.ndarray = np.round(255 * np.clip(clean + noise, 0, 1)) / 255
    return found


def decibels(found: np.ndarray, clean: np.ndarray) -> float:
    """The ratio of the range to the mean squared error."""
    return float(-10 * np.log10(((found - clean) ** 2).mean()))


def lines(quick: bool) -> Iterator[str]:
    yield "## Pictures"
    yield ""
    yield "Wrong pixels in %, noise cut to 0 to 1; nothing is told but the noisy picture"
    yield ""
    yield "| picture | sigma | input | herded | truth given | ratio | total variation, tuned |"
    yield "|---|---|---|---|---|---|---|"
    for name, clean in two_level_pictures().items():
        for sigma in SIGMAS[1:2] if quick else SIGMAS:
            yield f"| {name} | {sigma} | {_two_level_row(clean, sigma)} |"
    yield ""
    yield 'Decibels (PSNR: 3 more are half the squared error), `levels="grey"`, 128 x 128 pixels'
    yield ""
    yield "| picture | sigma | input | herded | total variation, tuned | difference |"
    yield "|---|---|---|---|---|---|"
    for name, clean in grey_pictures().items():
        for sigma in GREY_SIGMAS[1:2] if quick else GREY_SIGMAS:
            yield f"| {name} | {sigma} | {_grey_row(clean, sigma)} |"


def _two_level_row(clean: np.ndarray, sigma: float) -> str:
    noisy = noisy_version(clean, sigma)

    def wrong(found: np.ndarray) -> float:
        return 100 * float(((found > 0.5) != clean).mean())

    ours = wrong(hd.vision.denoise(noisy))
    told = [wrong(hd.vision.denoise(noisy, sigma, j, levels=(0, 1))) for j in COUPLINGS]
    variation = [wrong(found) for found in _variations(noisy)]
    ratio = f"{ours / min(told):.2f}" if min(told) * clean.size > 100 * FEW else "(few)"
    return f"{wrong(noisy):.2f} | {ours:.3f} | {min(told):.3f} | {ratio} | {min(variation):.3f}"


def _grey_row(clean: np.ndarray, sigma: float) -> str:
    noisy = noisy_version(clean, sigma)
    ours = decibels(hd.vision.denoise(noisy, levels="grey"), clean)
    variation = max(decibels(found, clean) for found in _variations(noisy))
    return f"{decibels(noisy, clean):.1f} | {ours:.1f} | {variation:.1f} | {ours - variation:+.1f}"


def _variations(noisy: np.ndarray) -> Iterator[np.ndarray]:
    smooth: Callable[..., np.ndarray] = _scikit_image("restoration").denoise_tv_chambolle
    return (smooth(noisy, weight=weight) for weight in WEIGHTS)


def _scikit_image(part: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"skimage.{part}")
    except ImportError as error:
        raise missing_extra_error("scikit-image", "the benchmark on pictures", "peers") from error

"""Does `hd.vision.denoise` ever do harm? Decibels gained on 30 pictures under ten kinds of noise.

Twenty pictures ship with scikit-image and need no download; ten are generated here. Nothing is
given but the noisy picture, cut to 0 to 1 and rounded to 256 levels as a file has it. The choice of
the model was developed on these pictures and on random crops of others.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import herded as hd
from benchmarks.denoising.automatic_settings import _scikit_image, noisy_version, page_of_text
from herded.vision import Denoised, restore

SIDE = 64
SIGMAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
IMPULSES = (0.01, 0.05, 0.1, 0.2)  # salt and pepper, half each
QUICK_PICTURES = 4  # of each kind
NEEDLESS = 0.5  # dB that levels="grey" gains on a picture that was left as it is
LETTERS = {"none": "n", "grey": "g", "two-level": "2", "impulses": "i"}
PHOTOGRAPHS = (  # names in skimage.data, and by how much they are thinned out before the crop
    ("astronaut", 3),
    ("brick", 2),
    ("camera", 2),
    ("cell", 2),
    ("chelsea", 2),
    ("clock", 2),
    ("coffee", 2),
    ("coins", 1),
    ("grass", 2),
    ("gravel", 2),
    ("horse", 2),
    ("hubble_deep_field", 4),
    ("immunohistochemistry", 2),
    ("logo", 4),
    ("microaneurysms", 1),
    ("moon", 2),
    ("page", 1),
    ("retina", 6),
    ("rocket", 3),
    ("text", 1),
)


class Case(NamedTuple):
    """One noisy picture and what came of it."""

    kind: str  # "scikit-image" or "generated"
    name: str
    noise: str
    before: float  # mean squared error
    after: float
    model: str
    warned: bool
    two_valued: bool
    grey_gain: float = 0.0  # in dB, of levels="grey" where the picture was left as it is

    @property
    def gain(self) -> float:
        """Decibels gained; minus infinity for a clean picture that was changed."""
        if self.after == self.before:
            return 0.0
        if self.before == 0:
            return -np.inf
        return float(10 * np.log10(self.before / max(self.after, 1e-9)))

    def cell(self) -> str:
        """The input and the gain; for flips, wrong pixels before and after."""
        mark = LETTERS[self.model] + ("!" if self.warned else "")
        if self.two_valued and self.noise.endswith("%"):
            return f"{100 * self.before:.1f} to {100 * self.after:.2f} % {mark}"
        if self.before == 0:
            return f"{'unchanged' if self.after == 0 else 'changed'} {mark}"
        return f"{-10 * np.log10(self.before):.1f} {self.gain:+.1f} {mark}"


def scikit_image_pictures() -> dict[str, np.ndarray]:
    """Crops from the middle of twenty pictures, as grey values from 0 to 1."""
    data = _scikit_image("data")
    return {name: _middle(getattr(data, name)(), step) for name, step in PHOTOGRAPHS}


def _middle(picture: np.ndarray, step: int) -> np.ndarray:
    grey = picture.astype(float)
    if grey.ndim == 3:
        grey = grey[..., :3] @ (0.299, 0.587, 0.114)
    grey = grey / (255.0 if grey.max() > 1 else 1.0)
    thin = grey[::step, ::step]
    top, left = ((n - min(SIDE, n)) // 2 for n in thin.shape)
    cropped: np.ndarray = np.round(255 * thin[top : top + SIDE, left : left + SIDE]) / 255
    return cropped


def generated_pictures() -> dict[str, np.ndarray]:
    """Patterns that a model of flat regions takes for noise, and some that it likes."""
    y, x = np.mgrid[:SIDE, :SIDE]
    slope = (x + y) / (2 * SIDE - 2)
    screen = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])  # Bayer 1973
    rng = np.random.default_rng(7)
    weave = 0.5 + 0.2 * np.sin(2.1 * x) * np.sin(1.7 * y) + 0.15 * np.sin(0.9 * (x - y))
    rings = np.hypot(x - SIDE / 2, y - SIDE / 2)
    blobs = sum(
        height * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * width**2))
        for a, b, width, height in zip(
            rng.uniform(0, SIDE, 12),
            rng.uniform(0, SIDE, 12),
            rng.uniform(4, 14, 12),
            rng.uniform(0.2, 0.6, 12),
            strict=True,
        )
    )
    return {
        "halftone": (slope > (screen[y % 4, x % 4] + 0.5) / 16).astype(float),
        "checkerboard": ((x + y) % 2).astype(float),
        "stripes": (x // 2 % 2).astype(float),
        "text": page_of_text(12, (SIDE, SIDE)).astype(float),
        "line drawing": (np.abs(rings % 12 - 6) > 0.7).astype(float),
        "gradient": np.round(255 * slope) / 255,
        "bars": np.round(255 * (x // 12 / 7)) / 255,
        "blobs": np.round(255 * np.clip(blobs, 0, 1)) / 255,
        "constant": np.full((SIDE, SIDE), 128 / 255),
        "texture": np.round(255 * np.clip(weave, 0, 1)) / 255,
    }


def salt_and_pepper(clean: np.ndarray, share: float) -> np.ndarray:
    """The picture with that share of its pixels black or white."""
    rng = np.random.default_rng(2)
    hit = rng.random(clean.shape) < share
    return np.where(hit, rng.integers(0, 2, clean.shape).astype(float), clean)


def noisy_pictures(clean: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Every noise and its picture."""
    for sigma in SIGMAS:
        yield f"sigma {sigma:g}", noisy_version(clean, sigma) if sigma else clean
    for share in IMPULSES:
        yield f"{share:.0%}", salt_and_pepper(clean, share)


def cases(
    pictures: dict[str, np.ndarray], kind: str, restorer: Callable[[np.ndarray], Denoised]
) -> Iterator[Case]:
    """Restore every picture under every noise."""
    for name, clean in pictures.items():
        for noise, noisy in noisy_pictures(clean):
            found = restorer(noisy)
            before, after = (float(((p - clean) ** 2).mean()) for p in (noisy, found.image))
            grey_gain = 0.0
            if found.model == "none" and before > 0:
                grey = restore(noisy, levels="grey").image
                grey_gain = float(10 * np.log10(before / max(((grey - clean) ** 2).mean(), 1e-9)))
            yield Case(
                kind,
                name,
                noise,
                before,
                after,
                found.model,
                bool(found.hint),
                len(np.unique(clean)) == 2,
                grey_gain,
            )


def lines(quick: bool) -> Iterator[str]:
    yield "## Denoising does no harm"
    yield ""
    yield "Decibels (PSNR) of the noisy picture and what `hd.vision.denoise(noisy)` gains; wrong"
    yield "pixels before and after for salt and pepper on two levels. Models: 2 two levels, g grey,"
    yield (
        "i only salt and pepper replaced, n left as it is; ! a warning. The choice of the model was"
    )
    yield "developed on these pictures, among others."
    yield ""
    conditions = [noise for noise, _ in noisy_pictures(np.zeros((2, 2)))]
    yield "| picture | " + " | ".join(conditions) + " |"
    yield "|---|" + "---|" * len(conditions)
    known: list[Case] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        for kind, pictures in (
            ("scikit-image", scikit_image_pictures()),
            ("generated", generated_pictures()),
        ):
            few = dict(list(pictures.items())[:QUICK_PICTURES]) if quick else pictures
            row: list[Case] = []
            for case in cases(few, kind, restore):
                row.append(case)
                if len(row) == len(conditions):
                    yield f"| {case.name} | " + " | ".join(one.cell() for one in row) + " |"
                    known += row
                    row = []
    yield ""
    yield from summary(known)


def summary(known: list[Case]) -> Iterator[str]:
    """The worst loss, the usual gain, and what was left alone for no good reason."""
    yield (
        "| pictures | worst loss in dB | median gain in dB, sigma .05 to .3 | left as they are "
        'though `levels="grey"` gains over 0.5 dB |'
    )
    yield "|---|---|---|---|"
    for name in ("scikit-image", "generated"):
        group = [case for case in known if case.kind == name]
        if not group:
            continue
        noisy = [case for case in group if case.noise in ("sigma 0.05", "sigma 0.1", "sigma 0.2")]
        noisy += [case for case in group if case.noise == "sigma 0.3"]
        needless = [case for case in group if case.grey_gain > NEEDLESS]
        loss = max(0.0, -min(case.gain for case in group))
        gain = np.median([case.gain for case in noisy])
        yield f"| {name} | {loss:.2f} | {gain:.1f} | {len(needless)} of {len(group)} |"
    worst = min(known, key=lambda case: case.gain)
    yield ""
    yield (
        f"Worst loss: {max(0.0, -worst.gain):.2f} dB ({worst.name}, {worst.noise}, model "
        f"{worst.model}) in {len(known)} pictures"
    )

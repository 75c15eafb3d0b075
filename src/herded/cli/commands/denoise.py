"""`herded denoise`: a noisy picture in, a clean one out."""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from herded.errors import HerdedWarning, MethodError, ModelError
from herded.io.images import read_image, write_image
from herded.methods.belief_propagation.solver import BeliefPropagation
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.mean_field.solver import MeanField
from herded.methods.protocol import Method
from herded.vision import Denoised, restore

METHODS: dict[str, Callable[[], Method | None]] = {
    "herd": lambda: None,
    "shared": lambda: HerdedGibbs(weights="shared", phases="half"),
    "herded": lambda: HerdedGibbs(phases="half"),
    "pooled": lambda: HerdedGibbs(weights="pooled", phases="half"),
    "gibbs": lambda: Gibbs(),
    "mean-field": lambda: MeanField(damping=0.5),
    "bp": lambda: BeliefPropagation(damping=0.5),
}


def denoise(options: argparse.Namespace) -> int:
    """Read a picture, restore it, write it and print a summary."""
    if options.method not in METHODS:
        raise MethodError(f"expected --method {', '.join(METHODS)}, got {options.method!r}")
    noisy = read_image(options.picture)
    truth = read_image(options.truth) if options.truth else None
    if truth is not None and truth.shape != noisy.shape:
        raise ModelError(f"expected --truth of {noisy.shape} pixels, got {truth.shape}")
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)  # printed below, as options
        found = restore(
            noisy,
            options.sigma,
            _coupling(options.coupling),
            levels=options.levels,
            noise=options.noise,
            method=METHODS[options.method](),
            sweeps=options.sweeps,
            progress=None,
        )
    seconds = time.perf_counter() - began
    out = Path(options.out)
    write_image(out, _printable(found, out))
    beside = out.with_name(f"{out.stem}-before-after.png")
    write_image(beside, _before_after(noisy, found.image))
    print(_summary(noisy, found, seconds, options.sweeps))
    if truth is not None:
        print(_errors(noisy, found, truth))
    if found.misfit is not None:
        print(f"warning: {found.misfit.sentence('--levels 2', '--levels grey')}")
    print(f"wrote {out} and {beside}")
    return 0


def _coupling(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise MethodError(f'expected --coupling as a number or "auto", got {text!r}') from None


def _summary(noisy: np.ndarray, found: Denoised, seconds: float, sweeps: int) -> str:
    h, w = noisy.shape
    missing = int(np.isnan(noisy).sum()) if noisy.dtype != bool else 0
    size = f"{w} x {h} pixels" + (f", {missing} of them missing and filled" if missing else "")
    if not found.levels:
        done = (
            f"salt and pepper on {found.flips:.2%} replaced, the rest left as it is"
            if found.model == "impulses"
            else "left as it is"
        )
        return f"{size}: {done}, {seconds:.2f} s in all"
    levels = ", ".join(f"{level:.3g}" for level in found.levels[:4])
    if len(found.levels) > 4:
        levels = f"{found.levels[0]:.3g} to {found.levels[-1]:.3g} ({len(found.levels)})"
    parts = [f"sigma {found.sigma:.3g}"] if found.sigma else []
    parts += [f"flips {found.flips:.2%}"] if found.noise == "flip" else []
    return (
        f"{size}, levels {levels}, {', '.join(parts)}, coupling "
        f"{found.coupling:.3g}: {sweeps} sweeps, {seconds:.2f} s in all"
    )


def _errors(noisy: np.ndarray, found: Denoised, truth: np.ndarray) -> str:
    """Count wrong pixels before and after for two levels; give squared errors for others."""
    if len(found.levels) != 2:
        before, after = (
            float(np.nanmean((one.astype(float) - truth) ** 2)) for one in (noisy, found.image)
        )
        return f"mean squared error {before:.4g} before, {after:.4g} after"
    middle = sum(found.levels) / 2
    white = truth if truth.dtype == bool else truth > (truth.min() + truth.max()) / 2
    before = ((noisy > middle) != white).mean()
    after = ((found.image > middle) != white).mean()
    return f"wrong pixels: {before:.2%} before, {after:.2%} after"


def _printable(found: Denoised, out: Path) -> np.ndarray:
    """Return two levels as black and white; scale other greys to 0 to 1 where needed.

    TIFF keeps the values: it has room for any.
    """
    if out.suffix.lower() in (".tif", ".tiff") or found.image.dtype == bool:
        return found.image
    if found.model == "two-level":
        low, high = found.levels
    else:
        low, high = float(found.image.min()), float(found.image.max())
        if low >= 0 and high <= 1:
            return found.image
    return (found.image - low) / (high - low) if high > low else np.clip(found.image, 0, 1)


def _before_after(noisy: np.ndarray, clean: np.ndarray) -> np.ndarray:
    """Put both pictures next to each other, each stretched to black and white."""
    gap = np.ones((noisy.shape[0], max(2, noisy.shape[1] // 50)))
    return np.concatenate([_stretch_to_range(noisy), gap, _stretch_to_range(clean)], axis=1)


def _stretch_to_range(picture: np.ndarray) -> np.ndarray:
    values = picture.astype(float)
    known = values[~np.isnan(values)]
    low, high = np.quantile(known, [0.01, 0.99])
    if high <= low:
        low, high = known.min(), known.max()
    if high <= low:
        return np.full_like(values, 0.5)
    stretched: np.ndarray = np.clip((values - low) / (high - low), 0, 1)
    return np.where(np.isnan(stretched), 0.5, stretched)

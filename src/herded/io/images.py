"""Pictures in files: PNG, PBM/PGM, TIFF and other formats that Pillow knows.

Two-valued files become bool arrays, 8- and 16-bit files floats from 0 to 1, and float TIFFs keep
their values. A picture is written completely or not at all.
"""

import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import FileError, ModelError, missing_extra_error
from herded.system.argument_checks import float_array


def read_image(path: str | os.PathLike[str]) -> np.ndarray:
    """Read a grey or two-valued picture (H, W); colours become grey, weighted as the eye does."""
    pillow = _pillow()
    try:
        with _silence(), pillow.open(path) as picture:
            picture.load()
            if picture.mode == "1":
                return np.asarray(picture, dtype=bool)
            if picture.mode in ("I;16", "I;16B", "I", "F"):
                values = np.asarray(picture)
                return values.astype(float) / (1.0 if picture.mode == "F" else 65535.0)
            return np.asarray(picture.convert("L"), dtype=float) / 255.0
    except FileNotFoundError as error:
        raise FileError(f"expected a picture at {path}, but there is no such file") from error
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError) as error:
        raise FileError(
            f"expected a picture at {path}, got a file that cannot be read as one ({error})"
        ) from error


def write_image(path: str | os.PathLike[str], image: ArrayLike) -> None:
    """Write a bool picture as black and white, floats as grey from 0 to 1 (float for TIFF)."""
    pillow = _pillow()
    target = Path(path)
    suffix = target.suffix.lower() or ".png"
    known = pillow.registered_extensions()
    if suffix not in known:
        raise ModelError(
            f"expected a file name that ends in .png, .pbm, .tif or the like, got {target}"
        )
    picture = pillow.fromarray(_pixels(image, suffix))
    temporary = target.with_name(f".herded-{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            picture.save(file, format=known[suffix])
        os.replace(temporary, target)
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"could not write the picture {target}: {reason}") from error
    finally:
        with contextlib.suppress(OSError, ValueError):
            temporary.unlink()


def _pixels(image: ArrayLike, suffix: str) -> np.ndarray:
    values = float_array("the picture", image, 2)
    if np.asarray(image).dtype == bool:
        return np.asarray(image)
    if suffix in (".tif", ".tiff"):
        return values.astype(np.float32)
    if np.isnan(values).any():
        raise ModelError(f"expected pixels from 0 to 1 for a {suffix}, got NaN: write a .tif")
    found: np.ndarray = np.round(np.clip(values, 0, 1) * 255).astype(np.uint8)
    return found


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Suppress Pillow's warnings: a broken file gives one error and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise missing_extra_error("Pillow", "pictures", "io") from error
    return Image

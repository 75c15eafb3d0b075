"""Pictures on disk: PNG, PBM/PGM, TIFF and what else Pillow reads.

Two-valued files become bool arrays; 8- and 16-bit files floats from 0 to 1; float TIFFs stay as
they are. Written whole or not at all.
"""

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from herded.errors import ModelError


def read_image(path: str | os.PathLike[str]) -> np.ndarray:
    """A grey or two-valued picture (H, W); colours are averaged to grey as the eye weighs them."""
    pillow = _pillow()
    try:
        with pillow.open(path) as picture:
            picture.load()
            if picture.mode == "1":
                return np.asarray(picture, dtype=bool)
            if picture.mode in ("I;16", "I;16B", "I", "F"):
                values = np.asarray(picture)
                return values.astype(float) / (1.0 if picture.mode == "F" else 65535.0)
            return np.asarray(picture.convert("L"), dtype=float) / 255.0
    except FileNotFoundError as error:
        raise ModelError(f"expected a picture at {path}, but there is no such file") from error
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError) as error:
        raise ModelError(
            f"expected a picture at {path}, got a file that cannot be read as one ({error})"
        ) from error


def write_image(path: str | os.PathLike[str], image: np.ndarray) -> None:
    """Write a bool picture as black and white, floats as grey from 0 to 1 (float for TIFF)."""
    pillow = _pillow()
    target = Path(path)
    suffix = target.suffix.lower() or ".png"
    if image.dtype == bool:
        picture = pillow.fromarray(image)
    elif suffix in (".tif", ".tiff"):
        picture = pillow.fromarray(image.astype(np.float32))
    else:
        picture = pillow.fromarray(np.round(np.clip(image, 0, 1) * 255).astype(np.uint8))
    try:
        handle, temporary = tempfile.mkstemp(suffix=suffix, dir=target.parent, prefix=".herded-")
        os.close(handle)
        try:
            picture.save(temporary)
            os.replace(temporary, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
    except (OSError, ValueError) as error:
        raise ModelError(f"expected to write a picture to {target}, but: {error}") from error


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ModelError(
            "expected Pillow to read and write pictures, but it is not installed: "
            "pip install 'herded[io]'"
        ) from error
    return Image

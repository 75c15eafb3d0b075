"""A scikit-learn transformer: every row of X is a flattened picture; NaN are missing pixels."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError, missing_extra_error
from herded.system.argument_checks import as_integer_array, short_repr
from herded.vision.denoising import restore

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # an older one has no validate_data
    raise missing_extra_error("scikit-learn 1.6 or later", "IsingDenoiser", "vision") from error

FLOAT_TYPES = (np.float64, np.float32)


class IsingDenoiser(TransformerMixin, BaseEstimator):
    """A scikit-learn transformer that denoises pictures, which are the rows of X.

    Parameters
    ----------
    sigma : float, optional
        The standard deviation of the noise; estimated for each picture by default.
    coupling : float or "auto"
        The similarity of neighbours; "auto" estimates it for each picture.
    levels : int, "grey" or sequence of float, optional
    noise : {"auto", "gauss", "flip"}
        As in `herded.vision.denoise`: by default each picture is restored by the model that its
        evidence supports, or returned unchanged.
    sweeps : int
        The number of sweeps over each picture.
    shape : (int, int), optional
        The shape of the pictures. By default a square if the number of features is a square, else a
        single line.

    Attributes
    ----------
    shape_ : (int, int)
        The shape of the pictures, after `fit`.

    Examples
    --------
    >>> pictures = np.zeros((2, 64))
    >>> pictures[0, 20] = 1.0
    >>> clean = hd.vision.IsingDenoiser(levels=[0.0, 1.0], sigma=0.5).fit_transform(pictures)
    >>> float(clean.max())
    0.0
    """

    def __init__(
        self,
        sigma: float | None = None,
        coupling: float | str = "auto",
        levels: int | str | Sequence[float] | None = None,
        noise: str = "auto",
        sweeps: int = 30,
        shape: tuple[int, int] | None = None,
    ) -> None:
        self.sigma = sigma
        self.coupling = coupling
        self.levels = levels
        self.noise = noise
        self.sweeps = sweeps
        self.shape = shape

    def __sklearn_tags__(self) -> "Tags":
        """Declare to scikit-learn that NaN are allowed and that float32 is preserved."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: ArrayLike, y: object = None) -> "IsingDenoiser":
        """Find the shape of the pictures; nothing else is learned."""
        pictures = validate_data(self, X, dtype=FLOAT_TYPES, ensure_all_finite="allow-nan")
        self.shape_ = self._shape_of(pictures.shape[1])
        return self

    def _shape_of(self, pixels: int) -> tuple[int, int]:
        if self.shape is None:
            side = math.isqrt(pixels)
            return (side, side) if side * side == pixels else (1, pixels)
        shape = as_integer_array("shape", self.shape)
        if shape.shape != (2,) or shape.min() < 1:
            raise ModelError(f"expected a shape (rows, columns), got {short_repr(self.shape)}")
        rows, columns = map(int, shape)
        if rows * columns != pixels:
            raise ModelError(
                f"expected pictures of {rows} x {columns} = {rows * columns} pixels, "
                f"got {pixels} features"
            )
        return rows, columns

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Denoise the pictures; NaN are missing pixels, and are filled."""
        check_is_fitted(self)
        pictures = validate_data(
            self, X, dtype=FLOAT_TYPES, ensure_all_finite="allow-nan", reset=False
        )
        return np.stack([self._one(row.reshape(self.shape_)).ravel() for row in pictures])

    def _one(self, picture: np.ndarray) -> np.ndarray:
        return restore(
            picture,
            self.sigma,
            self.coupling,
            levels=self.levels,
            noise=self.noise,
            sweeps=self.sweeps,
        ).image

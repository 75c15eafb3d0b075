"""A test of whether a model fits a picture: neighbours must not share its residual."""

from dataclasses import dataclass

import numpy as np

from herded.vision.noise.initial_guesses import shared_variance
from herded.vision.noise.models import FlipNoise, GaussianNoise

MAX_SHARED = 0.25  # of the variance: under two levels and noise, neighbours share little
MIN_PIXELS = 64  # needed for a test


@dataclass(frozen=True)
class FitDiagnostic:
    """The reason why a model does not fit a picture; `str` writes the warning.

    Attributes
    ----------
    kind : {"other-levels", "no-model"}
        The picture does not have the two levels asked for; or it has noise that no model reduces.
    noise : {"gauss", "flip"}
        The noise that was assumed.
    amount : float
        For "other-levels", the share of the residual that neighbours have in common. For
        "no-model",
        the standard deviation of the noise, or the share of flipped pixels.

    Examples
    --------
    >>> from herded.vision.noise.fit_diagnostic import FitDiagnostic
    >>> found = FitDiagnostic("no-model", "flip", 0.05)
    >>> found.amount, str(found).partition(":")[0]
    (0.05, 'no model fits this picture')
    """

    kind: str
    noise: str
    amount: float

    def sentence(self, two: str = "levels=2", grey: str = 'levels="grey"') -> str:
        """Write one sentence; `two` and `grey` are how the reader asks for these levels."""
        if self.kind == "other-levels":
            return (
                f"two levels do not fit this picture: neighbours share {self.amount:.0%} of the "
                f"residual, and noise is not shared. For a grey picture, use {grey}"
            )
        noise = (
            f"flips ({self.amount:.2%} of its pixels)"
            if self.noise == "flip"
            else f"Gaussian noise (sigma {self.amount:.3g})"
        )
        return (
            f"no model fits this picture: it seems to have {noise}, but neither two levels nor "
            f"grey levels reduce it, so it was left unchanged. {two} or {grey} restores it "
            "anyway"
        )

    def __str__(self) -> str:
        return self.sentence()


def find_other_levels(
    noisy: np.ndarray, noise: GaussianNoise | FlipNoise, bright: np.ndarray
) -> FitDiagnostic | None:
    """Test whether a picture restored by two levels has others.

    Noise is independent from pixel to pixel. The residual of a grey picture is not.
    """
    if isinstance(noise, FlipNoise) or min(noisy.shape) < 3 or noisy.size < MIN_PIXELS:
        return None
    left = noisy.astype(float)
    for here in (bright, ~bright):
        if here.any():
            left[here] -= noisy[here].mean()
    total = float(left.var())
    share = shared_variance(left) / total if total > 0 else 0.0
    return FitDiagnostic("other-levels", "gauss", share) if share >= MAX_SHARED else None

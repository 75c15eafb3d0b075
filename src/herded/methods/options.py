"""Checks of options that several methods have."""

from herded.errors import MethodError


def check_seed(seed: int) -> None:
    """A seed is a whole number from 0."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or int(seed) < 0:
        raise MethodError(f"expected a whole number of 0 or more as seed, got {seed!r}")

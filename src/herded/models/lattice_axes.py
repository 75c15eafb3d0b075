"""The axes of a lattice, the last one first: right, down, and on through further dimensions.

What a user gives for each axis (couplings, whether its ends are joined) comes in this order, which
on a picture is (right, down).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.system.argument_checks import number, number_array, shown

Shape = tuple[int, ...]


def grid_array(name: str, values: ArrayLike, least: int) -> np.ndarray:
    """`values` as floats with `least` or more dimensions, none of them empty."""
    array = number_array(name, values)
    if array.ndim < least or 0 in array.shape:
        raise ModelError(
            f"expected a non-empty array of {least} or more dimensions as {name}, got shape "
            f"{array.shape}"
        )
    return array


def check_joined(periodic: bool | Sequence[bool], shape: Shape) -> tuple[bool, ...]:
    """Whether the two ends of each axis are joined."""
    several = isinstance(periodic, (tuple, list))
    joined = tuple(periodic) if isinstance(periodic, (tuple, list)) else (periodic,) * len(shape)
    if len(joined) != len(shape) or not all(isinstance(one, (bool, np.bool_)) for one in joined):
        got = f"{len(joined)} of them" if several and len(joined) != len(shape) else shown(periodic)
        raise ModelError(
            f"expected periodic as True or False, or as {len(shape)} of them, one for each axis, "
            f"the last axis first, got {got}"
        )
    short = [n for n, one in zip(reversed(shape), joined, strict=True) if one and n < 3]
    if short:
        raise ModelError(
            f"expected at least 3 pixels along a periodic axis, got {short[0]} of shape {shape}: "
            "fewer would join two pixels twice"
        )
    return tuple(map(bool, joined))


def check_couplings(
    coupling: ArrayLike, shape: Shape, joined: Sequence[bool]
) -> tuple[np.ndarray, ...]:
    """The couplings along each axis: an array that has one for every pair of neighbours."""
    dims = len(shape)
    parts: list[ArrayLike]
    if isinstance(coupling, (tuple, list)) and len(coupling) == dims:
        parts = list(coupling)
    elif dims == 1 or number_array("the coupling", coupling).ndim == 0:
        parts = [coupling] * dims
    else:
        each = "a pair of arrays (right, down)" if dims == 2 else f"a tuple of {dims} arrays"
        raise ModelError(
            f"expected the coupling as one number or as {each}, one along each axis, the last axis "
            f"first, got {type(coupling).__name__} of shape {np.shape(coupling)}"
        )
    return tuple(
        _coupling(part, edges(shape, dims - 1 - n, joined[n]), called(dims, n))
        for n, part in enumerate(parts)
    )


def _coupling(values: ArrayLike, shape: Shape, name: str) -> np.ndarray:
    part = number_array("the coupling", values)
    if part.ndim == 0:
        part = np.full(shape, number("the coupling", values))
    if part.shape != shape:
        raise ModelError(f"expected couplings {name} of shape {shape}, got {part.shape}")
    if not np.isfinite(part).all():
        raise ModelError(f"expected finite couplings {name}, got NaN or infinity")
    return part


def edges(shape: Shape, axis: int, joined: bool) -> Shape:
    """The shape of what there is for every pair of neighbours along an axis."""
    return tuple(n - (a == axis and not joined) for a, n in enumerate(shape))


def called(dims: int, n: int) -> str:
    """What a message calls the n-th axis from the end."""
    return ("right", "down")[n] if dims == 2 else f"along axis {dims - 1 - n}"

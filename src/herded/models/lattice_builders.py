"""Ising and Potts models on grids of any dimension, from arrays of fields or log-potentials.

Arguments for each axis (couplings, whether its ends are joined) have the last axis first: right,
down, and on through further dimensions. On a picture that is (right, down).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.models.lattice import ISING, POTTS, Lattice
from herded.models.validation import check_magnitude
from herded.system.argument_checks import as_float, as_float_array, read_only_copy, short_repr

MAX_SHAPE_AXES = 6  # longer tuples of whole numbers are fields, not a shape
Shape = tuple[int, ...]


def ising_grid(
    field: ArrayLike, coupling: ArrayLike = 1.0, *, periodic: bool | Sequence[bool] = False
) -> Lattice:
    """Build an Ising model on a grid, pi(s) ~ exp(sum_i h_i s_i + sum_(i~j) J_ij s_i s_j).

    The spins s = -1 and +1 are states 0 and 1. Each pair of neighbours counts once.

    Parameters
    ----------
    field : array_like of any shape
        h: (N,) on a chain, (H, W) on a picture, (D, H, W) on a volume, and so on.
    coupling : float, or tuple of float or array_like
        J: one number, or one for each axis, or an array for each axis with a coupling for every
        pair of neighbours along it. The last axis comes first: (right, down) of shapes (H, W-1)
        and (H-1, W), or (H, W) where the axis is periodic.
    periodic : bool or tuple of bool
        Whether borders are joined: one value for all axes, or one per axis in the order of
        couplings. A periodic axis needs at least 3 pixels.

    Returns
    -------
    Lattice

    Raises
    ------
    ModelError
        If a shape is wrong, or a number is not finite; also for a tuple such as (128, 128), which
        looks like a shape.

    Examples
    --------
    >>> model = hd.ising_grid([[1.0, 0.0, 0.0]], coupling=0.5)
    >>> hd.infer(model, hd.Exact()).marginals[..., 1].round(3)
    array([[0.881, 0.676, 0.581]])

    With a coupling for each pair:

    >>> right, down = np.full((2, 1), 0.3), np.full((1, 2), -0.3)
    >>> model = hd.ising_grid(np.zeros((2, 2)), (right, down))

    Three dimensions; the first axis is open and has its own coupling:

    >>> sides = (True, True, False)
    >>> layers = hd.ising_grid(np.zeros((10, 24, 24)), (0.2, 0.2, 0.1), periodic=sides)
    >>> [along.shape for along in layers.couplings]
    [(10, 24, 24), (10, 24, 24), (9, 24, 24)]
    """
    _check_is_no_shape(field)
    h = grid_array("field", field, 1)
    _check_all("finite numbers in field", h, np.isfinite(h))
    return _lattice(np.stack([-h, h], axis=-1), coupling, ISING, periodic)


def potts_grid(
    log_unary: ArrayLike, coupling: ArrayLike = 1.0, *, periodic: bool | Sequence[bool] = False
) -> Lattice:
    """Build a Potts model on a grid: exp(sum_i log_unary_i[x_i] + sum_(i~j) J_ij [x_i = x_j]).

    Parameters
    ----------
    log_unary : array_like of shape (*shape, K)
        Log-potentials of each variable alone, (H, W, K) for a picture; -inf forbids a state.
    coupling, periodic
        As in `ising_grid`. With two states, a coupling J equals an Ising coupling of J / 2.

    Returns
    -------
    Lattice

    Raises
    ------
    ModelError
        If a shape is wrong, a number is NaN or +inf, or all states of a pixel are forbidden.

    Examples
    --------
    >>> log_unary = np.zeros((1, 3, 3))
    >>> log_unary[0, 0] = [2.0, 0.0, 0.0]
    >>> hd.infer(hd.potts_grid(log_unary, 1.0), hd.Exact()).marginals[0].round(2)
    array([[0.79, 0.11, 0.11],
           [0.5 , 0.25, 0.25],
           [0.39, 0.3 , 0.3 ]])
    """
    table = grid_array("log_unary", log_unary, 2)
    possible = ~np.isnan(table) & ~np.isposinf(table)
    _check_all("finite or -inf log-potentials in log_unary", table, possible)
    return _lattice(table, coupling, POTTS, periodic)


def denoising_model(noisy: ArrayLike, sigma: float, coupling: ArrayLike = 1.0) -> Lattice:
    """Build the posterior of a picture of levels -1 and +1 seen through Gaussian noise.

    Section 4.2 of the paper: p(x | y) is proportional to
    exp(J sum_(i~j) x_i x_j - sum_i (y_i - x_i)^2 / (2 sigma^2)), an Ising model whose field is
    y / sigma^2.

    Parameters
    ----------
    noisy : array_like of any shape
        The noisy picture y, (H, W), or a volume.
    sigma : float
        The standard deviation of the noise.
    coupling : float, or tuple of float or array_like
        As in `ising_grid`.

    Returns
    -------
    Lattice

    Raises
    ------
    ModelError
        If a pixel is not finite, or sigma is not above 0.

    See Also
    --------
    herded.vision.denoise : estimates levels and noise, and returns the clean picture.

    Examples
    --------
    The pixel in the middle looks dark, its neighbours bright:

    >>> noisy = np.array([[0.9, 1.2, 0.8], [1.1, -0.3, 1.0], [0.7, 1.3, 0.9]])
    >>> model = hd.denoising_model(noisy, sigma=1.0, coupling=0.5)
    >>> hd.infer(model, hd.Exact()).marginals[1, 1].round(2)
    array([0.04, 0.96])
    """
    y = grid_array("the noisy picture", noisy, 1)
    _check_all("finite pixels in the noisy picture", y, np.isfinite(y))
    spread = as_float("sigma", sigma)
    variance = spread * spread
    if not (np.isfinite(variance) and sigma > 0 and variance > 0):
        raise ModelError(f"expected a noise level sigma above 0, got {sigma}")
    with np.errstate(over="ignore"):
        field = y / variance
    _check_all("finite fields, which are the noisy pixels over sigma^2", field, np.isfinite(field))
    return ising_grid(field, coupling)


def _check_is_no_shape(field: ArrayLike) -> None:
    """Refuse a tuple that is probably meant as a shape, not as a chain of a few strong fields."""
    if (
        isinstance(field, tuple)
        and 1 < len(field) <= MAX_SHAPE_AXES
        and all(type(n) is int and n > 1 for n in field)
    ):
        raise ModelError(
            f"expected an array of fields, got {field}, which looks like a shape: write "
            f"np.zeros({field}) for a grid of that shape without a field, or {list(field)} for a "
            f"chain with these {len(field)} fields"
        )


def _check_all(expected: str, values: np.ndarray, good: np.ndarray) -> None:
    if not good.all():
        at = tuple(map(int, np.argwhere(~good)[0]))
        raise ModelError(f"expected {expected}, got {values[at]} at {at}")


def _lattice(
    log_unary: np.ndarray, coupling: ArrayLike, unlike: float, periodic: bool | Sequence[bool]
) -> Lattice:
    shape = log_unary.shape[:-1]
    joined = check_periodic(periodic, shape)
    stuck = np.isneginf(log_unary).all(axis=-1)
    if stuck.any():
        at = tuple(map(int, np.argwhere(stuck)[0]))
        raise ModelError(
            f"expected a possible state for every pixel, but all states of {at} are -inf: "
            "the support is empty"
        )
    couplings = check_couplings(coupling, shape, joined)
    check_magnitude(log_unary, *couplings)
    return Lattice(
        log_unary=read_only_copy(log_unary, np.float64),
        couplings=tuple(read_only_copy(along, np.float64) for along in couplings),
        unlike=unlike,
        is_periodic_by_axis=joined,
        clamped=read_only_copy(np.full(shape, -1), np.int64),
    )


def grid_array(name: str, values: ArrayLike, least: int) -> np.ndarray:
    """Return `values` as floats with `least` or more dimensions, none of them empty."""
    array = as_float_array(name, values)
    if array.ndim < least or 0 in array.shape:
        raise ModelError(
            f"expected a non-empty array of {least} or more dimensions as {name}, got shape "
            f"{array.shape}"
        )
    return array


def check_periodic(periodic: bool | Sequence[bool], shape: Shape) -> tuple[bool, ...]:
    """Return whether the two ends of each axis are joined."""
    several = isinstance(periodic, (tuple, list))
    joined = tuple(periodic) if isinstance(periodic, (tuple, list)) else (periodic,) * len(shape)
    if len(joined) != len(shape) or not all(isinstance(one, (bool, np.bool_)) for one in joined):
        got = (
            f"{len(joined)} of them"
            if several and len(joined) != len(shape)
            else short_repr(periodic)
        )
        raise ModelError(
            f"expected periodic as True or False, or as {len(shape)} values, one for each axis, "
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
    """Return the couplings along each axis: an array with one for every pair of neighbours."""
    dims = len(shape)
    parts: list[ArrayLike]
    if isinstance(coupling, (tuple, list)) and len(coupling) == dims:
        parts = list(coupling)
    elif dims == 1 or as_float_array("the coupling", coupling).ndim == 0:
        parts = [coupling] * dims
    else:
        each = "a pair of arrays (right, down)" if dims == 2 else f"a tuple of {dims} arrays"
        raise ModelError(
            f"expected the coupling as one number or as {each}, one along each axis, the last axis "
            f"first, got {type(coupling).__name__} of shape {np.shape(coupling)}"
        )
    return tuple(
        _coupling(part, edge_array_shape(shape, dims - 1 - n, joined[n]), axis_text(dims, n))
        for n, part in enumerate(parts)
    )


def _coupling(values: ArrayLike, shape: Shape, name: str) -> np.ndarray:
    part = as_float_array("the coupling", values)
    if part.ndim == 0:
        part = np.full(shape, as_float("the coupling", values))
    if part.shape != shape:
        raise ModelError(f"expected couplings {name} of shape {shape}, got {part.shape}")
    if not np.isfinite(part).all():
        raise ModelError(f"expected finite couplings {name}, got NaN or infinity")
    return part


def edge_array_shape(shape: Shape, axis: int, joined: bool) -> Shape:
    """Return the shape of an array with one entry per pair of neighbours along an axis."""
    return tuple(n - (a == axis and not joined) for a, n in enumerate(shape))


def axis_text(dims: int, n: int) -> str:
    """Return what a message calls the n-th axis from the end."""
    return ("right", "down")[n] if dims == 2 else f"along axis {dims - 1 - n}"

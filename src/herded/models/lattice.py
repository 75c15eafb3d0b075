"""pi(x) = 1/Z exp(sum_i log_unary_i[x_i] + sum_(i~j) J_ij like(x_i, x_j)) on an H x W grid.

like = 1 for equal neighbours; for others -1 (Ising, the paper's equation 6) or 0 (Potts). The
paper writes 1/2 sum_(i~j) J_ij x_i x_j, where the sum has each pair twice: here each edge counts
once, with J. The paper's x_i in {-1, +1} are states 0 and 1.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.models import evidence as _evidence
from herded.models import summary
from herded.models.checks import check_states, float_array, number, number_array
from herded.models.factor_graph import FactorGraph, locked
from herded.system.html import table

ISING, POTTS = -1.0, 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Lattice:
    """A grid of H x W variables with 4 neighbours each.

    `ising_grid`, `potts_grid` and `denoising_model` build it. It has the methods of every model
    (`FactorGraph` explains them), and kernels of its own that are faster than those of a factor
    graph.

    Attributes
    ----------
    log_unary : ndarray of shape (H, W, K)
        Log-potentials of each variable alone.
    right, down : ndarray
        Couplings to the next column, (H, W-1), and to the next row, (H-1, W); both (H, W) when
        periodic.
    unlike : float
        What the coupling of neighbours in different states is multiplied with: -1 (Ising) or 0
        (Potts).
    periodic : bool
        Whether the last row is beside the first, and the last column beside the first.
    clamped : ndarray of shape (H, W)
        The state of each pixel that is known, -1 elsewhere.

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((2, 3)), 0.5).given({(0, 0): 1})
    >>> model.shape, model.n_variables
    ((2, 3), 6)
    >>> hd.infer(model, hd.Exact()).marginals[..., 1].round(2)
    array([[1.  , 0.77, 0.66],
           [0.77, 0.72, 0.64]])
    """

    log_unary: np.ndarray  # (H, W, K)
    right: np.ndarray  # (H, W-1) or, when periodic, (H, W): coupling to the next column
    down: np.ndarray  # (H-1, W) or (H, W): coupling to the next row
    unlike: float  # what an edge between different states is multiplied with
    periodic: bool
    clamped: np.ndarray = field(repr=False)  # (H, W) evidence, -1 where free
    names: None = None
    state_names: None = None

    preferred_scan: ClassVar[str] = "checkerboard"  # what "auto" means for it
    zeros_tie_variables: ClassVar[bool] = False  # hard zeros are of single pixels

    def __repr__(self) -> str:
        return f"Lattice({summary.in_a_line(self)})"

    def _repr_html_(self) -> str:
        return table(repr(self), summary.of_lattice(self))

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(H, W)."""
        h, w, _ = self.log_unary.shape
        return h, w

    @cached_property
    def n_variables(self) -> int:
        """H times W."""
        h, w = self.shape
        return h * w

    @cached_property
    def evidence(self) -> np.ndarray:
        """(N,) the state of each variable that is known, -1 elsewhere."""
        return self.clamped.reshape(-1)

    @cached_property
    def cardinalities(self) -> np.ndarray:
        """(N,) how many states each variable has: K for all."""
        states = np.full(self.n_variables, self.log_unary.shape[2], np.int64)
        states.flags.writeable = False
        return states

    @cached_property
    def has_hard_zeros(self) -> bool:
        """Whether some unary log-potential is -inf."""
        return bool(np.isneginf(self.log_unary).any())

    @property
    def counts_suffice(self) -> bool:
        """Whether the number of neighbours in state 1 tells a conditional, and tells it apart.

        That is so where all couplings are equal and not 0.
        """
        both = np.concatenate([self.right.ravel(), self.down.ravel()])
        return both.size == 0 or bool((both == both[0]).all() and both[0] != 0)

    def neighbours(self, i: int) -> np.ndarray:
        """The variables that share an edge with `i`, sorted."""
        h, w = self.shape
        r, c = divmod(range(self.n_variables)[i], w)
        around = [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
        if self.periodic:
            around = [(a % h, b % w) for a, b in around]
        inside = {a * w + b for a, b in around if 0 <= a < h and 0 <= b < w} - {r * w + c}
        return np.array(sorted(inside), dtype=np.int64)

    def log_score(self, states: ArrayLike) -> Any:
        """The unnormalised log-probability of states (..., N) or (..., H, W).

        Examples
        --------
        >>> model = hd.ising_grid([[0.5, 0.0]], 1.0)
        >>> model.log_score([[1, 1]]), model.log_score([[1, 0]])
        (1.5, -0.5)
        """
        h, w = self.shape
        x = check_states(self, states)
        flat = x.reshape(-1, h, w)
        scores = np.empty(len(flat))
        for m, picture in enumerate(flat):
            unary = np.take_along_axis(self.log_unary, picture[..., None], axis=2)
            across, along = picture, picture
            if self.periodic:
                across = np.concatenate([picture, picture[:, :1]], axis=1)
                along = np.concatenate([picture, picture[:1]], axis=0)
            like_right = np.where(across[:, 1:] == across[:, :-1], 1.0, self.unlike)
            like_down = np.where(along[1:] == along[:-1], 1.0, self.unlike)
            scores[m] = (
                unary.sum() + (self.right * like_right).sum() + (self.down * like_down).sum()
            )
            if ((self.clamped >= 0) & (self.clamped != picture)).any():
                scores[m] = -np.inf
        return scores.reshape(x.shape[:-1]) if x.ndim > 1 else float(scores[0])

    @cached_property
    def content_hash(self) -> str:
        """Sixteen hex digits that are equal for equal lattices."""
        digest = hashlib.sha256(f"lattice {self.shape} {self.unlike} {self.periodic}".encode())
        for array in (self.log_unary, self.right, self.down, self.clamped):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def given(self, evidence: Mapping[Any, int | str]) -> "Lattice":
        """The same lattice with more pixels known, given as (row, column) or as an index.

        Examples
        --------
        >>> hd.ising_grid(np.zeros((2, 2))).given({(0, 1): 1, 2: 0}).clamped
        array([[-1,  1],
               [ 0, -1]])
        """
        clamped = _evidence.merge(self, evidence)
        model = replace(self, clamped=locked(clamped.reshape(self.shape), np.int64))
        forbidden = np.isneginf(
            np.take_along_axis(self.log_unary, np.maximum(model.clamped, 0)[..., None], axis=2)
        )[..., 0] & (model.clamped >= 0)
        if forbidden.any():
            at = tuple(map(int, np.argwhere(forbidden)[0]))
            raise ModelError(
                f"expected evidence of positive probability, but pixel {at} cannot be "
                f"{model.clamped[at]}: correct or drop that evidence"
            )
        return model

    def as_factor_graph(self) -> FactorGraph:
        """The same model and evidence with its factors written out.

        Examples
        --------
        >>> hd.ising_grid(np.zeros((2, 2))).as_factor_graph().n_factors
        8
        """
        h, w, k = self.log_unary.shape
        index = np.arange(h * w).reshape(h, w)
        right_ends = np.roll(index, -1, axis=1)[:, : self.right.shape[1]]
        down_ends = np.roll(index, -1, axis=0)[: self.down.shape[0]]
        ends = np.concatenate(
            [
                np.stack([index[:, : self.right.shape[1]].ravel(), right_ends.ravel()], axis=1),
                np.stack([index[: self.down.shape[0]].ravel(), down_ends.ravel()], axis=1),
            ]
        )
        coupling = np.concatenate([self.right.ravel(), self.down.ravel()])
        like = np.where(np.eye(k, dtype=bool), 1.0, self.unlike)
        n = h * w
        graph = FactorGraph.from_arrays(
            np.full(n, k),
            np.concatenate([np.arange(n), n + 2 * np.arange(len(ends) + 1)]),
            np.concatenate([np.arange(n), ends.ravel()]),
            np.concatenate([self.log_unary.ravel(), (coupling[:, None, None] * like).ravel()]),
            shape=(h, w),
        )
        clamped = np.flatnonzero(self.evidence >= 0)
        return (
            graph.given({int(i): int(self.evidence[i]) for i in clamped}) if len(clamped) else graph
        )


def ising_grid(field: ArrayLike, coupling: ArrayLike = 1.0, *, periodic: bool = False) -> Lattice:
    """An Ising model on a grid: pi(s) proportional to exp(sum_i h_i s_i + sum_(i~j) J_ij s_i s_j).

    The spins s = -1 and +1 are states 0 and 1. Each pair of neighbours counts once.

    Parameters
    ----------
    field : array_like of shape (H, W)
        h.
    coupling : float or pair of array_like
        J: one number, or the arrays (right, down) of shapes (H, W-1) and (H-1, W), both (H, W)
        when periodic.
    periodic : bool
        Whether borders are joined; then at least 3 rows and columns are needed.

    Returns
    -------
    Lattice

    Raises
    ------
    ModelError
        If a shape is wrong, or a number is not finite.

    Examples
    --------
    >>> model = hd.ising_grid([[1.0, 0.0, 0.0]], coupling=0.5)
    >>> hd.infer(model, hd.Exact()).marginals[..., 1].round(3)
    array([[0.881, 0.676, 0.581]])

    With a coupling for each pair:

    >>> right, down = np.full((2, 1), 0.3), np.full((1, 2), -0.3)
    >>> model = hd.ising_grid(np.zeros((2, 2)), (right, down))
    """
    h = float_array("field", field, 2)
    _check_all("finite numbers in field", h, np.isfinite(h))
    return _lattice(np.stack([-h, h], axis=2), coupling, ISING, periodic)


def potts_grid(
    log_unary: ArrayLike, coupling: ArrayLike = 1.0, *, periodic: bool = False
) -> Lattice:
    """A Potts model on a grid: exp(sum_i log_unary_i[x_i] + sum_(i~j) J_ij [x_i = x_j]).

    Parameters
    ----------
    log_unary : array_like of shape (H, W, K)
        Log-potentials of each variable alone; -inf forbids a state.
    coupling, periodic
        As in `ising_grid`. A coupling J of two states is an Ising coupling of J / 2.

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
    table = float_array("log_unary", log_unary, 3)
    possible = ~np.isnan(table) & ~np.isposinf(table)
    _check_all("finite or -inf log-potentials in log_unary", table, possible)
    return _lattice(table, coupling, POTTS, periodic)


def denoising_model(noisy: ArrayLike, sigma: float, coupling: ArrayLike = 1.0) -> Lattice:
    """The posterior of a picture of levels -1 and +1 seen through Gaussian noise.

    Section 4.2 of the paper: p(x | y) is proportional to
    exp(J sum_(i~j) x_i x_j - sum_i (y_i - x_i)^2 / (2 sigma^2)), an Ising model whose field is
    y / sigma^2.

    Parameters
    ----------
    noisy : array_like of shape (H, W)
        The noisy picture y.
    sigma : float
        The standard deviation of the noise.
    coupling : float or pair of array_like
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
    herded.vision.denoise : estimates levels and noise, and gives the clean picture.

    Examples
    --------
    The pixel in the middle looks dark, its neighbours bright:

    >>> noisy = np.array([[0.9, 1.2, 0.8], [1.1, -0.3, 1.0], [0.7, 1.3, 0.9]])
    >>> model = hd.denoising_model(noisy, sigma=1.0, coupling=0.5)
    >>> hd.infer(model, hd.Exact()).marginals[1, 1].round(2)
    array([0.04, 0.96])
    """
    y = float_array("the noisy picture", noisy, 2)
    _check_all("finite pixels in the noisy picture", y, np.isfinite(y))
    spread = number("sigma", sigma)
    variance = spread * spread
    if not (np.isfinite(variance) and sigma > 0 and variance > 0):
        raise ModelError(f"expected a noise level sigma above 0, got {sigma}")
    with np.errstate(over="ignore"):
        field = y / variance
    _check_all("finite fields, which are the noisy pixels over sigma^2", field, np.isfinite(field))
    return ising_grid(field, coupling)


def _check_all(expected: str, values: np.ndarray, good: np.ndarray) -> None:
    if not good.all():
        at = tuple(map(int, np.argwhere(~good)[0]))
        raise ModelError(f"expected {expected}, got {values[at]} at {at}")


def _lattice(log_unary: np.ndarray, coupling: ArrayLike, unlike: float, periodic: bool) -> Lattice:
    h, w, _ = log_unary.shape
    if periodic and min(h, w) < 3:
        raise ModelError(
            f"expected at least 3 rows and columns on a periodic grid, got {h} x {w}: "
            "smaller ones would join two pixels twice"
        )
    stuck = np.isneginf(log_unary).all(axis=2)
    if stuck.any():
        at = tuple(map(int, np.argwhere(stuck)[0]))
        raise ModelError(
            f"expected a possible state for every pixel, but all states of {at} are -inf: "
            "the support is empty"
        )
    shapes = ((h, w), (h, w)) if periodic else ((h, w - 1), (h - 1, w))
    right, down = _couplings(coupling, shapes)
    return Lattice(
        log_unary=locked(log_unary, np.float64),
        right=locked(right, np.float64),
        down=locked(down, np.float64),
        unlike=unlike,
        periodic=periodic,
        clamped=locked(np.full((h, w), -1), np.int64),
    )


def _couplings(
    coupling: ArrayLike, shapes: Sequence[tuple[int, ...]]
) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(coupling, (tuple, list)) and len(coupling) == 2:
        pair = [number_array("the coupling", part) for part in coupling]
    elif number_array("the coupling", coupling).ndim == 0:
        pair = [np.full(shape, number("the coupling", coupling)) for shape in shapes]
    else:
        raise ModelError(
            "expected the coupling as one number or as a pair of arrays (right, down), "
            f"got {type(coupling).__name__} of shape {np.shape(coupling)}"
        )
    for name, part, shape in zip(("right", "down"), pair, shapes, strict=True):
        if part.shape != shape:
            raise ModelError(f"expected couplings {name} of shape {shape}, got {part.shape}")
        if not np.isfinite(part).all():
            raise ModelError(f"expected finite couplings {name}, got NaN or infinity")
    return pair[0], pair[1]

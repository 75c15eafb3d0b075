"""pi(x) = 1/Z exp(sum_i log_unary_i[x_i] + sum_(i~j) J_ij like(x_i, x_j)) on an H x W grid.

like = 1 for equal neighbours; for others -1 (Ising, the paper's equation 6) or 0 (Potts). The
paper writes 1/2 sum_(i~j) J_ij x_i x_j, which counts each pair twice: here, and here alone, that
is read as *each edge enters once, with J*. The same x_i in {-1, +1} are states 0 and 1.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from herded.errors import ModelError
from herded.models import evidence as _evidence
from herded.models.checks import float_array, number, number_array
from herded.models.factor_graph import FactorGraph, check_states, locked

ISING, POTTS = -1.0, 0.0


@dataclass(frozen=True, eq=False)
class Lattice:
    """A 4-neighbour grid; `ising_grid`, `potts_grid` and `denoising_model` build it."""

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

    @cached_property
    def shape(self) -> tuple[int, int]:
        h, w, _ = self.log_unary.shape
        return h, w

    @cached_property
    def n_variables(self) -> int:
        h, w = self.shape
        return h * w

    @cached_property
    def evidence(self) -> np.ndarray:
        return self.clamped.reshape(-1)

    @cached_property
    def cardinalities(self) -> np.ndarray:
        states = np.full(self.n_variables, self.log_unary.shape[2], np.int64)
        states.flags.writeable = False
        return states

    @cached_property
    def has_hard_zeros(self) -> bool:
        return bool(np.isneginf(self.log_unary).any())

    @property
    def counts_suffice(self) -> bool:
        """Whether all couplings are equal and not 0: then a conditional depends on how many
        neighbours are 1, and another count is another conditional."""
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

    def log_score(self, states: Any) -> Any:
        """log of the unnormalised probability of states (..., N) or (..., H, W)."""
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
        digest = hashlib.sha256(f"lattice {self.shape} {self.unlike} {self.periodic}".encode())
        for array in (self.log_unary, self.right, self.down, self.clamped):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def given(self, evidence: Mapping[Any, int | str]) -> "Lattice":
        """The same lattice with pixels (row, column) or indices clamped."""
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
        """The same model with its factors written out (and the same evidence)."""
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


def ising_grid(field: Any, coupling: Any = 1.0, *, periodic: bool = False) -> Lattice:
    """pi(s) proportional to exp(sum_i h_i s_i + sum_(i~j) J_ij s_i s_j), s_i = +-1.

    `field` is h, of shape (H, W). `coupling` is J: one number, or a pair of arrays (right, down)
    of shapes (H, W-1) and (H-1, W), or (H, W) each when periodic.
    """
    h = float_array("field", field, 2)
    _check_all("finite numbers in field", h, np.isfinite(h))
    return _lattice(np.stack([-h, h], axis=2), coupling, ISING, periodic)


def potts_grid(log_unary: Any, coupling: Any = 1.0, *, periodic: bool = False) -> Lattice:
    """pi(x) proportional to exp(sum_i log_unary_i[x_i] + sum_(i~j) J_ij [x_i = x_j])."""
    table = float_array("log_unary", log_unary, 3)
    possible = ~np.isnan(table) & ~np.isposinf(table)
    _check_all("finite or -inf log-potentials in log_unary", table, possible)
    return _lattice(table, coupling, POTTS, periodic)


def denoising_model(noisy: Any, sigma: float, coupling: Any = 1.0) -> Lattice:
    """The posterior of a +-1 picture seen through Gaussian noise (paper, section 4.2).

    p(x | y) is proportional to exp(J sum_(i~j) x_i x_j - sum_i (y_i - x_i)^2 / (2 sigma^2)), whose
    field is y / sigma^2.
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


def _lattice(log_unary: np.ndarray, coupling: Any, unlike: float, periodic: bool) -> Lattice:
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


def _couplings(coupling: Any, shapes: Any) -> tuple[np.ndarray, np.ndarray]:
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

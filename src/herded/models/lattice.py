"""pi(x) = 1/Z exp(sum_i log_unary_i[x_i] + sum_(i~j) J_ij like(x_i, x_j)) on a grid.

A grid has any number of dimensions: one (a chain or a ring), two (a picture), three (a volume), ...
like = 1 for equal neighbours; for others -1 (Ising, the paper's equation 6) or 0 (Potts). The
paper writes 1/2 sum_(i~j) J_ij x_i x_j, where the sum has each pair twice; here each edge counts
once, with J. The paper's x_i in {-1, +1} are states 0 and 1.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.models import evidence as _evidence
from herded.models import summary
from herded.models.factor_graph import FactorGraph
from herded.models.protocol import ModelCapabilities
from herded.models.validation import check_states
from herded.system.argument_checks import read_only_copy
from herded.system.html import html_table

ISING, POTTS = -1.0, 0.0
PIXELS_PER_PASS = 2**16  # pixels whose log-potentials are summed at once


@dataclass(frozen=True, eq=False, repr=False)
class Lattice:
    """A grid of variables in d dimensions, with 2 d neighbours each.

    `ising_grid`, `potts_grid` and `denoising_model` build it. It has the methods of every model,
    which `FactorGraph` explains. Its kernels are faster than those of a factor graph.

    Attributes
    ----------
    log_unary : ndarray of shape (*shape, K)
        Log-potentials of each variable alone; (H, W, K) for a picture.
    couplings : tuple of ndarray
        Couplings along each axis, the last axis first; on a picture to the next column, (H, W-1),
        and to the next row, (H-1, W). A periodic axis has one more.
    unlike : float
        The factor that multiplies the coupling of neighbours in different states: -1 (Ising) or 0
        (Potts).
    is_periodic_by_axis : tuple of bool
        Whether the last pixel along each axis is next to the first, in the order of couplings.
    clamped : ndarray
        The state of each observed pixel, -1 elsewhere.

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((2, 3)), 0.5).given({(0, 0): 1})
    >>> model.shape, model.n_variables
    ((2, 3), 6)
    >>> hd.infer(model, hd.Exact()).marginals[..., 1].round(2)
    array([[1.  , 0.77, 0.66],
           [0.77, 0.72, 0.64]])

    In three dimensions:

    >>> model = hd.ising_grid(np.zeros((24, 24, 24)), 0.2, periodic=True)
    >>> model.shape, model.neighbours(0)
    ((24, 24, 24), array([    1,    23,    24,   552,   576, 13248]))
    """

    log_unary: np.ndarray  # (*shape, K)
    couplings: tuple[np.ndarray, ...]  # along each axis, the last one first
    unlike: float  # multiplies the coupling of different states
    is_periodic_by_axis: tuple[bool, ...]  # for each axis, the last one first
    clamped: np.ndarray = field(repr=False)  # evidence, -1 where free
    names: None = None
    state_names: None = None

    capabilities: ClassVar[ModelCapabilities] = ModelCapabilities(
        has_factors=True, preferred_scan="checkerboard"
    )
    zeros_tie_variables: ClassVar[bool] = False  # hard zeros concern single pixels

    def __repr__(self) -> str:
        return f"Lattice({summary.one_line_summary(self)})"

    def _repr_html_(self) -> str:
        return html_table(repr(self), summary.lattice_rows(self))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the grid, (H, W) for a picture."""
        return self.log_unary.shape[:-1]

    @cached_property
    def n_variables(self) -> int:
        """The number of pixels, H times W for a picture."""
        return math.prod(self.shape)

    @property
    def right(self) -> np.ndarray:
        """Couplings along the last axis: on a picture, to the next column."""
        return self.couplings[0]

    @property
    def down(self) -> np.ndarray:
        """Couplings along the last axis but one: on a picture, to the next row."""
        return self.couplings[1]

    @cached_property
    def periodic(self) -> bool:
        """Whether the ends of every axis are joined."""
        return all(self.is_periodic_by_axis)

    @cached_property
    def evidence(self) -> np.ndarray:
        """The state of each observed variable, -1 elsewhere, (N,)."""
        return self.clamped.reshape(-1)

    @cached_property
    def cardinalities(self) -> np.ndarray:
        """The number of states of each variable, (N,): K for all."""
        states = np.full(self.n_variables, self.log_unary.shape[-1], np.int64)
        states.flags.writeable = False
        return states

    @cached_property
    def has_hard_zeros(self) -> bool:
        """Whether some unary log-potential is -inf."""
        return bool(np.isneginf(self.log_unary).any())

    @property
    def counts_suffice(self) -> bool:
        """Whether the number of neighbours in state 1 determines a conditional, one to one.

        That is so if all couplings are equal and not 0.
        """
        every = self.all_couplings
        return every.size == 0 or bool((every == every[0]).all() and every[0] != 0)

    @property
    def all_couplings(self) -> np.ndarray:
        """All couplings in one array, in the order of the factors."""
        return np.concatenate([along.ravel() for along in self.couplings])

    def ends(self, values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the `values` (..., *shape) of pictures at both ends of all couplings, by axis."""
        for n, along in enumerate(self.couplings):
            edges, others = along.shape[-1 - n], (slice(None),) * n
            first: tuple[Any, ...] = (..., slice(edges), *others)
            second: tuple[Any, ...] = (..., slice(1, edges + 1), *others)
            around = edges == values.shape[-1 - n]  # the last one's neighbour is the first
            yield values[first], np.roll(values, -1, -1 - n) if around else values[second]

    def neighbours(self, i: int) -> np.ndarray:
        """Return the variables that share an edge with `i`, sorted."""
        here = range(self.n_variables)[i]
        place = tuple(int(p) for p in np.unravel_index(here, self.shape))
        around = set()
        for axis, (n, joined) in enumerate(
            zip(self.shape, reversed(self.is_periodic_by_axis), strict=True)
        ):
            for at in (place[axis] - 1, place[axis] + 1):
                if joined or 0 <= at < n:
                    near = (*place[:axis], at % n, *place[axis + 1 :])
                    around.add(int(np.ravel_multi_index(near, self.shape)))
        return np.array(sorted(around), dtype=np.int64)

    def log_score(self, states: ArrayLike) -> Any:
        """Compute the unnormalised log-probability of states (..., N) or (..., *shape).

        Examples
        --------
        >>> model = hd.ising_grid([[0.5, 0.0]], 1.0)
        >>> model.log_score([[1, 1]]), model.log_score([[1, 0]])
        (1.5, -0.5)
        """
        x = check_states(self, states)
        pictures = x.reshape(-1, *self.shape)
        scores, step = np.empty(len(pictures)), max(1, PIXELS_PER_PASS // self.n_variables)
        for m in range(0, len(pictures), step):
            scores[m : m + step] = self._scores(pictures[m : m + step])
        return scores.reshape(x.shape[:-1]) if x.ndim > 1 else float(scores[0])

    def _scores(self, pictures: np.ndarray) -> np.ndarray:
        """Compute the scores of pictures (M, *shape), each summed separately."""
        many = len(pictures)
        unary = np.take_along_axis(self.log_unary[None], pictures[..., None], axis=-1)
        scores: np.ndarray = unary.reshape(many, -1).sum(axis=1)
        for along, (a, b) in zip(self.couplings, self.ends(pictures), strict=True):
            terms = along * np.where(a == b, 1.0, self.unlike)
            scores += terms.reshape(many, along.size).sum(axis=1)
        known = (self.clamped >= 0) & (self.clamped != pictures)
        scores[known.reshape(many, -1).any(axis=1)] = -np.inf
        return scores

    @cached_property
    def content_hash(self) -> str:
        """Sixteen hex digits, equal for equal lattices."""
        joined = (
            self.is_periodic_by_axis[0]
            if len(set(self.is_periodic_by_axis)) == 1
            else self.is_periodic_by_axis
        )
        digest = hashlib.sha256(f"lattice {self.shape} {self.unlike} {joined}".encode())
        for array in (self.log_unary, *self.couplings, self.clamped):
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return digest.hexdigest()[:16]

    def given(self, evidence: Mapping[Any, int | str]) -> "Lattice":
        """Return the same lattice with more pixels observed, as (row, column) or by index.

        Examples
        --------
        >>> hd.ising_grid(np.zeros((2, 2))).given({(0, 1): 1, 2: 0}).clamped
        array([[-1,  1],
               [ 0, -1]])
        """
        clamped = _evidence.merge_evidence(self, evidence)
        model = replace(self, clamped=read_only_copy(clamped.reshape(self.shape), np.int64))
        forbidden = np.isneginf(
            np.take_along_axis(self.log_unary, np.maximum(model.clamped, 0)[..., None], axis=-1)
        )[..., 0] & (model.clamped >= 0)
        if forbidden.any():
            at = tuple(map(int, np.argwhere(forbidden)[0]))
            raise ModelError(
                f"expected evidence of positive probability, but pixel {at} cannot be "
                f"{model.clamped[at]}: correct or drop that evidence"
            )
        return model

    def as_factor_graph(self) -> FactorGraph:
        """Write out the factors of the same model and evidence.

        Examples
        --------
        >>> hd.ising_grid(np.zeros((2, 2))).as_factor_graph().n_factors
        8
        """
        n, k = self.n_variables, self.log_unary.shape[-1]
        index = np.arange(n).reshape(self.shape)
        ends = np.concatenate(
            [np.stack([a.ravel(), b.ravel()], axis=1) for a, b in self.ends(index)]
        )
        like = np.where(np.eye(k, dtype=bool), 1.0, self.unlike)
        graph = FactorGraph.from_arrays(
            np.full(n, k),
            np.concatenate([np.arange(n), n + 2 * np.arange(len(ends) + 1)]),
            np.concatenate([np.arange(n), ends.ravel()]),
            np.concatenate(
                [self.log_unary.ravel(), (self.all_couplings[:, None, None] * like).ravel()]
            ),
            shape=self.shape,
        )
        clamped = np.flatnonzero(self.evidence >= 0)
        return (
            graph.given({int(i): int(self.evidence[i]) for i in clamped}) if len(clamped) else graph
        )

"""The search for a graph: sparse Ising models by pseudo-likelihood with an L1 penalty.

(Ravikumar, Wainwright and Lafferty, "High-dimensional Ising model selection using L1-regularized
logistic regression", 2010; symmetric as in Hoefling and Tibshirani 2009.) The penalty falls from
the value at which no edge is left; at each value the surviving edges are refitted without it. The
best graph has the least extended BIC (Foygel Barber and Drton 2015), or the best held-out score.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import Interrupted, MethodError, ModelError
from herded.learn.fitting.lbfgs import maximise
from herded.learn.fitting.log_linear import SPIN
from herded.learn.fitting.observations import as_integer_rows
from herded.learn.structure.ising_pseudolikelihood import spin_pseudo_likelihood
from herded.methods.options import check_seed
from herded.models.factor_graph import FactorGraph
from herded.models.pairwise import pairwise_model
from herded.run.interrupts import raises_interrupted
from herded.run.training_helpers import progress_and_interrupt, random_permutation
from herded.system.argument_checks import (
    as_float_array,
    is_number_between,
    is_whole_number,
    short_repr,
)
from herded.system.numerics.exp_log import exp_array, log_array
from herded.system.numerics.stream_purposes import StreamPurpose

MIN_PENALTY_RATIO = 0.02  # the last penalty of a path, as a share of the first
MAX_STEPS, STEP_TOLERANCE = 200, 1e-5


class PathPoint(NamedTuple):
    """A penalty, the edges that survive it, and the score of their graph (lower is better)."""

    penalty: float
    edges: int
    score: float


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """The result of `hd.learn.find_structure`: a sparse Ising model and its graph.

    Attributes
    ----------
    model : FactorGraph
        exp(sum_i h_i s_i + sum_edges J s_i s_j), spins s = -1 and 1 being states 0 and 1.
    edges : ndarray of shape (E, 2)
    couplings : ndarray of shape (E,)
        J of each edge, without the penalty's shrinkage.
    fields : ndarray of shape (N,)
    penalty : float
        The penalty of the chosen graph.
    path : list of PathPoint
        The (penalty, edges, score) of every graph tried.
    interrupted : bool
        Whether Ctrl-C ended the search early, so that it is the `result` of an `Interrupted`.

    Examples
    --------
    >>> rows = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 10 + [[0, 1, 0], [1, 0, 1]]
    >>> found = hd.learn.find_structure(rows)
    >>> found.edges.tolist(), found.path[0].edges
    ([[0, 1]], 0)
    """

    model: FactorGraph
    edges: np.ndarray
    couplings: np.ndarray
    fields: np.ndarray
    penalty: float
    path: list[PathPoint]
    interrupted: bool = False

    def __repr__(self) -> str:
        n = len(self.fields)
        return f"Structure({len(self.edges)} edges between {n} spins, penalty {self.penalty:.3g})"


@raises_interrupted
def find_structure(
    data: ArrayLike,
    *,
    penalties: int | ArrayLike = 15,
    choose: str = "ebic",
    gamma: float = 0.5,
    held_out: float = 0.2,
    names: list[str] | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Structure:
    """Find which pairs of two-state variables interact, and how strongly.

    Parameters
    ----------
    data : array_like of int, shape (rows, N)
        States 0 and 1 of every variable.
    penalties : int or array_like of float
        The number of penalties to try, from the one that leaves no edge down to a fiftieth of it;
        or the penalties themselves.
    choose : {"ebic", "held-out"}
        "ebic" is the extended BIC, which finds the true graph given enough rows. "held-out" is the
        pseudo-likelihood of held-out rows, which predicts better and has more edges.
    gamma : float
        The parameter of the extended BIC, from 0 (BIC) to 1: larger values give fewer edges.
    held_out : float
        The share of the rows to hold out.
    names : list of str, optional
        Names of the variables, for the model.
    seed : int
        The seed of the choice of held-out rows.
    progress : bool, optional
        Whether to show a progress bar on a terminal: only in long runs (None), or never (False).

    Returns
    -------
    Structure
        With `model`, `edges`, `couplings`, `fields`, and the `path` of graphs tried. To fit its
        model by likelihood, call ``fit(found.model, data, groups="ising")``.

    Raises
    ------
    ModelError
        If states are not 0 and 1, a column is constant, or there is only one row.

    Examples
    --------
    A ring of six spins, from a herd of samples:

    >>> ring = hd.ising_grid(np.zeros(6), 0.6, periodic=True)
    >>> rows = hd.infer(ring, hd.Gibbs(herd=500), sweeps=100, keep=[hd.Samples(every=100)]).samples
    >>> found = hd.learn.find_structure(rows.reshape(-1, 6))
    >>> found.edges.tolist()
    [[0, 1], [0, 5], [1, 2], [2, 3], [3, 4], [4, 5]]
    """
    spins = _spins(data)
    if choose not in ("ebic", "held-out"):
        raise MethodError(f'expected choose="ebic" or "held-out", got {short_repr(choose)}')
    if not is_number_between(gamma, 0.0, 1.0):
        raise MethodError(f"expected gamma from 0 to 1, got {short_repr(gamma)}")
    if (
        not is_number_between(held_out, 0.0, 1.0)
        or not 1 <= round(held_out * len(spins)) < len(spins) - 1
    ):
        raise MethodError(
            "expected held_out as a share between 0 and 1 that leaves one row out and two in, got "
            f"{short_repr(held_out)} of {len(spins)} rows"
        )
    check_seed(seed)
    learned, held = PairSpins.of(spins), None
    if choose == "held-out":
        order = random_permutation(len(spins), seed, 0, StreamPurpose.STRUCTURE_HELD_OUT_ROWS)
        count = round(held_out * len(spins))
        learned, held = PairSpins.of(spins[order[count:]]), PairSpins.of(spins[order[:count]])
    tried = _penalties(penalties, learned)
    points: list[PathPoint] = []
    best, best_score = np.zeros(learned.count), np.inf
    with progress_and_interrupt(progress, len(tried), "structure", "penalties") as (bar, stop):
        for penalty, x in _fit_penalty_path(learned, tried):
            fresh = learned.refitted(x)
            edges = int((x[learned.n :] != 0.0).sum())
            score = learned.ebic(fresh, edges, gamma) if held is None else -held.at(fresh)[0]
            points.append(PathPoint(float(penalty), edges, score))
            if score < best_score:
                best, best_score = fresh, score
            bar.update(len(points), f"{edges} edges")
            if stop.is_set():
                break
        chosen = min(points, key=lambda point: point.score)
        found = _structure(learned, best, chosen.penalty, points, names)
        if stop.is_set():
            said = f"interrupted after {len(points)} of {len(tried)} penalties"
            found = replace(found, interrupted=len(points) < len(tried))
            raise Interrupted(f"{said}: error.result has the best result so far", found)
    return found


def _spins(data: ArrayLike) -> np.ndarray:
    """Check the data and return spins (R, N) of -1 and 1."""
    rows = as_integer_rows("data", data, "drop such rows or columns")
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ModelError(f"expected data of shape (rows, 2 or more variables), got {rows.shape}")
    if len(rows) < 2:
        raise ModelError(f"expected two rows of data or more, got {len(rows)}")
    if ((rows < 0) | (rows > 1)).any():
        r, i = (int(a) for a in np.argwhere((rows < 0) | (rows > 1))[0])
        raise ModelError(f"expected states 0 and 1, got {rows[r, i]} of variable {i} in row {r}")
    constant = np.flatnonzero(rows.min(axis=0) == rows.max(axis=0))
    if len(constant):
        i = int(constant[0])
        raise ModelError(
            f"expected variables that vary, but variable {i} is {rows[0, i]} in every row: drop it"
        )
    return 2.0 * rows - 1.0


@dataclass(frozen=True, eq=False)
class PairSpins:
    """Rows of spins; the parameters are the fields, then the couplings of all pairs."""

    spins: np.ndarray  # (R, N), each row once
    weight: np.ndarray  # (R,) the share of each row in the data
    rows: int

    @classmethod
    def of(cls, spins: np.ndarray) -> "PairSpins":
        """Merge equal rows of `spins` (R, N)."""
        unique, counts = np.unique(spins, axis=0, return_counts=True)
        return cls(unique, counts / len(spins), len(spins))

    @property
    def n(self) -> int:
        return int(self.spins.shape[1])

    @property
    def count(self) -> int:
        return self.n + self.n * (self.n - 1) // 2

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the second spin of every pair."""
        first, second = np.triu_indices(self.n, 1)
        return first, second

    def at(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the mean pseudo-likelihood and its gradient."""
        n, (first, second) = self.n, self.pairs
        coupling, of_field = np.zeros((n, n)), np.zeros(n)
        coupling[first, second] = coupling[second, first] = x[n:]
        of_coupling = np.zeros((n, n))
        value = spin_pseudo_likelihood(
            self.spins, self.weight, x[:n], coupling, of_field, of_coupling
        )
        both = of_coupling[first, second] + of_coupling[second, first]
        return float(value), np.concatenate([of_field, both])

    def climbed(
        self, start: np.ndarray, penalty: float, free: np.ndarray | None = None
    ) -> np.ndarray:
        """Maximise under a penalty; only parameters in `free`, if given, may be nonzero."""
        l1 = np.where(np.arange(self.count) < self.n, 0.0, penalty)

        def function(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.at(x)
            return value, gradient if free is None else np.where(free, gradient, 0.0)

        return maximise(function, start, l1, MAX_STEPS, STEP_TOLERANCE).x

    def refitted(self, x: np.ndarray) -> np.ndarray:
        """Refit the same edges with only a tiny penalty, which keeps them finite."""
        free = (np.arange(self.count) < self.n) | (x != 0.0)
        return self.climbed(x, 1e-4, free)

    def ebic(self, x: np.ndarray, edges: int, gamma: float) -> float:
        """Sum the extended BIC over the regressions of all spins, where an edge occurs twice."""
        rows, spins = (float(v) for v in log_array(np.array([self.rows, self.n], np.float64)))
        return -2.0 * self.rows * self.at(x)[0] + 2.0 * edges * (rows + 2.0 * gamma * spins)


def _penalties(given: int | ArrayLike, learned: PairSpins) -> np.ndarray:
    """Return penalties from the largest to the smallest."""
    alone = learned.climbed(np.zeros(learned.count), 1e9)
    most = max(float(np.abs(learned.at(alone)[1][learned.n :]).max()), 1e-12)
    if isinstance(given, int) and is_whole_number(given, 1):
        first, last = (float(end) for end in log_array(np.array([most, MIN_PENALTY_RATIO * most])))
        return exp_array(np.linspace(first, last, given))
    values = as_float_array("penalties", given)
    if values.ndim != 1 or not len(values) or not (np.isfinite(values) & (values > 0.0)).all():
        raise MethodError(
            f"expected penalties as a number of them or as numbers above 0, got {short_repr(given)}"
        )
    return np.sort(values)[::-1]


def _fit_penalty_path(
    learned: PairSpins, penalties: np.ndarray
) -> Iterator[tuple[float, np.ndarray]]:
    """Find the best parameters under each penalty, starting from those of the previous one."""
    x = learned.climbed(np.zeros(learned.count), 1e9)
    for penalty in penalties.tolist():
        x = learned.climbed(x, penalty)
        yield penalty, x


def _structure(
    learned: PairSpins,
    x: np.ndarray,
    penalty: float,
    path: list[PathPoint],
    names: list[str] | None,
) -> Structure:
    n, (first, second) = learned.n, learned.pairs
    fields, every = x[:n], x[n:]
    tied = every != 0.0
    edges, couplings = np.stack([first[tied], second[tied]], axis=1), every[tied]
    tables = couplings[:, None, None] * (SPIN[:, None] * SPIN)
    model = pairwise_model(fields[:, None] * SPIN, edges, tables, names=names)
    return Structure(model, edges, couplings, fields.copy(), penalty, path)

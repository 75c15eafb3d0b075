"""What a run keeps. Each choice is a small frozen object; each chain gets a recorder for it.

Recorders read blocks of samples (`run.recording.recorder_base`).
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from herded.draws.fixed_point import SCALAR_BITS
from herded.errors import MethodError, ModelError
from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.methods.exact.elimination_order import MAX_AXES, MAX_JOINT
from herded.models.protocol import Model
from herded.models.structure_queries import count_joint_states, joint_states_text, neighbour_pairs
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.count_kernels import (
    VARIABLES_PER_GROUP,
    count_ones_in_samples,
    count_pairs_in_samples,
    count_states_in_samples,
    drain_counts,
)
from herded.run.recording.recorder_base import STATES_PER_PASS, Recorder
from herded.system import memory_limits
from herded.system.argument_checks import (
    as_float_array,
    as_integer_array,
    edge_array,
    is_whole_number,
    short_repr,
)
from herded.system.threads import run_ranges


@dataclass(frozen=True)
class Marginals:
    """The marginals P(x_i = k) of every variable.

    Parameters
    ----------
    rao_blackwell
        Whether to average the conditionals that were seen instead of counting states.

    Examples
    --------
    >>> pair = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> hd.infer(pair, sweeps=1000, keep=[hd.Marginals(rao_blackwell=True)]).marginals.shape
    (2, 2)
    """

    rao_blackwell: bool = False

    def recorder(self, layout: Layout) -> "MarginalRecorder":
        """Create the recorder of one chain."""
        return MarginalRecorder(layout)


class MarginalRecorder(Recorder):
    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        # One count per binary variable is enough: the other is what is left.
        self.binary = layout.width == 2 and layout.n_stored > 0
        size = layout.n_stored * (1 if self.binary else layout.width)
        self.arrays = {"counts": np.zeros(size, np.int64), "sweeps": np.zeros(1, np.int64)}

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        if len(state.state_counts):  # known variables are not visited, and not counted
            drain_counts(state.state_counts, self.arrays["counts"])
        elif self.binary:
            groups = -(-block.shape[1] // VARIABLES_PER_GROUP)
            count = partial(count_ones_in_samples, block, self.arrays["counts"])
            if pool is None:
                count(0, groups)
            else:
                run_ranges(
                    count, groups, lambda: np.full(groups, VARIABLES_PER_GROUP * len(block)), pool
                )
        else:
            count_states_in_samples(block, self.layout.width, self.arrays["counts"])
        self.arrays["sweeps"] += len(block) * self.layout.members

    def frequencies(self) -> np.ndarray:
        """Return the visit frequencies so far, (N, K)."""
        counts, sweeps = self.arrays["counts"], int(self.arrays["sweeps"][0])
        found = np.empty((self.layout.model.n_variables, self.layout.width))
        if self.binary:
            found[:, 1] = self.layout.unstore(counts)
            found[:, 0] = sweeps - found[:, 1]
        else:
            found.T[...] = self.layout.unstore(counts.reshape(-1, self.layout.width).T)
        found /= max(sweeps, 1)
        return self._with_known(found)

    def rao_blackwell(self, state: State) -> np.ndarray:
        """Return the averages (N, K) of the conditionals that were visited."""
        sweeps = max(int(self.arrays["sweeps"][0]), 1)
        width = self.layout.width
        if self.layout.scalar:  # all free variables are binary; clamped ones may be wider
            ones = self.layout.unstore(state.conditional_sums) / (sweeps * 2.0**SCALAR_BITS)
            averages = np.zeros((len(ones), width))
            averages[:, :2] = np.stack([1.0 - ones, ones], axis=1)[:, :width]
        else:
            sums = self.layout.unstore(state.conditional_sums.reshape(-1, width).T).T
            # Divided by their sum, because in blocks a variable is visited more or less than once.
            total = sums.sum(axis=1, keepdims=True)
            seen = total > 0
            averages = np.where(seen, sums / np.where(seen, total, 1), self.frequencies())
        return self._with_known(averages)

    def _with_known(self, table: np.ndarray) -> np.ndarray:
        """Return the table with certainty for known variables, never visited."""
        evidence = self.layout.model.evidence
        known = evidence >= 0
        if known.any():
            table[known] = np.arange(table.shape[1]) == evidence[known][:, None]
        return table


@dataclass(frozen=True)
class PairMarginals:
    """The marginals P(x_i = a, x_j = b) of pairs of variables.

    Parameters
    ----------
    edges
        (E, 2) pairs; by default all that share a factor.

    Examples
    --------
    >>> pair = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> hd.infer(pair, sweeps=1000, keep=[hd.PairMarginals()]).pair_marginals[0, 1].shape
    (2, 2)
    """

    edges: ArrayLike | None = None

    def recorder(self, layout: Layout) -> "PairRecorder":
        """Create the recorder of one chain."""
        return PairRecorder(layout, self.edges)


class PairRecorder(Recorder):
    def __init__(self, layout: Layout, edges: ArrayLike | None) -> None:
        super().__init__(layout)
        self.edges = neighbour_pairs(layout.model) if edges is None else _check_edges(layout, edges)
        size = len(self.edges) * layout.width**2
        memory_limits.check_memory(
            8.0 * size, None, "tables of pairs of states", "give fewer edges="
        )
        self.arrays = {"counts": np.zeros(size, np.int64), "sweeps": np.zeros(1, np.int64)}

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        first, second = self.edges[:, 0].copy(), self.edges[:, 1].copy()
        for samples in self.states_in(block):
            count_pairs_in_samples(samples, first, second, self.layout.width, self.arrays["counts"])
            self.arrays["sweeps"] += len(samples)

    def tables(self) -> np.ndarray:
        """Return the frequencies (E, K, K)."""
        k = self.layout.width
        return self.arrays["counts"].reshape(-1, k, k) / max(int(self.arrays["sweeps"][0]), 1)


def _check_edges(layout: Layout, edges: ArrayLike) -> np.ndarray:
    pairs = edge_array("edges", edges)
    n = layout.model.n_variables
    if ((pairs < 0) | (pairs >= n)).any():
        raise ModelError(f"expected edges between variables 0 and {n - 1}, got {short_repr(edges)}")
    return pairs


@dataclass(frozen=True)
class Joint:
    """The empirical joint distribution, for models of at most 2^20 states.

    Examples
    --------
    >>> pair = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> float(hd.infer(pair, sweeps=1000, keep=[hd.Joint()]).joint.sum().round(6))
    1.0
    """

    def recorder(self, layout: Layout) -> "JointRecorder":
        """Create the recorder of one chain."""
        return JointRecorder(layout)


class JointRecorder(Recorder):
    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        cards = layout.model.cardinalities
        states = count_joint_states(cards, MAX_JOINT)
        if states is None or len(cards) > MAX_AXES:
            raise MethodError(
                f"expected at most {MAX_JOINT:,} states and {MAX_AXES} variables to keep the "
                f"joint, got {joint_states_text(cards)} states and {len(cards):,} variables: keep "
                "PairMarginals or Samples instead"
            )
        self.strides = np.concatenate([np.cumprod(cards[:0:-1])[::-1], [1]])
        self.arrays = {"counts": np.zeros(states, np.int64)}

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        counts = self.arrays["counts"]
        for samples in self.states_in(block):
            index = samples.astype(np.int64) @ self.strides
            counts += np.bincount(index, minlength=len(counts))

    def joint(self) -> np.ndarray:
        counts = self.arrays["counts"]
        found: np.ndarray = (counts / max(counts.sum(), 1)).reshape(self.layout.model.cardinalities)
        return found


@dataclass(frozen=True)
class Samples:
    """Every `every`-th sample of a run.

    Parameters
    ----------
    every
        1 keeps all.

    Examples
    --------
    >>> pair = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> hd.infer(pair, hd.HerdedGibbs(), sweeps=100, keep=[hd.Samples(every=10)]).samples.shape
    (1, 10, 2)
    """

    every: int = 1

    def __post_init__(self) -> None:
        if not is_whole_number(self.every, 1):
            raise MethodError(f"expected every to be 1 or more, got {self.every!r}")

    def recorder(self, layout: Layout) -> "SampleRecorder":
        """Create the recorder of one chain."""
        return SampleRecorder(layout, self.every)


class SampleRecorder(Recorder):
    piles: ClassVar[str] = "samples"

    def __init__(self, layout: Layout, every: int) -> None:
        super().__init__(layout)
        self.every = every
        empty = np.empty((0, layout.members, layout.model.n_variables), layout.state_type)
        self.arrays = {"samples": empty, "seen": np.zeros(1, np.int64)}

    def add(self, block: np.ndarray, state: State, pool: Executor | None = None) -> None:
        # Samples number every, 2 every, ... of those seen, counted from 1.
        first = -(int(self.arrays["seen"][0]) + 1) % self.every
        layout, rows = self.layout, block[first :: self.every]
        at_once = max(1, STATES_PER_PASS // max(layout.members * layout.model.n_variables, 1))
        for early in range(0, len(rows), at_once):
            found = layout.members_of(rows[early : early + at_once])
            is_view = np.may_share_memory(found, block) and "samples" not in self.rooms
            self.pile("samples", found.copy() if is_view else found)
        self.arrays["seen"] += len(block)

    def reservable(self) -> Iterator[tuple[str, int]]:
        yield "samples", self.every


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """The mean absolute error of the marginals during a run.

    Parameters
    ----------
    reference
        The true marginals (N, K). The mean is over all entries of free variables.
    at
        Sweeps after which to measure; by default powers of two.
    rao_blackwell
        Whether the marginals are averages of conditionals.

    Examples
    --------
    >>> pair = hd.FactorGraph([2, 2], [((0, 1), [[1.0, 0.0], [0.0, 1.0]])])
    >>> truth = np.full((2, 2), 0.5)
    >>> curve = hd.infer(pair, hd.Gibbs(), sweeps=8, keep=[hd.ErrorCurve(truth)]).curve
    >>> curve.sweeps
    array([1, 2, 4, 8])
    """

    reference: ArrayLike
    at: Sequence[int] | None = None
    rao_blackwell: bool = False

    def sweeps(self, total: int) -> np.ndarray:
        """Return the sweeps, counted after the burn-in, at which the error is measured."""
        if self.at is None:
            powers = 2 ** np.arange(max(total, 1).bit_length())
            return np.unique(np.append(powers[powers <= total], total))
        points = np.unique(as_integer_array("at=", self.at))
        if len(points) and points[0] < 1:
            raise MethodError(f"expected sweeps of 1 or more in at=, got {points[0]}")
        return points[points <= total]

    def check(self, model: Model) -> np.ndarray:
        """Return the reference as (N, K); raise a clear error if it does not fit the model."""
        reference = as_float_array("the reference", self.reference)
        shape = (model.n_variables, int(model.cardinalities.max()))
        if reference.size != shape[0] * shape[1]:
            raise ModelError(
                f"expected reference marginals of shape {shape}, got {reference.shape}"
            )
        return reference.reshape(shape)

    def error(self, model: Model, marginals: np.ndarray) -> float:
        """Return the mean absolute difference from the reference."""
        reference = self.check(model)
        real = np.arange(marginals.shape[1]) < model.cardinalities[:, None]
        real &= (model.evidence < 0)[:, None]
        gap = np.abs(marginals - reference)
        return float(gap[real].mean()) if real.any() else 0.0


KeepArgument = Marginals | PairMarginals | Joint | BestState | Samples | ErrorCurve

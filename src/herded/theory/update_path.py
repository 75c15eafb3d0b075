"""X^(0), X^(1), X^(2), ..: the state after every single update of Algorithm 1.

The scan is 1, 2, .., N, as the appendix assumes "without loss of generality".
"""

import itertools

import numpy as np
from numpy.typing import ArrayLike

from herded.draws.fixed_point import SCALAR_BITS, WEIGHT_BITS
from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.methods.herded_gibbs import HerdedGibbs
from herded.models.constraints.start_states import check_start, start_state
from herded.models.protocol import Model
from herded.run.infer import infer
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.recording.recorders import Samples
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose
from herded.theory.state_space import check_small

MAX_PATH_STATES = 2**20  # joint states of a model whose path is computed


def paper_method(weights: str = "blanket", phases: str = "half", seed: int = 0) -> HerdedGibbs:
    """Build Algorithm 1 with the scan of the proofs and options that the theorems cover."""
    if weights not in ("blanket", "full"):
        raise MethodError(
            f'expected weights="blanket" (Algorithm 1) or "full", which the theorems cover, got '
            f"{weights!r}"
        )
    return HerdedGibbs(weights=weights, scan="sequential", phases=phases, seed=seed)


def starting_state(model: Model, seed: int = 0) -> np.ndarray:
    """Return X^(0) as `infer` chooses it."""
    return start_state(model, stream_key(seed, 0, StreamPurpose.START_STATES))


class ConditionalPlanes:
    """pi(X_i = . | x_N(i)) in fixed point, as the kernels read it."""

    def __init__(self, layout: Layout) -> None:
        t = layout.arrays
        self.scalar = layout.scalar
        self.bits = SCALAR_BITS if layout.scalar else WEIGHT_BITS
        self._p = [int(p) for p in t.p]
        self._width, self._start = t.width.tolist(), t.entry_start.tolist()
        ends = t.neighbour_start.tolist()
        everyone, radix = t.neighbour.tolist(), t.radix.tolist()
        self._near = [
            list(zip(everyone[a:b], radix[a:b], strict=True)) for a, b in itertools.pairwise(ends)
        ]

    def entry(self, i: int, x: list[int]) -> int:
        """Return where the row of variable i for the state x starts."""
        row = 0
        for j, k in self._near[i]:
            row = row * k + x[j]
        found: int = self._start[i] + row * self._width[i]
        return found

    def p(self, i: int, x: list[int]) -> list[int]:
        """Return (p_1) times 2^31 with the scalar rule, or (p_0, .., p_(K-1)) times 2^24."""
        at = self.entry(i, x)
        return self._p[at : at + self._width[i]]


@stop_all_runs_on_interrupt()  # partial runs are useless by themselves
def within_sweep_path(
    model: Model,
    sweeps: int,
    *,
    weights: str = "blanket",
    phases: str = "half",
    seed: int = 0,
    state: ArrayLike | None = None,
) -> np.ndarray:
    """Compute the state after every single update of Algorithm 1, with the scan of the proofs.

    The ends of sweeps, path[N::N], are the samples of `infer` with
    `HerdedGibbs(scan="sequential", phases="half")`.

    Parameters
    ----------
    model : FactorGraph or Lattice
    sweeps : int
    weights : "blanket" or "full"
    phases : "half" or "random"
        The initial weights.
    seed : int
        The seed of the start and of random phases.
    state : array_like of int, shape (N,), optional
        X^(0); by default the start of `infer`.

    Returns
    -------
    ndarray of int, shape (N * sweeps + 1, N)
        path[t] is X^(t).

    Examples
    --------
    >>> model = hd.pairwise_model([[0.0, 0.3], [0.2, 0.0]], [(0, 1)], [[0.2, 0.0], [0.0, 0.2]])
    >>> path = hd.theory.within_sweep_path(model, 100, state=[0, 0])
    >>> path.shape
    (201, 2)
    >>> path[:5].tolist()
    [[0, 0], [1, 0], [1, 0], [0, 0], [0, 0]]
    """
    check_small(model, MAX_PATH_STATES)
    start = starting_state(model, seed) if state is None else check_start(model, state)
    result = infer(
        model,
        paper_method(weights, phases, seed),
        sweeps=sweeps,
        start=start,
        keep=[Samples()],
        layout="table",
        progress=False,
    )
    return path_of_samples(start, result.samples[0])


def path_of_samples(start: ArrayLike, samples: ArrayLike) -> np.ndarray:
    """Reconstruct the states within sweeps from the states at their ends.

    After i steps of a sweep the first i variables have their new values and the others their old.

    Parameters
    ----------
    start : array_like of int, shape (N,)
        X^(0).
    samples : array_like of int, shape (draws, N)
        The states at the ends of sweeps 1, 2, .. of a sequential scan.

    Returns
    -------
    ndarray of int, shape (N * draws + 1, N)

    Examples
    --------
    >>> hd.theory.path_of_samples([0, 0], [[1, 1], [0, 1]]).tolist()
    [[0, 0], [1, 0], [1, 1], [0, 1], [0, 1]]
    """
    ends = np.concatenate([np.asarray(start)[None], np.asarray(samples)]).astype(np.int64)
    old, new = ends[:-1, None, :], ends[1:, None, :]
    n = ends.shape[1]
    renewed = np.arange(n) <= np.arange(n)[:, None]  # (step, variable)
    within = np.where(renewed[None], new, old).reshape(-1, n)
    return np.concatenate([ends[:1], within])

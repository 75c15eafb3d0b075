"""argmax over x of sum_f log_table_f[x_f], where the free variables form chains.

Viterbi, "Error bounds for convolutional codes and an asymptotically optimum decoding algorithm"
(1967): exact, in one pass there and one back. The decoder that section 4.3 of Bornn et al.
(2013) compares with on linear-chain CRFs.

    step                                 runs in
    find the chains                      methods.viterbi.kernels.order_along_chains
    tables along a chain                 methods.viterbi.kernels._tables
    the best state, there and back       methods.viterbi.kernels.decode_chains
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from herded.errors import InfeasibleError, MethodError
from herded.layouts.base import Layout
from herded.layouts.factor_arrays import FactorArrays, compile_factors
from herded.layouts.visit_order import SEQUENTIAL, ScanArrays
from herded.methods.options import Options
from herded.methods.protocol import Answer, SolverCapabilities, SolverLayout
from herded.methods.viterbi import kernels
from herded.models.factor_graph import to_factor_graph
from herded.models.protocol import Model
from herded.system import memory_limits
from herded.system.aligned_arrays import make_read_only
from herded.system.memory_limits import Size


class ViterbiArrays(NamedTuple):
    """The factors, and the variables along their chains."""

    factors: FactorArrays
    scan: ScanArrays


@dataclass
class ViterbiState:
    """The state of Viterbi's algorithm."""

    x: np.ndarray  # (N,) at first the clamped states, then the best
    log_score: float | None = None
    sweep: int = 0
    converged: bool = False


@dataclass(frozen=True)
class Viterbi(Options):
    """The most probable state of chains, exactly, in time linear in their length.

    Raises
    ------
    MethodError
        By `infer`, if the free variables do not form chains.

    Notes
    -----
    `result.best` has the state and its log-score. Of several best states it is the lowest in
    dictionary order along each chain, read from its end of the lower index.

    Examples
    --------
    >>> model = hd.chain_model([[2.0, 0.0], [0.0, 0.5], [0.0, 2.0]], np.eye(2))
    >>> best = hd.infer(model, hd.Viterbi()).best
    >>> best.state, best.log_score
    (array([0, 1, 1]), 5.5)
    """

    capabilities: ClassVar[SolverCapabilities] = SolverCapabilities(in_one_step=True)

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Lay the model out with a scan along the chains, a segment for each."""
        if kind not in (None, "factor"):
            raise MethodError(f'expected the layout "factor" for Viterbi, got {kind!r}')
        graph = to_factor_graph(model)
        need = float(graph.n_variables * graph.cardinalities.max() * 4)
        memory_limits.check_memory(need, max_memory, "a table of the best choices")
        factors = compile_factors(graph)
        scan = _order_along_chains(model, factors, graph.evidence < 0)
        return SolverLayout(
            model=model, method=self, arrays=ViterbiArrays(factors, scan), memory=need
        )

    def init(self, layout: Layout) -> ViterbiState:
        """Return a state with the evidence, and zeros elsewhere."""
        return ViterbiState(np.maximum(layout.model.evidence, 0))

    def advance(self, layout: Layout, state: ViterbiState, sweeps: int) -> None:
        """Solve the whole model, whatever `sweeps` says."""
        if state.converged:
            return
        factors, scan = layout.arrays
        free = layout.model.evidence < 0
        kernels.decode_chains(factors, free, scan.order, scan.segment_start, layout.width, state.x)
        state.log_score = float(layout.model.log_score(state.x))
        if state.log_score == -np.inf:
            raise InfeasibleError(
                "expected some state of positive probability, but the factors and the evidence "
                "together forbid all: correct the hard constraints, or drop evidence"
            )
        state.sweep, state.converged = 1, True

    def answer(self, layout: Layout, state: ViterbiState) -> Answer:
        """Return the best state, once it is found."""
        if not state.converged:
            return Answer(converged=False)
        return Answer(state=state.x.copy(), log_score=state.log_score)


def _order_along_chains(model: Model, factors: FactorArrays, free: np.ndarray) -> ScanArrays:
    """Return the free variables along their chains, or an error that names one that is on none."""
    degree = np.where(free, np.diff(factors.neighbour_start), 0)
    order, chain_start = kernels.order_along_chains(factors, free)
    stray = int(np.argmax(degree))
    reason = f"has {degree[stray]} neighbours"
    if degree[stray] <= 2:
        loop = np.setdiff1d(np.flatnonzero(free), order)
        if not len(loop):
            return make_read_only(ScanArrays(np.array([SEQUENTIAL]), order, chain_start))
        stray, reason = int(loop[0]), "is on a loop, with 2 neighbours"
    name = repr(model.names[stray]) if model.names else stray
    raise MethodError(
        f"expected chains for Viterbi, but variable {name} {reason}: use Exact, or "
        'Gibbs(schedule="linear") and keep BestState'
    )

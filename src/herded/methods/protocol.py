"""What a method is: a frozen dataclass of options with `compile`, `init` and `advance`.

A *sampler* advances a state and writes every sweep's sample into a block; what a run keeps of
them is none of its business. A *solver* advances towards an answer and gives it at the end.
Classes that have these methods are samplers and solvers: nothing need be inherited, and `infer`
takes them like those of the package (docs/how-to/custom-sampler.md).
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.models.protocol import Model
from herded.system.memory_limits import Size


@dataclass(frozen=True)
class Answer:
    """What a solver found; None where its algorithm has nothing to say.

    Parameters
    ----------
    marginals
        (N, K), zero beyond a variable's cardinality.
    log_z
        The log of the normalising constant.
    state, log_score
        The best state (N,), where the method looks for one, and its log-score.
    pairs
        Marginals of pairs of variables that share a factor.
    joint
        (K_0, K_1, ...), for small models.
    converged
        Whether more sweeps would change nothing.

    Examples
    --------
    >>> hd.Answer(marginals=np.full((3, 2), 0.5)).converged
    True
    """

    marginals: np.ndarray | None = None
    log_z: float | None = None
    state: np.ndarray | None = None
    log_score: float | None = None
    pairs: dict[tuple[int, int], np.ndarray] | None = None
    joint: np.ndarray | None = None
    converged: bool = True


@runtime_checkable
class Sampler(Protocol):
    """A method that draws samples, such as `HerdedGibbs` and `Gibbs`.

    A class that derives from it need only write `advance`: the model is then read as it stands, and
    a chain keeps its state and nothing else.

    Examples
    --------
    >>> isinstance(hd.Gibbs(), hd.Sampler), isinstance(hd.Exact(), hd.Sampler)
    (True, False)
    """

    @property
    def seed(self) -> int:
        """Names the streams of random numbers."""

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Lay the model out for this method, in at most `max_memory`."""
        return Layout(model=model, method=self)

    def init(self, layout: Any, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        """The state of chain number `chain` at sweep 0, started at `x` (N,).

        With `tally` it is to sum conditionals (`State.conditional_sums`); `total` sweeps are to
        come.
        """
        if tally:
            raise MethodError(
                f"expected Marginals() without rao_blackwell for {type(self).__name__}, which does "
                "not sum conditionals"
            )
        return State(layout.store(x), chain=chain, total=total)

    def advance(
        self, layout: Any, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        """Run len(block) sweeps; block[s] is the s-th sample, as the layout stores it.

        Adds to `state.sweep`. Layouts that count (`Layout.counts_states`) also take a block
        (sweeps, 0), and keep no samples. `pool` has threads that may help.
        """


@runtime_checkable
class Solver(Protocol):
    """A method that gives an answer: `MeanField`, `BeliefPropagation`, `Viterbi`, `Exact`.

    Examples
    --------
    >>> isinstance(hd.Exact(), hd.Solver), isinstance(hd.Gibbs(), hd.Solver)
    (True, False)
    """

    in_one_step: ClassVar[bool]  # sweeps mean nothing: it is advanced until it has converged

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Lay the model out for this method, in at most `max_memory`."""

    def init(self, layout: Any) -> Any:
        """The state at sweep 0; it has `sweep` and `converged`."""

    def advance(self, layout: Any, state: Any, sweeps: int) -> None:
        """Run sweeps, fewer if it converges."""

    def answer(self, layout: Any, state: Any) -> Answer:
        """What is known at this sweep."""


class SolverLayout(Layout):
    """The layout of solvers that read the factors themselves."""

    kind: ClassVar[str] = "factor"


Method = Sampler | Solver

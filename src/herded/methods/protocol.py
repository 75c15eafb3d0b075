"""The protocol of methods: frozen dataclasses of options with `compile`, `init` and `advance`.

A *sampler* advances a state and writes every sweep's sample into a block; what a run keeps of
them is none of its business. A *solver* advances towards an answer and gives it at the end.
Classes that have these methods are samplers and solvers: nothing need be inherited, and `infer`
takes them like those of the package (docs/how-to/custom-sampler.md).

What a method can do beyond that it declares as an attribute `capabilities`: `SamplerCapabilities`
or `SolverCapabilities`. A class without this attribute has the defaults.
"""

import math
from collections.abc import Hashable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard, runtime_checkable

import numpy as np

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.models.protocol import Model
from herded.system.capabilities import Capabilities, declared_capabilities
from herded.system.memory_limits import Size

if TYPE_CHECKING:
    from herded.layouts.proposal import Proposal
    from herded.moves.protocol import Move


@dataclass(frozen=True)
class Answer:
    """The answer of a solver; None where its algorithm gives none.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerCapabilities(Capabilities):
    """The abilities of a sampler beyond the protocol: its attribute `capabilities`.

    Parameters
    ----------
    members
        Chains that draw together: a herd, where there are several.
    rungs
        Replicas of a chain, each at a temperature of its own.
    is_annealed
        Whether its temperature falls from the first sweep to the last: it looks for the best state.
    herds_in_time
        Whether it keeps weights or phases from sweep to sweep, which balance its samples. Errors
        then say nothing of bias, so that long runs are compared with chains that draw.
    moves
        What changes at once, if not single variables; runs that check its results use it too.
    max_weights
        Contexts whose weights it keeps at most, where tables grow with a run.
    proposes_layouts
        Whether it has the method `propose`, which tells what a layout takes before it is built.
    layout_key
        What its layouts depend on, or None for all of its options.
    kernel_key
        What decides which compiled kernels it calls, besides its class and its layout.

    Examples
    --------
    >>> hd.Gibbs(herd=64).capabilities.members
    64
    """

    members: int = 1
    rungs: int = 1
    is_annealed: bool = False
    herds_in_time: bool = False
    moves: "Move | None" = None
    max_weights: float = math.inf
    proposes_layouts: bool = False
    layout_key: Hashable = None
    kernel_key: Hashable = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverCapabilities(Capabilities):
    """The abilities of a solver beyond the protocol: its attribute `capabilities`.

    Parameters
    ----------
    in_one_step
        Whether sweeps mean nothing to it: it is advanced until it has converged.
    computes_on_request
        Whether it computes no more than it is asked for: `init` takes a second argument, a set of
        fields of the answer, and `find(layout, field)` gives another one later, or None.
    can_save
        Whether its state has `arrays()` and `restore(arrays)`, so that it can have checkpoints.
    counts_parts
        Of a solver in one step: whether its state has `total`, the number of parts of the work, of
        which `sweep` are done.

    Examples
    --------
    >>> hd.Exact().capabilities.in_one_step, hd.MeanField().capabilities.in_one_step
    (True, False)
    """

    in_one_step: bool = False
    computes_on_request: bool = False
    can_save: bool = False
    counts_parts: bool = False


DEFAULT_SAMPLER_CAPABILITIES = SamplerCapabilities()
DEFAULT_SOLVER_CAPABILITIES = SolverCapabilities()


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
        """The seed, which names the streams of random numbers."""

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Lay the model out for this method, in at most `max_memory`."""
        return Layout(model=model, method=self)

    def init(self, layout: Any, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        """Return the state of chain number `chain` at sweep 0, started at `x` (N,).

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

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Layout:
        """Lay the model out for this method, in at most `max_memory`."""

    def init(self, layout: Any) -> Any:
        """Return the state at sweep 0; it has `sweep` and `converged`."""

    def advance(self, layout: Any, state: Any, sweeps: int) -> None:
        """Run sweeps, fewer if it converges."""

    def answer(self, layout: Any, state: Any) -> Answer:
        """Return what is known at this sweep."""


class SolverLayout(Layout):
    """The layout of solvers that read the factors themselves."""

    kind: ClassVar[str] = "factor"


Method = Sampler | Solver


class ProposingSampler(Sampler, Protocol):
    """A sampler that says how much memory a layout takes before it builds it."""

    def propose(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> "Proposal":
        """Return the layout that `compile` would build, and what it would take."""


def sampler_capabilities(method: object) -> SamplerCapabilities:
    """Return what a sampler declares; the defaults if it declares nothing, or for solvers."""
    return declared_capabilities(method, DEFAULT_SAMPLER_CAPABILITIES)


def solver_capabilities(method: object) -> SolverCapabilities:
    """Return what a solver declares; the defaults if it declares nothing, or for samplers."""
    return declared_capabilities(method, DEFAULT_SOLVER_CAPABILITIES)


def proposes_layouts(method: object) -> TypeGuard[ProposingSampler]:
    """Return whether a method is a sampler that has `propose`."""
    return sampler_capabilities(method).proposes_layouts


def has_same_layouts(method: object, other: object) -> bool:
    """Return whether a layout of one method can be used by the other."""
    if type(method) is not type(other):
        return False
    one, two = sampler_capabilities(method), sampler_capabilities(other)
    return (one.layout_key, one.members) == (two.layout_key, two.members)

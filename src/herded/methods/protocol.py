"""What a method is: a frozen dataclass of options with `compile`, `init` and `advance`.

A *sampler* advances a state and writes every sweep's sample into a block; what a run keeps of
them is none of its business. A *solver* advances towards an answer and gives it at the end.
"""

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np

from herded.layouts.choose import Plan


@dataclass(frozen=True)
class Answer:
    """What a solver found; None where its algorithm has nothing to say."""

    marginals: np.ndarray | None = None  # (N, K), zero beyond a variable's cardinality
    log_z: float | None = None
    state: np.ndarray | None = None  # (N,) the best state, where the method looks for one
    log_score: float | None = None
    pairs: dict[tuple[int, int], np.ndarray] | None = None  # marginals of factors' variable pairs
    joint: np.ndarray | None = None  # (K_0, K_1, ...) for small models
    converged: bool = True


@runtime_checkable
class Sampler(Protocol):
    """One shape: `HerdedGibbs`, `Gibbs`, and both annealed."""

    seed: int

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        """Lay the model out for this method."""

    def init(self, plan: Plan, x: np.ndarray, *, chain: int, tally: bool, total: int) -> Any:
        """The state of chain number `chain` at sweep 0, started at `x`."""

    def advance(
        self, plan: Plan, state: Any, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        """Run len(block) sweeps; block[s] is the s-th sample, as the plan stores it.

        Plans that count for themselves also take a block (sweeps, 0), and keep no samples.
        """


@runtime_checkable
class Solver(Protocol):
    """`MeanField`, `BeliefPropagation`, `Viterbi`, `Exact`."""

    one_shot: ClassVar[bool]  # a single advance finishes; sweeps mean nothing

    def compile(self, model: Any, *, kind: str | None = None, cap: float | None = None) -> Plan:
        """Lay the model out for this method."""

    def init(self, plan: Plan) -> Any:
        """The state at sweep 0; it has `sweep` and `converged`."""

    def advance(self, plan: Plan, state: Any, sweeps: int) -> None:
        """Run sweeps, fewer if it converges."""

    def answer(self, plan: Plan, state: Any) -> Answer:
        """What is known at this sweep."""


_roles: WeakKeyDictionary[type, type | None] = WeakKeyDictionary()


def role(method: Any) -> type | None:
    """`Sampler`, `Solver`, or None; asked once for each class, since Python takes its time."""
    kind = type(method)
    if kind not in _roles:
        found = [protocol for protocol in (Sampler, Solver) if isinstance(method, protocol)]
        _roles[kind] = found[0] if found else None
    return _roles[kind]

"""The protocol of layouts: a model as it lies in memory while a method works on it.

`Layout` has what every layout decides: how states are stored, and which tables bits depend on. What
runs ask beyond that has defaults in three classes it derives from:

    run_facts       blocks of samples, threads, components       for runs and checkpoints
    member_access   states of the members of a herd              for recorders and observables
    replica_access  states and reports of a ladder               for log Z and diagnostics
"""

import hashlib
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from herded.draws.protocol import Draw, SweepParameters
from herded.layouts.replica_access import ReplicaAccess
from herded.layouts.run_facts import RunFacts
from herded.layouts.state import State
from herded.models.protocol import Model
from herded.system.aligned_arrays import arrays_in


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout(RunFacts, ReplicaAccess):
    """A model laid out for one method, by default in the model's order of variables.

    Parameters
    ----------
    model
        The model that is laid out.
    method
        The method that it was laid out for.
    arrays
        The arrays that the method's kernels read, in any form.
    memory
        Estimated bytes of those arrays and of what one chain keeps.
    chain_memory
        Estimated bytes of what every further chain keeps.
    scalar
        Whether `State.conditional_sums` sums the conditionals of x = 1, at scale 2^31, or else
        those of all states, at scale 2^24.
    members
        Chains that draw together: a herd, where there are several.

    Examples
    --------
    >>> model = hd.FactorGraph([2, 3], [((0, 1), np.zeros((2, 3)))])
    >>> layout = hd.Layout(model=model, arrays=np.array([1, 0]))
    >>> layout.width, layout.store(np.array([1, 2])).dtype
    (3, dtype('uint8'))
    """

    model: Model
    method: Any = None
    arrays: Any = None
    memory: float = 0.0
    chain_memory: float = 0.0
    scalar: bool = False
    members: int = 1

    kind: ClassVar[str] = "own"
    can_anneal: ClassVar[bool] = False  # whether its conditionals can follow a temperature

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make arrays read-only again, which pickles forget: workers would compile once more."""
        for array in arrays_in(state):
            array.flags.writeable = False
        self.__dict__.update(state)

    def for_method(self, method: object, members: int) -> "Layout | None":
        """Return this layout for a method with another seed or number of members.

        None where another number of members needs another layout.
        """
        return replace(self, method=method) if members == self.members else None

    @cached_property
    def width(self) -> int:
        """The number of states of the largest variable."""
        return int(self.model.cardinalities.max())

    @cached_property
    def n_stored(self) -> int:
        """The length of a state as kernels store it."""
        return int(self.model.n_variables)

    @cached_property
    def state_type(self) -> type[np.integer]:
        """The type of a stored state's entries."""
        return np.uint8 if self.width <= 256 else np.uint16 if self.width <= 65536 else np.int64

    @property
    def signature(self) -> tuple[Any, ...]:
        """A key of the compiled kernels that a run calls."""
        return self.kind, self.width

    def store(self, states: np.ndarray) -> np.ndarray:
        """Return states (..., N) as kernels store them."""
        return np.array(states, dtype=self.state_type)

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        """Return arrays (..., n_stored) of an entry per variable in the model's order (..., N)."""
        return stored

    def values(self, state: State) -> np.ndarray:
        """Return the current states (members, N) of a chain, in the model's order."""
        return self.unstore(state.x.reshape(1, -1)).astype(np.int64)

    def tables(self) -> tuple[np.ndarray, ...]:
        """Return the arrays that the bits of a run depend on."""
        return ()

    @cached_property
    def hash(self) -> str:
        """Name the tables: equal hashes mean equal bits on every machine."""
        digest, tables = hashlib.sha256(), self.tables()
        for array in tables:
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return digest.hexdigest()[:16] if tables else "none"

    @cached_property
    def bytes(self) -> int:
        """The memory of its arrays."""
        return sum(array.nbytes for array in arrays_in(self.arrays))


class SweepCall(NamedTuple):
    """One call of `SweepableLayout.sweep`."""

    state: State
    block: np.ndarray  # (sweeps, sample_size) room for samples, or (sweeps, 0)
    step: SweepParameters
    betas: np.ndarray | None = None  # inverse temperatures of the sweeps, all 1 if None
    pool: Executor | None = None  # threads that may help

    @property
    def inverse_temperatures(self) -> np.ndarray:
        """(sweeps,) inverse temperatures, all 1 if none are given."""
        return np.ones(len(self.block)) if self.betas is None else self.betas


class SweepableLayout(Layout):
    """A layout whose kernels move variables, or blocks of them, by a draw."""

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        """Return one chain's weights, half way or at random from the stream `key`."""
        raise NotImplementedError

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        """Start a chain at the state `x` (N,)."""
        raise NotImplementedError

    def sweep(self, call: SweepCall) -> None:
        """Advance the state of `call` by its sweeps; the caller counts them (`State.sweep`)."""
        raise NotImplementedError

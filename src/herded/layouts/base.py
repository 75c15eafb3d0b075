"""What a layout is: a model as it lies in memory while a method works on it."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from herded.draws.protocol import Draw, SweepParameters
from herded.layouts.packing.member_bits import BitPlaces
from herded.layouts.state import State
from herded.models.protocol import Model
from herded.system.aligned_arrays import arrays_in


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout:
    """A model laid out for one method; as it stands, in the model's own order.

    Parameters
    ----------
    model
        What is laid out.
    method
        What it was laid out for.
    arrays
        What the method's kernels read: room for a method's own arrays.
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
    min_block_sweeps: ClassVar[int] = 1  # sweeps that a block of samples holds at least
    # whether kernels count the samples with x = 1 (`State.state_counts`)
    counts_states: ClassVar[bool] = False
    is_herd: ClassVar[bool] = False  # whether it is for herds
    can_anneal: ClassVar[bool] = False  # whether its conditionals can follow a temperature
    has_report: ClassVar[bool] = False  # whether it has a `report` for results
    estimates_log_z: ClassVar[bool] = False  # whether its rungs lead to where log Z is known
    crosses_hard_zeros: ClassVar[bool] = False  # whether hard zeros are no walls for its moves

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Pickles forget what is read-only, a part of types: workers would compile anew."""
        for array in arrays_in(state):
            array.flags.writeable = False
        self.__dict__.update(state)

    def for_method(self, method: Any, members: int) -> "Layout | None":
        """This layout for a method that differs in its seed, or in the members of its herd.

        None where another number of members needs another layout.
        """
        return replace(self, method=method) if members == self.members else None

    @cached_property
    def width(self) -> int:
        """States of the largest variable."""
        return int(self.model.cardinalities.max())

    @cached_property
    def n_stored(self) -> int:
        """Length of a state as kernels store it."""
        return int(self.model.n_variables)

    @cached_property
    def state_type(self) -> Any:
        """The type of a stored state's entries."""
        return np.uint8 if self.width <= 256 else np.uint16 if self.width <= 65536 else np.int64

    @property
    def n_parallel_parts(self) -> int:
        """How many parts of one chain's work can be done side by side."""
        return 1

    @property
    def variable_blocks(self) -> tuple[np.ndarray, ...] | None:
        """The sets of variables that change at once, or None where one changes at a time."""
        return None

    @property
    def visits(self) -> int:
        """How often a sweep visits a variable at most."""
        return 1

    @property
    def has_growing_memory(self) -> bool:
        """Whether what a chain keeps grows with the run."""
        return False

    @property
    def signature(self) -> tuple[Any, ...]:
        """What decides which compiled kernels a run calls."""
        return self.kind, self.width

    def store(self, states: np.ndarray) -> np.ndarray:
        """States (..., N) as kernels store them."""
        return np.array(states, dtype=self.state_type)

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        """Arrays (..., n_stored) of one entry per variable, in the model's order (..., N)."""
        return stored

    @property
    def sample_size(self) -> int:
        """Entries of one row of a block of samples."""
        return self.n_stored

    @property
    def sample_type(self) -> Any:
        """The type of the entries of a block of samples."""
        return self.state_type

    def members_of(self, block: np.ndarray) -> np.ndarray:
        """The samples in a block (rows, sample_size) as states (rows, members, N)."""
        return self.unstore(block)[:, None]

    def some_members_of(self, block: np.ndarray, first: int, last: int) -> np.ndarray:
        """The samples (rows, last - first, N) of the members `first` to `last` - 1 alone.

        Of members that are bits these must be whole words of 64, or lie within one word.
        """
        return self.members_of(block)[:, first:last]

    def some_values(self, state: State, first: int, last: int) -> np.ndarray:
        """The current states (last - first, N) of some members, in any type of whole numbers."""
        return self.values(state)[first:last]

    @property
    def bit_places(self) -> BitPlaces | None:
        """Where the members of a herd are, if they are bits."""
        return None

    def words_of(self, block: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
        """The samples in a block as words (rows, words, planes, N), if members are bits.

        Only the words `first` to `last` - 1, if given.
        """
        raise NotImplementedError

    def replicas_of(self, block: np.ndarray) -> np.ndarray:
        """The same with what else a chain has visited, such as the hotter rungs of a ladder."""
        return self.members_of(block)

    @property
    def n_replicas(self) -> int:
        """How many states `replicas_of` gives for a sweep."""
        return self.members

    def some_replicas_of(self, block: np.ndarray, first: int, last: int) -> np.ndarray:
        """As `some_members_of`, of all replicas."""
        return self.some_members_of(block, first, last)

    def values(self, state: State) -> np.ndarray:
        """The current states (members, N) of a chain, in the model's order."""
        return self.unstore(state.x.reshape(1, -1)).astype(np.int64)

    def replicas(self, state: State) -> np.ndarray:
        """The same with all other states that a chain has, in the model's order."""
        return self.values(state)

    def report(self, states: Sequence[State]) -> dict[str, Any]:
        """Facts for a result's provenance, of chains that were at `states` in the end."""
        return {}

    def warnings(self, states: Sequence[State]) -> list[str]:
        """What speaks against results of such chains, as sentences."""
        return []

    def end_burn_in(self, state: State) -> None:
        """Called when samples begin to be recorded: what adapts stays as it is from here on."""

    def states_at_burn_in_end_and_now(
        self, state: State, step: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """The states (members, V) of a herd when its burn-in ended, and those of now.

        Of every so many variables one.
        """
        raise NotImplementedError

    def new_counts(self) -> np.ndarray:
        """Room to count the states of a block of samples in (`State.state_counts`)."""
        return np.zeros(self.n_stored, np.uint8)

    def fill(self, block: np.ndarray, state: State) -> None:
        """Write into a block of samples what no sweep writes: the states of known variables."""
        block[:] = state.x

    def components(self) -> np.ndarray | None:
        """(N,) numbers of the connected components of free variables, or None for one in all."""
        return None

    def tables(self) -> tuple[np.ndarray, ...]:
        """The numbers that the bits of a run depend on."""
        return ()

    @cached_property
    def hash(self) -> str:
        """Names the tables: equal hashes mean equal bits on every machine."""
        digest, tables = hashlib.sha256(), self.tables()
        for array in tables:
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return digest.hexdigest()[:16] if tables else "none"

    @cached_property
    def bytes(self) -> int:
        """What its arrays take."""
        return sum(array.nbytes for array in arrays_in(self.arrays))


class SweepCall(NamedTuple):
    """The arguments of one call of `SweepableLayout.sweep`."""

    state: State
    block: np.ndarray
    step: SweepParameters
    betas: np.ndarray | None
    pool: Executor | None

    @property
    def inverse_temperatures(self) -> np.ndarray:
        """(sweeps,) inverse temperatures, all 1 if none are given."""
        return np.ones(len(self.block)) if self.betas is None else self.betas


class SweepableLayout(Layout):
    """A layout whose kernels move variables, or blocks of them, by a draw."""

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        """The weights of one chain, half way or at random places of the stream `key`."""
        raise NotImplementedError

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        """A chain that starts at the state `x` (N,)."""
        raise NotImplementedError

    def sweep(
        self,
        state: State,
        block: np.ndarray,
        step: SweepParameters,
        betas: np.ndarray | None = None,
        pool: Executor | None = None,
    ) -> None:
        """Advance `state` by len(block) sweeps; samples go into `block`, if it has room.

        `betas` are the inverse temperatures of the sweeps, all 1 if None.
        """
        end = state.sweep + len(block)
        self.run_kernels(SweepCall(state, block, step, betas, pool))
        state.sweep = end

    def run_kernels(self, call: SweepCall) -> None:
        """Do the sweeps of `call`; `sweep` counts them."""
        raise NotImplementedError

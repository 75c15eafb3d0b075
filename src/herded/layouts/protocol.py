"""What a layout is: a model as it lies in memory while a method works on it."""

import hashlib
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from herded.draws.protocol import Draw, Step
from herded.layouts.state import State
from herded.models.protocol import Model
from herded.system.arrays import arrays_in


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
        Whether `State.tally` sums the conditionals of x = 1, at scale 2^31, or else those of all
        states, at scale 2^24.

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

    kind: ClassVar[str] = "own"
    least_block: ClassVar[int] = 1  # sweeps that a block of samples holds at least
    counts: ClassVar[bool] = False  # whether kernels count the samples with x = 1 (`State.ones`)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Pickles forget what is read-only, a part of types: workers would compile anew."""
        for array in arrays_in(state):
            array.flags.writeable = False
        self.__dict__.update(state)

    @cached_property
    def width(self) -> int:
        """States of the largest variable."""
        return int(self.model.cardinalities.max())

    @property
    def n_stored(self) -> int:
        """Length of a state as kernels store it."""
        return int(self.model.n_variables)

    @cached_property
    def state_type(self) -> Any:
        """The type of a stored state's entries."""
        return np.uint8 if self.width <= 256 else np.uint16 if self.width <= 65536 else np.int64

    @property
    def parts(self) -> int:
        """How many parts of one chain's work can be done side by side."""
        return 1

    @property
    def grows(self) -> bool:
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

    def values(self, state: State) -> np.ndarray:
        """The current state (N,) of a chain, in the model's order."""
        return self.unstore(state.x.reshape(-1)).astype(np.int64)

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
        digest = hashlib.sha256()
        for array in self.tables():
            digest.update(array.tobytes())
        return digest.hexdigest()[:16] if self.tables() else "none"

    @cached_property
    def bytes(self) -> int:
        """What its arrays take."""
        return sum(array.nbytes for array in arrays_in(self.arrays))


class SweptLayout(Layout):
    """A layout whose kernels move single variables, each by a draw."""

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
        step: Step,
        betas: np.ndarray | None = None,
        pool: Executor | None = None,
    ) -> None:
        """Advance `state` by len(block) sweeps; samples go into `block`, if it has room.

        `betas` are the inverse temperatures of the sweeps, all 1 if None.
        """
        raise NotImplementedError

    def can_sweep_many(self, states: list[State]) -> bool:
        """Whether there is a kernel for these chains at once, and enough of them to be worth it."""
        return False

    def sweep_many(self, chains: Any, blocks: np.ndarray, sweeps: int, steps: list[Step]) -> None:
        """Advance several chains at once (`layouts.side_by_side`), with the bits of one by one."""
        raise NotImplementedError

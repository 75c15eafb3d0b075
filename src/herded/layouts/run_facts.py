"""The facts of a layout that a run needs before it starts: blocks of samples, and sharing.

`run.sampler_run` and `run.memory` size blocks and threads by these facts, recorders read blocks,
and `run.checkpoints` and `run.diagnostics` check what a run can have done.
"""

from typing import ClassVar

import numpy as np

from herded.layouts.state import State


class RunFacts:
    """Facts of a layout that runs need; the defaults are those of states as they are stored."""

    min_block_sweeps: ClassVar[int] = 1  # sweeps that a block of samples holds at least
    # whether kernels count the samples with x = 1 (`State.state_counts`)
    counts_states: ClassVar[bool] = False

    @property
    def n_stored(self) -> int:
        """Length of a state as kernels store it."""
        raise NotImplementedError

    @property
    def state_type(self) -> type[np.integer]:
        """The type of a stored state's entries."""
        raise NotImplementedError

    # -- blocks of samples -------------------------------------------------------------------

    @property
    def sample_size(self) -> int:
        """Entries of one row of a block of samples."""
        return self.n_stored

    @property
    def sample_type(self) -> type[np.integer]:
        """The type of the entries of a block of samples."""
        return self.state_type

    def fill(self, block: np.ndarray, state: State) -> None:
        """Write into a block of samples what no sweep writes: the states of known variables."""
        block[:] = state.x

    def new_counts(self) -> np.ndarray:
        """Allocate counts of the states in a block of samples (`State.state_counts`)."""
        return np.zeros(self.n_stored, np.uint8)

    # -- what a sweep does -------------------------------------------------------------------

    @property
    def n_parallel_parts(self) -> int:
        """How many parts of one chain's work can be done at the same time."""
        return 1

    @property
    def has_growing_memory(self) -> bool:
        """Whether what a chain keeps grows with the run."""
        return False

    @property
    def visits(self) -> int:
        """How often a sweep visits a variable at most."""
        return 1

    @property
    def variable_blocks(self) -> tuple[np.ndarray, ...] | None:
        """The sets of variables that change at once, or None where one changes at a time."""
        return None

    def components(self) -> np.ndarray | None:
        """Return (N,) numbers of the free variables' connected components; None for one."""
        return None

"""The state: everything in a chain that changes. A checkpoint holds this and the records."""

from dataclasses import dataclass, field, replace

import numpy as np

from herded.errors import CheckpointError
from herded.layouts.hashed_weights import can_have_grown_from, compact_tables, has_hash_tables
from herded.system.aligned_arrays import aligned_copy

EMPTY_INTEGERS = np.zeros(0, np.int64)  # of what a state does not have


@dataclass
class State:
    """A chain between two sweeps.

    Parameters
    ----------
    x
        The current state, as the layout stores it.
    method_arrays
        Arrays that the method keeps between sweeps, by name, such as weights.
    conditional_sums
        Sums of the conditionals seen, for Rao-Blackwellised marginals; empty if not asked for.
    sweep
        How many sweeps it has done.
    chain
        Its number.
    total
        How many sweeps it was started for: what an annealing schedule needs.
    state_counts
        How often each variable was 1 since the counts were last taken, by layouts that count;
        empty if not asked for. They are taken after every block and are no part of a checkpoint.

    Examples
    --------
    >>> state = hd.State(np.array([0, 1]), method_arrays={"energy": np.zeros(1)})
    >>> sorted(state.arrays())
    ['energy', 'numbers', 'tally', 'x']
    """

    x: np.ndarray
    method_arrays: dict[str, np.ndarray] = field(default_factory=dict)
    conditional_sums: np.ndarray = field(default_factory=lambda: EMPTY_INTEGERS)
    sweep: int = 0
    chain: int = 0
    total: int = 0
    state_counts: np.ndarray = field(default_factory=lambda: EMPTY_INTEGERS)

    def copy(self) -> "State":
        """Return a state that shares nothing with this one."""
        own = {name: aligned_copy(array) for name, array in self.method_arrays.items()}
        x, tally, ones = self.x.copy(), self.conditional_sums.copy(), self.state_counts.copy()
        return replace(self, x=x, method_arrays=own, conditional_sums=tally, state_counts=ones)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything, as arrays with names."""
        numbers = np.array([self.sweep, self.chain, self.total])
        own = self.method_arrays
        if has_hash_tables(own):
            own = compact_tables(own, int(own["slots"].sum()))
        return {"numbers": numbers, "x": self.x, "tally": self.conditional_sums, **own}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Become the state that `arrays` was taken from; arrays in use are not copied."""
        mine = {"x": self.x, "tally": self.conditional_sums, **self.method_arrays}
        hashed = has_hash_tables(self.method_arrays)
        unknown = sorted(arrays.keys() - mine.keys() - {"numbers"})
        if unknown or len(arrays.get("numbers", ())) != 3:
            got = f"also {unknown[0]}" if unknown else "no numbers"
            raise CheckpointError(
                f"expected {', '.join(mine)} as a state of this run, got {got}: the state is of "
                "another run"
            )
        for name, old in mine.items():
            found, shape = arrays.get(name), old.shape
            if name in ("keys", "w") and hashed:  # hash tables may have grown
                slots = int(np.sum(arrays.get("slots", 0)))
                shape = (len(old) // max(1, len(mine["keys"])) * slots,)
            if found is None or found.shape != shape or found.dtype != old.dtype:
                got = "nothing" if found is None else f"{found.shape} {found.dtype}"
                raise CheckpointError(
                    f"expected {shape} {old.dtype} as {name} of a state of this run, got {got}: "
                    "the state is of another run"
                )
        if hashed and not can_have_grown_from(mine, arrays):
            raise CheckpointError(
                "expected tables of hashed weights that grew from those of this run, got others: "
                "the state is of another run"
            )
        self.sweep, self.chain, self.total = (int(n) for n in arrays["numbers"])
        if arrays["x"] is not self.x:
            self.x = np.array(arrays["x"])
        if arrays["tally"] is not self.conditional_sums:
            self.conditional_sums = np.array(arrays["tally"])
        self.method_arrays = {
            name: old if arrays[name] is old else aligned_copy(arrays[name])
            for name, old in self.method_arrays.items()
        }

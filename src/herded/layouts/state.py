"""State: all of a sampler that changes. A checkpoint is this and what was recorded."""

from dataclasses import dataclass, field, replace

import numpy as np

from herded.errors import CheckpointError
from herded.layouts.arrays import Memory
from herded.layouts.choose import Plan
from herded.layouts.grid import with_border
from herded.layouts.hash_tables import could_be, without_gaps
from herded.layouts.scan import JACOBI
from herded.system.arrays import aligned_copy

# of what a state does not have
NOTHING, NO_KEYS, NO_COUNTS = np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.uint8)


@dataclass
class State:
    """One chain between two sweeps."""

    memory: Memory
    sweep: int  # how many sweeps it has done
    chain: int
    total: int  # how many it was started for: what an annealing schedule needs
    # Samples with x = 1, by plans that count them, since somebody took them: after every block, so
    # that they are no part of a checkpoint. Empty if not asked for.
    ones: np.ndarray = field(default_factory=lambda: NO_COUNTS)

    def copy(self) -> "State":
        """A state that shares nothing with this one."""
        x, y, w, *rest = self.memory
        new_x = x.copy()
        new_y = new_x if y is x else y.copy()
        rest = [aligned_copy(w), *(array.copy() for array in rest)]
        return replace(self, memory=Memory(new_x, new_y, *rest), ones=self.ones.copy())

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, as arrays with names."""
        numbers = np.array([self.sweep, self.chain, self.total])
        memory = self.memory
        if len(memory.slots):
            memory = without_gaps(memory, int(memory.slots.sum()))
        return {"numbers": numbers, **memory._asdict()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Become the state that `arrays` was taken from."""
        self.sweep, self.chain, self.total = (int(n) for n in arrays["numbers"])
        parts = {name: np.array(arrays[name]) for name in Memory._fields}
        for name, old in self.memory._asdict().items():
            shape = old.shape
            if name in ("keys", "w") and len(self.memory.slots):  # the tables may have grown
                shape = (len(old) // len(self.memory.keys) * int(parts["slots"].sum()),)
            if parts[name].shape != shape or parts[name].dtype != old.dtype:
                raise CheckpointError(
                    f"expected {shape} {old.dtype} as {name} of a state of this run, got "
                    f"{parts[name].shape} {parts[name].dtype}: the state is of another run"
                )
        tables = (parts[name] for name in ("slot_start", "slots", "keys", "filled"))
        if not could_be(self.memory, *tables):
            raise CheckpointError(
                "expected tables of hashed weights that grew from those of this run, got others: "
                "the state is of another run"
            )
        if self.memory.y is self.memory.x:
            parts["y"] = parts["x"]
        parts["w"] = aligned_copy(parts["w"])
        self.memory = Memory(**parts)

    def values(self, plan: Plan) -> np.ndarray:
        """The current state (N,) in the model's order."""
        x = self.memory.x
        inside = x if plan.lattice is None else x[:, 1:-1, 1:-1]
        return plan.unstore(inside.reshape(-1)).astype(np.int64)


def start(plan: Plan, x: np.ndarray, weights: np.ndarray, chain: int, tally: bool, total: int):
    """The state at sweep 0 of a chain that starts at `x` (N,) with the given weights."""
    stored = plan.store(x)
    if plan.lattice is not None:
        stored = with_border(stored, plan.lattice, plan.model.shape[0])
    jacobi = plan.scan is not None and plan.scan.policy[0] == JACOBI
    size = plan.n_stored * (1 if plan.scalar else plan.width)
    memory = Memory(
        x=stored,
        y=stored.copy() if jacobi else stored,
        w=weights,
        tally=np.zeros(size, np.int64) if tally else NOTHING,
        keys=NO_KEYS,
        slot_start=NOTHING,
        slots=NOTHING,
        filled=NOTHING,
    )
    return State(memory, 0, chain, total)

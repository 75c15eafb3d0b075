"""The progress of the run that a checkpoint holds, and the method that it was started with."""

import math
import os
from typing import Any, NamedTuple

from herded.errors import MethodError
from herded.methods.protocol import Method
from herded.methods.serialization import method_from_dict, method_to_dict
from herded.run.checkpoints import checkpoint_file
from herded.system.atomic_files import FilePath

MAX_CLAIMED_SWEEPS = 10**15  # sweeps that a checkpoint may claim


class CheckpointHeader(NamedTuple):
    """The progress of a run that has a checkpoint."""

    burn_in: int
    done: int
    seconds: float  # since its first start, without pauses
    method: Method | None  # None if it cannot be made from JSON: a method of another package
    chains: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can write it."""
        method = None if self.method is None else method_to_dict(self.method)
        return {**self._asdict(), "method": method}

    @property
    def recorded(self) -> int:
        """Sweeps after the burn-in."""
        return max(0, self.done - self.burn_in)


def read_checkpoint_header(path: FilePath) -> CheckpointHeader | None:
    """Read how far the run of a checkpoint is; a resumed run keeps its burn-in."""
    if not os.path.exists(path):
        return None
    header: dict[str, Any] = checkpoint_file.read_header(path) or {}
    try:
        method = method_from_dict(header.get("method"))
    except MethodError:
        method = None
    begun = CheckpointHeader(
        header.get("burn_in", -1),
        header.get("done", -1),
        header.get("seconds", -1),
        method,
        header.get("chains", -1),
    )
    numbers = begun.burn_in, begun.done, begun.chains
    counts = all(isinstance(value, int) and 0 <= value <= MAX_CLAIMED_SWEEPS for value in numbers)
    timed = isinstance(begun.seconds, (int, float)) and 0 <= begun.seconds < math.inf
    return begun if counts and timed else None  # resuming it reports what is wrong

"""How far the run is that a checkpoint holds, and with which method it was begun."""

import ast
import math
import os
import re
from typing import Any, NamedTuple

from herded.errors import MethodError
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.moves.blocks.move import Blocks
from herded.run.checkpoints import checkpoint_file
from herded.system.atomic_files import FilePath

MAX_CLAIMED_SWEEPS = 10**15  # sweeps that a checkpoint may claim
MAX_METHOD_CHARS = 1000  # characters of a method


class CheckpointHeader(NamedTuple):
    """How far a run is that has a checkpoint."""

    burn_in: int
    done: int
    seconds: float  # since its first start, without pauses
    herd: int  # members that draw together
    method: str  # as it shows itself
    chains: int

    @property
    def recorded(self) -> int:
        """Sweeps after the burn-in."""
        return max(0, self.done - self.burn_in)


def read_checkpoint_header(path: FilePath) -> CheckpointHeader | None:
    """The run that a checkpoint holds: one that goes on keeps its burn-in, and what it has done."""
    if not os.path.exists(path):
        return None
    header: dict[str, Any] = checkpoint_file.read_header(path) or {}
    method = str(header.get("method"))[:MAX_METHOD_CHARS]
    members = re.search(r"herd=(\d{1,5})\b", method)
    begun = CheckpointHeader(
        header.get("burn_in", -1),
        header.get("done", -1),
        header.get("seconds", -1),
        int(members[1]) if members else 1,
        method,
        header.get("chains", -1),
    )
    numbers = begun.burn_in, begun.done, begun.chains
    counts = all(isinstance(value, int) and 0 <= value <= MAX_CLAIMED_SWEEPS for value in numbers)
    timed = isinstance(begun.seconds, (int, float)) and 0 <= begun.seconds < math.inf
    return begun if counts and timed else None  # whoever resumes it says what is wrong


def _options(call: ast.Call) -> dict[str, Any]:
    """What a method is called with: values, and blocks."""
    found: dict[str, Any] = {}
    for word in call.keywords:
        value = word.value
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "Blocks":
            found[str(word.arg)] = Blocks(**_options(value))
        else:
            found[str(word.arg)] = ast.literal_eval(value)
    return found


def method_from_json(text: str) -> Gibbs | HerdedGibbs | None:
    """A method from the way it shows itself, such as "Gibbs(herd=64, seed=0)"."""
    known: dict[str, type[Gibbs | HerdedGibbs]] = {"Gibbs": Gibbs, "HerdedGibbs": HerdedGibbs}
    try:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            return known[call.func.id](**_options(call))
    except (SyntaxError, ValueError, KeyError, TypeError, MethodError, RecursionError, MemoryError):
        return None
    return None

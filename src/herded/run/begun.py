"""How far the run is that a checkpoint holds, and with which method it was begun."""

import ast
import math
import os
import re
from typing import Any, NamedTuple

from herded.errors import MethodError
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.moves.blocks import Blocks
from herded.run import checkpoint_file
from herded.system.atomic import FilePath

MOST = 10**15  # sweeps that a checkpoint may claim
LONGEST = 1000  # characters of a method


class Begun(NamedTuple):
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


def read_begun(path: FilePath) -> Begun | None:
    """The run that a checkpoint holds: one that goes on keeps its burn-in, and what it has done."""
    if not os.path.exists(path):
        return None
    found = checkpoint_file.read(path)
    header: dict[str, Any] = found[0] if found else {}
    method = str(header.get("method"))[:LONGEST]
    members = re.search(r"herd=(\d{1,5})\b", method)
    begun = Begun(
        header.get("burn_in", -1),
        header.get("done", -1),
        header.get("seconds", -1),
        int(members[1]) if members else 1,
        method,
        header.get("chains", -1),
    )
    numbers = begun.burn_in, begun.done, begun.chains
    counts = all(isinstance(value, int) and 0 <= value <= MOST for value in numbers)
    timed = isinstance(begun.seconds, (int, float)) and 0 <= begun.seconds < math.inf
    return begun if counts and timed else None  # whoever resumes it says what is wrong


KNOWN: dict[str, Any] = {
    "Gibbs": Gibbs,
    "HerdedGibbs": HerdedGibbs,
    "Blocks": Blocks,
}


def read_method(text: str) -> Gibbs | HerdedGibbs | None:
    """A method from the way it shows itself, such as "Gibbs(herd=64, seed=0)"."""
    try:
        found = _read(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, KeyError, TypeError, MethodError, RecursionError, MemoryError):
        return None
    return found if isinstance(found, (Gibbs, HerdedGibbs)) else None


def _read(node: ast.expr) -> Any:
    """A call of one of ours, or plain values."""
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    if not isinstance(node.func, ast.Name) or node.args:
        raise ValueError
    return KNOWN[node.func.id](**{str(word.arg): _read(word.value) for word in node.keywords})

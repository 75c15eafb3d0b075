"""Memory that an earlier result holds while another run is made for the same answer.

A limit of memory is that of the whole answer: a later run may use what earlier results leave of it.
"""

from dataclasses import replace

import numpy as np

from herded.run.result import Result
from herded.system import memory_limits
from herded.system.aligned_arrays import arrays_in
from herded.system.memory_limits import Size


def bytes_of_result(result: Result) -> float:
    """Return the bytes of the arrays that a result keeps, each counted once."""
    states = [
        [one.x, one.conditional_sums, one.state_counts, one.method_arrays]
        for one in result.state or ()
    ]
    observables = result.kept.get("observables") or {}
    series = [one.values for one in observables.values() if one.values is not None]
    owners: dict[int, int] = {}
    for array in arrays_in([list(result.kept.values()), states, series]):
        owner: np.ndarray = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        owners[id(owner)] = owner.nbytes
    return float(sum(owners.values()))


def remaining_limit(max_memory: Size | None, held: float) -> Size | None:
    """Return the part of a limit that is not held; None where free memory is the limit."""
    if max_memory is None or not held:
        return max_memory
    return max(1.0, memory_limits.memory_limit(max_memory) - held)


def with_memory(result: Result, at_most: float) -> Result:
    """Return the result, whose memory is that of all runs of its answer, if they took more."""
    facts = result.provenance
    if at_most <= facts.get("memory_at_most", 0.0):
        return result
    return replace(result, provenance={**facts, "memory_at_most": at_most})

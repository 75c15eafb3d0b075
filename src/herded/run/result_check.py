"""Compare a result with short runs of other methods or from other starts."""

import threading

from herded.methods.protocol import sampler_capabilities
from herded.run.diagnostics.length_diagnostics import needs_other_starts
from herded.run.memory.held_results import remaining_limit
from herded.run.query import Query, is_solver
from herded.run.result import Result
from herded.system.memory_limits import Size


def check_result(result: Result, query: Query, stop: threading.Event) -> Result:
    """Return the result with what other runs tell of it; `stop` is set where nobody waits for them.

    Imports are late for the sake of the start-up time: most runs have no use for belief propagation
    and elimination.
    """
    method, seconds = query.method, query.budget.seconds
    if is_solver(method):
        from herded.run.diagnostics.cross_check import add_solver_diagnostics  # for start-up time

        return add_solver_diagnostics(result, query.max_memory)
    capabilities, facts = sampler_capabilities(method), result.provenance
    is_whole = facts["chains"] > 1 and not facts["interrupted"]
    if capabilities.herds_in_time and not capabilities.is_annealed and is_whole:
        from herded.run.diagnostics.cross_check import add_herd_cross_check  # for start-up time

        result = add_herd_cross_check(result, seconds, _remaining_limit(query, result))
    if not stop.is_set() and needs_other_starts(result):
        from herded.run.diagnostics.start_check import with_other_starts  # for start-up time

        result = with_other_starts(result, _remaining_limit(query, result), seconds)
    return result


def _remaining_limit(query: Query, result: Result) -> Size | None:
    """Return the memory that the run of a result leaves for another."""
    return remaining_limit(query.max_memory, result.provenance.get("memory_at_most", 0.0))

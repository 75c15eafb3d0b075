"""Rounds of annealing until the time is up; the best state of all of them counts."""

import time
from dataclasses import replace
from typing import Any, cast

from herded.run.execute import execute
from herded.run.query import Query
from herded.run.result import Result
from herded.run.result_check import check_result

FIRST_ROUND_SWEEPS = 1000  # sweeps


def anneal_until_time_is_up(query: Query, seconds: float) -> Result:
    """Run the annealed method of `query` in rounds, and return that with the best state.

    A temperature falls over a known number of sweeps, so each round is twice as long as the one
    before, and has other draws.
    """
    method = cast(Any, query.method)
    began, best, sweeps = time.perf_counter(), None, FIRST_ROUND_SWEEPS
    done, k = 0, 0
    while True:
        left = seconds - (time.perf_counter() - began)
        if best is not None and left <= 0:
            return _total_over_rounds(best, done, time.perf_counter() - began)
        budget = replace(query.budget, sweeps=sweeps, seconds=max(left, 1e-3))
        other = replace(method, seed=method.seed + k)
        result = execute(replace(query, method=other, budget=budget), check_result)
        done += result.sweeps
        if result.sweeps and (best is None or result.best.log_score > best.best.log_score):
            best = result
        if result.provenance["interrupted"]:
            return _total_over_rounds(
                best or result, done, time.perf_counter() - began, interrupted=True
            )
        sweeps, k = 2 * sweeps, k + 1


def _total_over_rounds(
    result: Result, sweeps: int, seconds: float, interrupted: bool = False
) -> Result:
    """Return the best round's result, with what all rounds took."""
    facts = {"sweeps": sweeps, "seconds": seconds, "interrupted": interrupted}
    return replace(result, sweeps=sweeps, provenance={**result.provenance, **facts})

"""The most probable state by annealing, in a number of sweeps or in a time.

A temperature falls over a known number of sweeps, so a time is filled with rounds: each twice as
long as the one before and with other draws, and the best state of all of them counts.
"""

import argparse
import time
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from herded.cli.setup import Setup
from herded.models.protocol import Model
from herded.run.infer import infer
from herded.run.keep import BestState
from herded.run.loop import interruptible
from herded.run.progress import Callback
from herded.run.result import Result

FIRST_ROUND = 1000  # sweeps


def anneal(
    model: Model,
    setup: Setup,
    options: argparse.Namespace,
    callback: Callback | None,
    executor: Executor | None = None,
) -> Result:
    """The result of the round with the best state."""
    common: dict[str, Any] = {
        "chains": setup.chains,
        "keep": [BestState()],
        "max_memory": options.max_memory,
        "threads": options.threads,
        "callback": callback,
        "executor": executor,
    }
    with interruptible():
        common["layout"] = setup.lay_out()
        if setup.seconds is None:
            return infer(
                model,
                setup.method,
                sweeps=setup.sweeps,
                checkpoint=options.checkpoint,
                checkpoint_every=options.checkpoint_every,
                **common,
            )
        return _rounds(model, setup, setup.seconds, common)


def _rounds(model: Model, setup: Setup, seconds: float, common: dict[str, Any]) -> Result:
    began, best, sweeps = time.perf_counter(), None, FIRST_ROUND
    done, k = 0, 0
    while True:
        left = seconds - (time.perf_counter() - began)
        if best is not None and left <= 0:
            return _in_all(best, done, time.perf_counter() - began)
        method = replace(setup.method, seed=setup.method.seed + k)
        result = infer(model, method, sweeps=sweeps, seconds=max(left, 1e-3), **common)
        done += result.sweeps
        if result.sweeps and (best is None or result.best.log_score > best.best.log_score):
            best = result
        if result.provenance["interrupted"]:
            return _in_all(best or result, done, time.perf_counter() - began, interrupted=True)
        sweeps, k = 2 * sweeps, k + 1


def _in_all(result: Result, sweeps: int, seconds: float, interrupted: bool = False) -> Result:
    """The best round's result, with what all rounds took."""
    facts = {"sweeps": sweeps, "seconds": seconds, "interrupted": interrupted}
    return replace(result, sweeps=sweeps, provenance={**result.provenance, **facts})

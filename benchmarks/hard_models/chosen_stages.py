"""Which stage of `auto` answers on hard models, and which diagnostics its answer has.

Exact inference is switched off. Runs have a number of sweeps and no clock, so that every row is the
same on every run: a change that is to leave the choices of `auto` alone must leave this table as it
is. Models of the UAI competitions are read from the folder that --models or HERDED_UAI names;
without one only those that are made here are run.
"""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import herded as hd
from benchmarks.hard_models.model_generators import hard_models
from benchmarks.hard_models.tempering import cube, grid, many_states
from benchmarks.support.held_out_models import families
from herded.run.query import Budget, KeepOptions, NamedMethodOptions, Query
from herded.run.result import Result
from herded.run.selection.plan import execute_plan, plan_run

TITLE = "# Stages that auto chooses on hard models"
SWEEPS = 1_500  # of each chain
MAX_LADDER_VARIABLES = 600  # of a model whose log Z and best state are asked for, to save time
GENERATED, HELD_OUT, SEEDS = 28, 10, 2
TASKS = {"mar": "marginals", "pr": "log Z", "map": "best state"}
WHY = "exact inference is switched off"


def lines(quick: bool) -> Iterator[str]:
    """A row for each model, task and seed."""
    yield f"`auto` with {SWEEPS:,} sweeps, without exact inference. A stage that warns has a `!`."
    yield ""
    yield "| model | task | seed | tried | answered by | warnings |"
    yield "|---|---|---|---|---|---|"
    for name, task, seed, result in results(quick):
        tried = ", ".join(
            step.name + "!" * (not step.agrees) for step in result.escalation if step.name != "bp"
        )
        kinds = [str(one.kind) for one in result.diagnostics if one.severity == "warning"]
        yield (
            f"| {name} | {TASKS[task]} | {seed} | {tried} | `{result.method!r}` | "
            f"{', '.join(kinds)} |"
        )


def results(quick: bool) -> Iterator[tuple[str, str, int, Result]]:
    """Model, task, seed, and what `auto` makes of them."""
    for name, model in _models(quick):
        tasks = TASKS if model.n_variables <= MAX_LADDER_VARIABLES else ("mar",)
        for task in tasks:
            for seed in range(SEEDS if task == "mar" and not quick else 1):
                yield name, task, seed, run_auto(model, task, seed)


def run_auto(model: Any, task: str, seed: int) -> Result:
    """What `auto` answers where it must sample."""
    query = Query(
        model,
        task=task,
        budget=Budget(SWEEPS),
        keep=KeepOptions(best_state=hd.BestState()) if task == "map" else None,
        progress=False,
        threads=1,
        method_options=NamedMethodOptions(seed=seed),
        reason_to_sample=WHY,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hd.HerdedWarning)
        return execute_plan(plan_run(query), query)


def _models(quick: bool) -> Iterator[tuple[str, Any]]:
    """Generated models, those on which tempering was measured, held-out ones, and files."""
    yield from hard_models(7 if quick else GENERATED)
    if quick:
        return
    yield "grid 20x20, J up to 4", grid(20, 4.0, 1.0, 0)
    yield "cube 5^3, J = +-1.3", cube(5, 1.3, 2)
    yield "60 variables of 4 states", many_states(60, 4, 3)
    for _, name, model in families(HELD_OUT):
        yield f"held out: {name}", model
    folder = os.environ.get("HERDED_UAI")
    for path in sorted(Path(folder).rglob("*.uai")) if folder else ():
        model, evidence = hd.read_model(path), Path(f"{path}.evid")
        yield path.stem, model.given(hd.io.read_evidence(evidence)) if evidence.exists() else model

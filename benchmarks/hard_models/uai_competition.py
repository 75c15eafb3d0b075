"""Models of the UAI inference competitions by every method, and by `auto` without exact inference.

Marginals first, then log Z. Runs have one thread, and those by the clock go by its CPU time.

Every NAME.uai in a folder, or in its folders, with NAME.uai.evid and NAME.uai.MAR beside it where
they are. The folder is named by --models or by HERDED_UAI; without one it says so.
"""

import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from benchmarks.support.timing import by_cpu_clock
from herded.run.diagnostics.intervals import half_widths
from herded.run.query import Budget, Query
from herded.run.result import Result
from herded.run.selection.escalation import tempering_stage, warned_of
from herded.run.selection.method_choice import estimate_exact_seconds
from herded.run.selection.plan import execute_plan, plan_run
from herded.run.selection.recommendation import (
    DEFAULT_UPDATES,
    recommend_blocks,
    recommend_single_site,
)

TITLE = "# Models of the UAI competitions"
QUICK_UPDATES = 4_000
ROOM = 2**31  # bytes of exact inference
PATIENCE = 30.0  # seconds that it may take by its own estimate
SECONDS, QUICK_SECONDS = 10.0, 2.0  # of CPU for log Z
CHAINS = 4
WIDTH = 100
NARROW = 0.1  # nat, to each side
ALONE: dict[str, Any] = {"progress": False, "threads": 1}
WHY = "exact inference is switched off"


class Known(NamedTuple):
    """A model with its evidence, and its marginals where a file has them."""

    name: str
    model: hd.FactorGraph
    truth: np.ndarray | None


Run = Callable[[hd.FactorGraph, int], Result]  # with so many updates of each variable


def exact(model: hd.FactorGraph, updates: int) -> Result:
    layout = hd.Exact().compile(model, max_memory=ROOM)
    if estimate_exact_seconds(layout.arrays) > PATIENCE:
        raise hd.MethodError("expected a model that takes less time")
    return hd.infer(model, hd.Exact(), layout=layout, **ALONE)


def belief_propagation(model: hd.FactorGraph, updates: int) -> Result:
    return hd.infer(model, "bp", **ALONE)


def single_sites(model: hd.FactorGraph, updates: int) -> Result:
    """What `recommend` says of moves of one variable."""
    return hd.infer(model, recommend_single_site(model, updates), **ALONE)


def blocks(model: hd.FactorGraph, updates: int) -> Result:
    return hd.infer(model, recommend_blocks(updates, 0), **ALONE)


def tempered(model: hd.FactorGraph, updates: int) -> Result:
    """By single sites; by blocks is what a ladder is where there are hard zeros."""
    each = 2 * updates // (8 * CHAINS)
    return _run(model, hd.Tempered(), each - each // 5, each // 5)


def tempered_blocks(model: hd.FactorGraph, updates: int) -> Result:
    rung = tempering_stage(model, 0, updates, CHAINS, by_clock=False)
    if not model.has_hard_zeros:
        raise hd.MethodError("expected hard zeros: elsewhere ladders move single sites")
    return _run(model, rung.method, rung.sweeps, rung.burn_in)


def auto(model: hd.FactorGraph, updates: int) -> Result:
    """As it is without exact inference."""
    query = Query(model, budget=Budget(updates // CHAINS), reason_to_sample=WHY, **ALONE)
    return execute_plan(plan_run(query), query)


def _run(model: hd.FactorGraph, method: hd.Tempered, sweeps: int, burn_in: int) -> Result:
    keep = [hd.Marginals(rao_blackwell=True)]
    length = {"sweeps": sweeps, "burn_in": burn_in, "chains": CHAINS}
    return hd.infer(model, method, keep=keep, **length, **ALONE)


METHODS: dict[str, Run] = {
    "exact": exact,
    "belief propagation": belief_propagation,
    "single sites": single_sites,
    "blocks": blocks,
    "tempered": tempered,
    "tempered blocks": tempered_blocks,
    "auto, not exact": auto,
}


def lines(quick: bool, seconds: float | None = None) -> Iterator[str]:
    """Tables of marginals and of log Z, for which there are so many seconds of CPU."""
    folder = os.environ.get("HERDED_UAI")
    found = sorted(Path(folder).rglob("*.uai")) if folder else []
    if not found:
        yield "(skipped: no UAI models; name their folder by --models DIR or HERDED_UAI)"
        return
    warnings.simplefilter("ignore")
    models = [read(path) for path in (found[:3] if quick else found)]
    log_z: dict[str, float] = {}
    yield from _marginals(models, QUICK_UPDATES if quick else DEFAULT_UPDATES, log_z)
    yield ""
    yield from _log_z(models, seconds or (QUICK_SECONDS if quick else SECONDS), log_z)


def _marginals(models: list[Known], updates: int, log_z: dict[str, float]) -> Iterator[str]:
    """A row for every method; log Z by exact inference is put into `log_z`."""
    yield from wrap(
        f"Single sites are what `recommend` says for {updates:,} updates of each variable; blocks "
        "and ladders have so many sweeps that they take about as long, or twice. `auto` is what "
        f"`herded infer` does where exact inference does not fit; exact here means within "
        f"{ROOM >> 30} GiB. The error is the mean absolute error of marginals of unknown "
        "variables, +- how far 95 % intervals reach on average, CPU that of the second run of the "
        "same (compilers and caches are warm) in seconds; warnings are cut short.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield "| model | variables | method | error | +- | CPU | warning |"
    yield "|---" * 7 + "|"
    for known in models:
        for name, run in METHODS.items():
            found = _timed(known.model, run, updates)
            if found is not None:
                yield _row(known, name, *found)
                if name == "exact":
                    log_z[known.name] = found[0].log_z


def read(path: Path) -> Known:
    """A model, its evidence and its reference."""
    model, truth = hd.io.read_uai(path), None
    evidence, reference = (path.with_name(f"{path.name}.{end}") for end in ("evid", "MAR"))
    if evidence.exists():
        model = model.given(hd.io.read_evidence(evidence))
    if reference.exists():
        truth = hd.io.read_mar(reference)
    return Known(path.stem, model, truth)


def _timed(model: hd.FactorGraph, run: Run, updates: int) -> tuple[Result, float] | None:
    """A method's result and its CPU seconds; nothing where it is not for the model."""
    try:
        if run is not exact:
            run(model, updates // 10)  # for the compilers
        began = time.process_time()
        return run(model, updates), time.process_time() - began
    except hd.HerdedError:
        return None


def _row(known: Known, name: str, result: Result, cpu: float) -> str:
    """One method on one model."""
    free = known.model.evidence < 0
    states = np.arange(int(known.model.cardinalities.max())) < known.model.cardinalities[:, None]
    open_ = states & free[:, None]
    error = reach = "-"
    if known.truth is not None:
        gap = np.abs(result.chain_marginals.mean(axis=0) - known.truth)
        error = f"{gap[open_].mean():.1e}"
    if len(result.chain_marginals) > 1:
        reach = (
            f"{half_widths(result.chain_marginals, result.kept.get('control'))[open_].mean():.1e}"
        )
    said = "; ".join(one.message.split(":")[0] for one in warned_of(result))
    answered = next((s.name for s in result.escalation if s.method == result.method), "")
    what = f"{name}: {answered}" if answered else name
    size = f"{known.model.n_variables:,}"
    return f"| {known.name} | {size} | {what} | {error} | {reach} | {cpu:.2g} | {said} |"


def _log_z(models: list[Known], seconds: float, log_z: dict[str, float]) -> Iterator[str]:
    """log Z by `auto` in some seconds of CPU, exact inference switched off."""
    yield from wrap(
        f"log Z by `herded infer --task pr --seconds {seconds:g}`, exact inference switched off "
        "and seconds those of one thread's CPU, beside exact inference where there is any. "
        "Bethe's estimate is what belief propagation makes of it.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield "| model | log Z | by a ladder | error | rungs, sweeps | Bethe | CPU | warning |"
    yield "|---" * 8 + "|"
    inside = narrow = warned = 0
    for known in models:
        budget = Budget(seconds=seconds)
        query = Query(known.model, "auto", "pr", budget, reason_to_sample=WHY, **ALONE)
        began = time.process_time()
        try:
            with by_cpu_clock():
                result = execute_plan(plan_run(query), query)
        except hd.HerdedError as error:
            yield f"| {known.name} | {_known(log_z.get(known.name, np.nan))} | {error} |"
            continue
        cpu, truth = time.process_time() - began, log_z.get(known.name, np.nan)
        low, high = result.log_z_interval
        doubts = warned_of(result)
        inside, warned = inside + bool(low <= truth <= high), warned + bool(doubts)
        narrow += (high - low) / 2 <= NARROW
        bethe = [
            re.search(r" is (\S+),", step.said) for step in result.escalation if step.name == "bp"
        ]
        yield (
            f"| {known.name} | {_known(truth)} | {result.log_z:.3f} +- {(high - low) / 2:.3f} | "
            f"{_known(result.log_z - truth)} | {result.method.rungs}, {result.sweeps:,} | "
            f"{bethe[0][1] if bethe and bethe[0] else '-'} | {cpu:.3g} | "
            f"{'; '.join(one.headline for one in doubts)} |"
        )
    yield ""
    yield (
        f"Of {len(models)} models {sum(known.name in log_z for known in models)} have a known log "
        f"Z, {inside} of which are within the interval; {warned} are warned of; the interval "
        f"reaches {NARROW} or less to each side on {narrow}."
    )


def _known(number: float) -> str:
    return "-" if np.isnan(number) else f"{number:.3f}"

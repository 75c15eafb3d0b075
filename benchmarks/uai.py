"""Models of the UAI inference competitions by every method, and by `auto` without exact inference.

Every NAME.uai in a folder, or in its folders, with NAME.uai.evid and NAME.uai.MAR beside it where
they are. The folder is named by --models or by HERDED_UAI; without one it says so.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import numpy as np

import herded as hd
from herded.run.climb import ladder, spoken_against
from herded.run.intervals import margins
from herded.run.plan import Request, infer_planned, plan_run
from herded.run.recommend import UPDATES, in_blocks, with_single_moves
from herded.run.result import Result

TITLE = "# Models of the UAI competitions"
QUICK_UPDATES = 4_000
ROOM = 2**31  # bytes of exact inference
CHAINS = 4
WIDTH = 100


class Known(NamedTuple):
    """A model with its evidence, and its marginals where a file has them."""

    name: str
    model: hd.FactorGraph
    truth: np.ndarray | None


Run = Callable[[hd.FactorGraph, int], Result]  # with so many updates of each variable


def exact(model: hd.FactorGraph, updates: int) -> Result:
    return hd.infer(model, hd.Exact(), max_memory=ROOM, progress=False)


def belief_propagation(model: hd.FactorGraph, updates: int) -> Result:
    return hd.infer(model, "bp", progress=False)


def single_sites(model: hd.FactorGraph, updates: int) -> Result:
    """What `recommend` says of moves of one variable."""
    return hd.infer(model, with_single_moves(model, updates), progress=False)


def blocks(model: hd.FactorGraph, updates: int) -> Result:
    return hd.infer(model, in_blocks(updates, 0), progress=False)


def tempered(model: hd.FactorGraph, updates: int) -> Result:
    """By single sites; by blocks is what a ladder is where there are hard zeros."""
    each = 2 * updates // (8 * CHAINS)
    return _run(model, hd.Tempered(), each - each // 5, each // 5)


def tempered_blocks(model: hd.FactorGraph, updates: int) -> Result:
    rung = ladder(model, 0, updates, CHAINS, by_clock=False)
    if not model.has_hard_zeros:
        raise hd.MethodError("expected hard zeros: elsewhere ladders move single sites")
    return _run(model, rung.method, rung.sweeps, rung.burn_in)


def auto(model: hd.FactorGraph, updates: int) -> Result:
    """As it is without exact inference."""
    asked = Request(why_sample="exact inference is switched off", sweeps=updates // CHAINS)
    return infer_planned(model, plan_run(model, "auto", asked), progress=False)


def _run(model: hd.FactorGraph, method: hd.Tempered, sweeps: int, burn_in: int) -> Result:
    keep = [hd.Marginals(rao_blackwell=True)]
    length = {"sweeps": sweeps, "burn_in": burn_in, "chains": CHAINS}
    return hd.infer(model, method, keep=keep, progress=False, **length)


METHODS: dict[str, Run] = {
    "exact": exact,
    "belief propagation": belief_propagation,
    "single sites": single_sites,
    "blocks": blocks,
    "tempered": tempered,
    "tempered blocks": tempered_blocks,
    "auto, not exact": auto,
}


def lines(quick: bool) -> Iterator[str]:
    folder = os.environ.get("HERDED_UAI")
    found = sorted(Path(folder).rglob("*.uai")) if folder else []
    if not found:
        yield "(skipped: no UAI models; name their folder by --models DIR or HERDED_UAI)"
        return
    warnings.simplefilter("ignore")
    updates = QUICK_UPDATES if quick else UPDATES
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
    for path in found[:3] if quick else found:
        known = read(path)
        for name, run in METHODS.items():
            row = _row(known, name, run, updates)
            if row is not None:
                yield row


def read(path: Path) -> Known:
    """A model, its evidence and its reference."""
    model, truth = hd.io.read_uai(path), None
    evidence, reference = (path.with_name(f"{path.name}.{end}") for end in ("evid", "MAR"))
    if evidence.exists():
        model = model.given(hd.io.read_evidence(evidence))
    if reference.exists():
        truth = hd.io.read_mar(reference)
    return Known(path.stem, model, truth)


def _row(known: Known, name: str, run: Run, updates: int) -> str | None:
    """One method on one model; nothing where it is not for the model."""
    try:
        run(known.model, updates // 10)  # for the compilers
        began = time.process_time()
        result = run(known.model, updates)
        cpu = time.process_time() - began
    except hd.HerdedError:
        return None
    free = known.model.evidence < 0
    states = np.arange(int(known.model.cardinalities.max())) < known.model.cardinalities[:, None]
    open_ = states & free[:, None]
    error = reach = "-"
    if known.truth is not None:
        gap = np.abs(result.chain_marginals.mean(axis=0) - known.truth)
        error = f"{gap[open_].mean():.1e}"
    if len(result.chain_marginals) > 1:
        reach = f"{margins(result.chain_marginals, result.kept.get('control'))[open_].mean():.1e}"
    said = "; ".join(text.split(":")[0] for text in spoken_against(result))
    answered = next((s.name for s in result.climb if s.method == repr(result.method)), "")
    what = f"{name}: {answered}" if answered else name
    size = f"{known.model.n_variables:,}"
    return f"| {known.name} | {size} | {what} | {error} | {reach} | {cpu:.2g} | {said} |"

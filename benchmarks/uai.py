"""Models of the UAI inference competitions: what `herded infer` answers, and herded beside Gibbs.

Every NAME.uai in a folder, or in its folders, with NAME.uai.evid and NAME.uai.MAR beside it where
they are. The folder is named by --models or by HERDED_UAI; without one it says so.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import herded as hd
from herded.choice import choose

SWEEPS, QUICK_SWEEPS = 10_000, 1_000
CHAINS, SEEDS = 4, 5


def lines(quick: bool) -> Iterator[str]:
    yield "## Models from files"
    yield ""
    folder = os.environ.get("HERDED_UAI")
    found = sorted(Path(folder).rglob("*.uai")) if folder else []
    if not found:
        yield "(skipped: no UAI models; name their folder by --models DIR or HERDED_UAI)"
        return
    sweeps, seeds = (QUICK_SWEEPS, 2) if quick else (SWEEPS, SEEDS)
    yield f"`auto` is what `herded infer` does: exact inference where it fits, else {CHAINS} herded"
    yield f"chains of {sweeps:,} sweeps after {sweeps // 10:,} of burn-in; seconds and warning are"
    yield f"its own. Beside it the mean error of {seeds} single chains of {sweeps:,} sweeps,"
    yield "herded (`hd.recommended(model)`) and Gibbs, from the same starts, and what the herded"
    yield "ones warn of. Errors are mean absolute errors of marginals, Rao-Blackwellised, against"
    yield "the .MAR file."
    yield ""
    head = "model | variables | auto | sweeps | error | seconds | warning | herded | Gibbs"
    yield f"| {head} | herded warns |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for path in found[:3] if quick else found:
        yield _row(path, sweeps, seeds)


def read(path: Path) -> tuple[Any, np.ndarray | None]:
    """A model with its evidence, and its marginals if they are known."""
    model = hd.read_uai(path)
    evidence, reference = path.with_name(f"{path.name}.evid"), path.with_name(f"{path.name}.MAR")
    if evidence.exists():
        model = model.given(hd.read_evidence(evidence))
    return model, hd.read_mar(reference) if reference.exists() else None


def _row(path: Path, sweeps: int, seeds: int) -> str:
    model, truth = read(path)
    began = time.perf_counter()
    chosen = choose(model)
    result = _answer(model, chosen, sweeps)
    seconds = time.perf_counter() - began
    done = f"{result.sweeps:,}" if chosen.name == "herded" else "-"
    error, herded, gibbs, doubts = "-", "-", "-", ""
    if truth is not None:
        found = result.marginals.reshape(model.n_variables, -1)
        error = f"{hd.ErrorCurve(truth).error(model, found):.1e}"
        herded, doubts = _error(model, hd.recommended(model), truth, sweeps, seeds)
        gibbs, _ = _error(model, hd.Gibbs(), truth, sweeps, seeds)
    auto = f"{chosen.name} | {done} | {error} | {seconds:.1f} | {_warnings(result)}"
    name = f"{path.stem} | {model.n_variables:,}"
    return f"| {name} | {auto} | {herded} | {gibbs} | {doubts} |"


def _answer(model: Any, chosen: Any, sweeps: int) -> hd.Result:
    """As `herded infer` without options."""
    if chosen.name == "exact":
        return hd.infer(model, chosen.method)
    return hd.infer(
        model,
        chosen.method,
        sweeps=sweeps,
        burn_in=sweeps // 10,
        chains=CHAINS,
        keep=[hd.Marginals(rao_blackwell=True)],
    )


def _error(model: Any, method: Any, truth: np.ndarray, sweeps: int, seeds: int) -> tuple[str, str]:
    """The mean error of single chains after all sweeps, and what the run warns of."""
    keep = [
        hd.Marginals(rao_blackwell=True),
        hd.ErrorCurve(truth, at=[sweeps], rao_blackwell=True),
    ]
    result = hd.infer(model, method, sweeps=sweeps, chains=seeds, keep=keep)
    return f"{result.curve.errors.mean():.1e}", _warnings(result)


def _warnings(result: hd.Result) -> str:
    return " ".join(result.warnings).replace("|", "/").replace("\n", " ")

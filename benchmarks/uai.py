"""Models of the UAI inference competitions through `herded infer`, and herded beside Gibbs.

Every NAME.uai in a folder, or in its folders, with NAME.uai.evid and NAME.uai.MAR beside it where
they are. The folder is named by --models or by HERDED_UAI; without one it says so.
"""

import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from herded.cli.main import main

TITLE = "# Models of the UAI competitions"
SWEEPS, QUICK_SWEEPS = 10_000, 1_000
SEEDS, QUICK_SEEDS = 10, 2
METHODS = ("auto", "herded", "gibbs")
OFF = 0.05  # of a marginal: an answer that is wrong for most purposes

WIDTH = 100

Answer = dict[str, Any]  # what `herded infer --json` prints


def lines(quick: bool) -> Iterator[str]:
    folder = os.environ.get("HERDED_UAI")
    found = sorted(Path(folder).rglob("*.uai")) if folder else []
    if not found:
        yield "(skipped: no UAI models; name their folder by --models DIR or HERDED_UAI)"
        return
    sweeps, seeds = (QUICK_SWEEPS, QUICK_SEEDS) if quick else (SWEEPS, SEEDS)
    paths = found[:3] if quick else found
    yield from wrap(
        "`herded infer NAME.uai --evidence NAME.uai.evid --reference NAME.uai.MAR --method ...`. "
        "`auto` takes exact inference wherever it fits in memory; samplers are made to run here "
        f"all the same, 4 chains of {sweeps:,} sweeps after {sweeps // 10:,} of burn-in. The error "
        "is the mean absolute error of marginals, Rao-Blackwellised for samplers; seconds are the "
        "run's own, and warnings are cut short.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield "| model | variables | method | sweeps | error | seconds | warning |"
    yield "|---|---|---|---|---|---|---|"
    known = {}
    for path in paths:
        answers = {method: _infer(path, method, sweeps, 0) for method in METHODS}
        for method, answer in answers.items():
            yield _row(path, method, answer)
        if "reference" in answers["auto"]:
            known[path] = answers
    yield ""
    yield from wrap(
        f"Mean errors over {seeds} seeds, in how many of them herded Gibbs is nearer, and how many "
        f"answers are wrong in silence: a marginal is off by more than {OFF}, and no warning.",
        WIDTH,
        break_on_hyphens=False,
    )
    yield ""
    yield "| model | herded | Gibbs | ratio | nearer | wrong in silence, herded | Gibbs |"
    yield "|---|---|---|---|---|---|---|"
    for path, answers in known.items():
        yield _comparison(path, answers, sweeps, seeds)


def _infer(path: Path, method: str, sweeps: int, seed: int) -> Answer:
    """What the command prints."""
    words = ["infer", str(path), "--method", method, "--seed", str(seed), "--json"]
    for option, ending in (("--evidence", "evid"), ("--reference", "MAR")):
        beside = path.with_name(f"{path.name}.{ending}")
        words += [option, str(beside)] if beside.exists() else []
    if method != "auto":
        words += ["--sweeps", str(sweeps)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = main(words)
    if code:
        raise RuntimeError(f"herded {' '.join(words)} ended with {code}")
    return json.loads(printed.getvalue())


def _row(path: Path, method: str, answer: Answer) -> str:
    name = method if method == answer["method"] else f"{method}: {answer['method']}"
    weights = answer["settings"].get("weights")
    done = "-" if answer["method"] == "exact" else f"{answer['sweeps']:,}"
    error = f"{_error(answer):.1e}" if "reference" in answer else "-"
    said = "; ".join(text.split(":")[0] for text in answer["warnings"])
    cells = (
        path.stem,
        f"{answer['variables']:,}",
        f"{name}, {weights}" if weights else name,
        done,
        error,
        f"{answer['seconds']:.1f}",
        said,
    )
    return f"| {' | '.join(cells)} |"


def _comparison(path: Path, first: dict[str, Answer], sweeps: int, seeds: int) -> str:
    herded, gibbs = (
        [first[method], *(_infer(path, method, sweeps, seed) for seed in range(1, seeds))]
        for method in ("herded", "gibbs")
    )
    one, other = np.array([_error(a) for a in herded]), np.array([_error(a) for a in gibbs])
    ratio = f"{one.mean():.1e} | {other.mean():.1e} | {one.mean() / other.mean():.2f}"
    silent = " | ".join(f"{sum(map(_silently_wrong, runs))} of {seeds}" for runs in (herded, gibbs))
    return f"| {path.stem} | {ratio} | {(one < other).sum()} of {seeds} | {silent} |"


def _error(answer: Answer) -> float:
    return float(answer["reference"]["mean_absolute"])


def _silently_wrong(answer: Answer) -> bool:
    return answer["reference"]["largest"] > OFF and not answer["warnings"]

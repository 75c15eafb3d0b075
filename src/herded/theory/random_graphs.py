"""Theorem 2 on random complete graphs: what is measured beside what is promised."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.models.factor_graph import FactorGraph
from herded.models.pairwise import pairwise_model
from herded.theory.bounds import constants
from herded.theory.checks import check_theorem2

MAX_T = 2_000_000


@dataclass(frozen=True)
class Row:
    """One random complete graph: Theorem 2's constants, the distance and its bound."""

    N: int
    pi_min: float
    eta: float
    l: float  # noqa: E741 - the paper's name
    T_star: float
    T: int
    tau: int
    measured: float
    bound: float
    holds: bool


def random_complete_graph(rng: Any, n: int, scale: float = 0.2, states: int = 2) -> FactorGraph:
    """Normal log-potentials of standard deviation `scale` on every variable and every pair."""
    edges = [(i, j) for i in range(n) for j in range(i + 1, n)]
    unary = scale * rng.normal(size=(n, states))
    return pairwise_model(unary, edges, scale * rng.normal(size=(len(edges), states, states)))


def theorem2_table(n_models: int = 20, seed: int = 0, scale: float = 0.2) -> list[Row]:
    """Theorem 2 on `n_models` random complete graphs of 3, 4 and 5 binary variables.

    T is the least that makes the bound 1/10. Models whose T would exceed two million sweeps are
    passed over, by their constants alone and before anything is run.
    """
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for _ in range(50 * n_models):
        if len(rows) == n_models:
            return rows
        model = random_complete_graph(rng, 3 + len(rows) % 3, scale)
        known = constants(model)
        if max(known.T_star, 10 * known.lambda_) > MAX_T:
            continue
        check = check_theorem2(model)
        rows.append(
            Row(
                known.N,
                known.pi_min,
                known.eta,
                known.l,
                known.T_star,
                check.T,
                check.tau,
                check.measured,
                check.bound,
                check.holds,
            )
        )
    if len(rows) == n_models:
        return rows
    raise MethodError(
        f"expected couplings weak enough for a bound within {MAX_T} sweeps, got scale={scale}"
    )


def format_rows(rows: Sequence[Any]) -> str:
    """Dataclasses of one kind as a plain table, one line each."""
    if not rows:
        return ""
    lines = [[field.name for field in fields(rows[0])]]
    lines += [[_cell(value) for value in astuple(row)] for row in rows]
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.3g}" if isinstance(value, float) else str(value)

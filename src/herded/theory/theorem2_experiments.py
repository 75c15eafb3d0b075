"""Theorem 2 on random complete graphs: the measured distance beside its bound."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.models.factor_graph import FactorGraph
from herded.models.pairwise import pairwise_model
from herded.theory.bounds import constants
from herded.theory.paper_checks import check_theorem2

MAX_T = 2_000_000


@dataclass(frozen=True)
class Row:
    """One random complete graph: a row of `theorem2_table`.

    Attributes
    ----------
    N, pi_min, eta, l, T_star
        As in `Constants`.
    T, tau, measured, bound, holds
        As in `Check`.

    Examples
    --------
    >>> row = hd.theory.theorem2_table(1)[0]
    >>> row.N, row.holds
    (3, True)
    """

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


def random_complete_graph(
    rng: np.random.Generator, n: int, scale: float = 0.2, states: int = 2
) -> FactorGraph:
    """A complete graph with normal log-potentials on every variable and every pair.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        The number of variables.
    scale : float
        The standard deviation of the log-potentials.
    states : int
        Of every variable.

    Returns
    -------
    FactorGraph

    Examples
    --------
    >>> model = hd.theory.random_complete_graph(np.random.default_rng(0), 4)
    >>> model.n_variables, model.n_factors
    (4, 10)
    """
    edges = [(i, j) for i in range(n) for j in range(i + 1, n)]
    unary = scale * rng.normal(size=(n, states))
    return pairwise_model(unary, edges, scale * rng.normal(size=(len(edges), states, states)))


def theorem2_table(n_models: int = 20, seed: int = 0, scale: float = 0.2) -> list[Row]:
    """Check Theorem 2 on random complete graphs of 3, 4 and 5 binary variables.

    T is the least that makes the bound 1/10. Models whose T would exceed two million sweeps are
    left out before anything is run, since T follows from their constants.

    Parameters
    ----------
    n_models : int
    seed : int
    scale : float
        The standard deviation of the log-potentials.

    Returns
    -------
    list of Row

    Raises
    ------
    MethodError
        If `scale` is so large that too few models have a T within the limit.

    Examples
    --------
    >>> rows = hd.theory.theorem2_table(2)
    >>> all(row.holds for row in rows)
    True
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
    """Dataclasses of one kind as a plain table, a line for each.

    Parameters
    ----------
    rows : sequence of dataclass instances

    Returns
    -------
    str

    Examples
    --------
    >>> checks = [hd.theory.Check("a", 0.5, 1.0, T=10, tau=0), hd.theory.Check("b", 2.0, 1.0, 9, 1)]
    >>> print(hd.theory.format_rows(checks))
    statement  measured  bound   T  tau
            a       0.5      1  10    0
            b         2      1   9    1
    """
    if not rows:
        return ""
    lines = [[field.name for field in fields(rows[0])]]
    lines += [[_cell(value) for value in astuple(row)] for row in rows]
    widths = [max(len(line[c]) for line in lines) for c in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.3g}" if isinstance(value, float) else str(value)

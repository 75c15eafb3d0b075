"""A Bayes net as text and as HTML: with its tables, or with its variables where those are many."""

from collections.abc import Sequence

import numpy as np

from herded.nets.conditional_table import ConditionalTable
from herded.system.html import html_table

MAX_SHOWN_TABLE_ROWS = 40  # of all tables of a net that is printed with its tables
MAX_SHOWN_VARIABLES = 24  # of a net that is printed without them


def net_text(tables: Sequence[ConditionalTable], evidence: np.ndarray | None) -> str:
    """Return a line about the net, and its tables, or the states of its first variables."""
    headline = _headline(tables, evidence)
    if _shows_tables(tables):
        return "\n\n".join([headline, *map(repr, tables)])
    lines = [f"{t.title}: {', '.join(t.states)}" for t in tables]
    hidden = len(lines) - MAX_SHOWN_VARIABLES
    more = [f"... and {hidden} more variables"] if hidden > 0 else []
    return "\n".join([headline, *lines[:MAX_SHOWN_VARIABLES], *more])


def net_html(tables: Sequence[ConditionalTable], evidence: np.ndarray | None) -> str:
    """Return the same for a notebook."""
    if _shows_tables(tables):
        return "".join(table._repr_html_() for table in tables)
    rows = [[t.title, ", ".join(t.states)] for t in tables]
    return html_table(_headline(tables, evidence), [["variable", "states"], *rows], head=True)


def _headline(tables: Sequence[ConditionalTable], evidence: np.ndarray | None) -> str:
    arcs = sum(len(table.parents) for table in tables)
    n_observed = 0 if evidence is None else int((evidence >= 0).sum())
    observed = f", {n_observed} observed" if n_observed else ""
    variables = f"{len(tables)} variable{'s' * (len(tables) != 1)}"
    return f"BayesNet({variables}, {arcs} arc{'s' * (arcs != 1)}{observed})"


def _shows_tables(tables: Sequence[ConditionalTable]) -> bool:
    return sum(table.n_rows for table in tables) <= MAX_SHOWN_TABLE_ROWS

"""Marginals for people: a variable per line, in columns where states are few."""

import numpy as np

from herded.cli import models
from herded.cli.printing import and_more, columns, safe
from herded.models.protocol import Model

MOST_COLUMNS = 6  # states that are shown side by side
MOST_LISTED = 4  # of a variable with more, the most probable


def marginal_table(
    model: Model, marginals: np.ndarray, standard_error: np.ndarray | None, most_rows: int
) -> list[str]:
    """The first `most_rows` variables, and how many more there are."""
    shown = min(model.n_variables, most_rows)
    width = int(model.cardinalities.max())
    names = _common_states(model, width)
    if names is not None:
        rows = [["variable", *names]]
        rows += [_row(model, i, marginals) for i in range(shown)]
    else:
        rows = [["variable", "state: probability"]]
        rows += [_list(model, i, marginals) for i in range(shown)]
    if standard_error is not None:
        largest = standard_error.max(axis=1)
        rows[0].append("+-")
        for row, error in zip(rows[1:], largest, strict=False):
            row.append(f"{error:.5f}")
    lines = columns(rows, left=1 if names is not None else 2)
    return ["", *lines, *and_more(model.n_variables - shown), ""]


def _common_states(model: Model, width: int) -> list[str] | None:
    """Headings for states, where all variables have the same and few."""
    if width > MOST_COLUMNS:
        return None
    if model.state_names is None:
        return [str(k) for k in range(width)]
    first = model.state_names[0]
    return [safe(name) for name in first] if set(model.state_names) == {first} else None


def _row(model: Model, i: int, marginals: np.ndarray) -> list[str]:
    """A variable and the probabilities of its states, in columns."""
    states = range(marginals.shape[1])
    known = int(model.cardinalities[i])
    return [
        models.variable_name(model, i),
        *(f"{marginals[i, k]:.5f}" if k < known else "" for k in states),
    ]


def _list(model: Model, i: int, marginals: np.ndarray) -> list[str]:
    """A variable and its states, the most probable ones where they are many."""
    known = int(model.cardinalities[i])
    order = np.arange(known)
    if known > MOST_COLUMNS:
        order = np.argsort(-marginals[i, :known], kind="stable")[:MOST_LISTED]
    cells = [f"{models.state_name(model, i, int(k))}: {marginals[i, k]:.5f}" for k in order]
    if known > len(order):
        cells.append("...")
    return [models.variable_name(model, i), ", ".join(cells)]

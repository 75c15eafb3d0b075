"""P(child | parents) as a labelled table of probabilities: checked and printed."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import ModelError, missing_extra_error
from herded.system.html import html_table

SUM_TOLERANCE = 1e-6  # how far the sum of a row may be from 1
MAX_SHOWN_ROWS = 24  # of a table that is printed


@dataclass(frozen=True, eq=False, repr=False)
class ConditionalTable:
    """The conditional probabilities of one variable of a Bayes net.

    Attributes
    ----------
    child : str
        The variable.
    states : tuple of str
    parents : tuple of str
    parent_states : tuple of tuple of str
    probabilities : ndarray
        One axis for each parent, in order, and a last one for the child; read-only.

    Examples
    --------
    >>> net = hd.BayesNet()
    >>> net.add("rain", ["no", "yes"], table=[0.8, 0.2])
    >>> net.add("grass", ["dry", "wet"], parents=["rain"], table=[[0.9, 0.1], [0.2, 0.8]])
    >>> net.cpt("grass")
    P(grass | rain)
    rain  dry  wet
    no    0.9  0.1
    yes   0.2  0.8
    """

    child: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    parent_states: tuple[tuple[str, ...], ...]
    probabilities: np.ndarray

    def __post_init__(self) -> None:
        view = self.probabilities.view()
        view.flags.writeable = False
        object.__setattr__(self, "probabilities", view)

    @property
    def title(self) -> str:
        """`P(child | parents)`."""
        return f"P({self.child}{' | ' if self.parents else ''}{', '.join(self.parents)})"

    def __repr__(self) -> str:
        rows = [row for _, row in zip(range(MAX_SHOWN_ROWS + 1), self._cells(), strict=False)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        hidden = self.n_rows + 1 - len(lines)
        more = [f"... and {hidden:,} more rows"] if hidden > 0 else []
        return "\n".join([self.title, *lines, *more])

    def _repr_html_(self) -> str:
        rows = [row for _, row in zip(range(MAX_SHOWN_ROWS + 1), self._cells(), strict=False)]
        hidden = self.n_rows + 1 - len(rows)
        more = [[f"... and {hidden:,} more rows"]] if hidden > 0 else []
        return html_table(self.title, [*rows, *more], head=True)

    @property
    def n_rows(self) -> int:
        """The number of combinations of states of the parents."""
        return self.probabilities.size // len(self.states)

    def _cells(self) -> Iterator[list[str]]:
        """Return headings, and a row of cells for each combination of parents' states."""
        yield [*self.parents, *self.states]
        for names, row in zip(self.combinations(), self.rows(), strict=True):
            yield [*names, *(f"{p:.6g}" for p in row)]

    def combinations(self) -> Iterator[tuple[str, ...]]:
        """Return the states of the parents in each row; those of the last parent change fastest."""
        return itertools.product(*self.parent_states)

    def rows(self) -> np.ndarray:
        """Return the probabilities (rows, K), a row for each combination of parents' states."""
        return self.probabilities.reshape(-1, len(self.states))

    def to_pandas(self) -> Any:
        """Return a data frame with the parents' states as index and the child's as columns."""
        try:
            import pandas
        except ImportError as error:
            raise missing_extra_error("pandas", "to_pandas", "xarray") from error
        index = None
        if self.parents:
            index = pandas.MultiIndex.from_product(self.parent_states, names=self.parents)
        return pandas.DataFrame(
            self.rows(), columns=pandas.Index(self.states, name=self.child), index=index
        )


def check_rows(table: ConditionalTable) -> None:
    """Raise a `ModelError` that names the first row that is no distribution."""
    rows = table.rows()
    sums = rows.sum(axis=1)
    wrong = ~(rows >= 0).all(axis=1) | ~(np.abs(sums - 1.0) <= SUM_TOLERANCE)
    if not wrong.any():
        return
    at = int(np.argmax(wrong))
    names = next(itertools.islice(table.combinations(), at, None))
    given = [f"{p}={state!r}" for p, state in zip(table.parents, names, strict=True)]
    which = f"of {table.child!r}" + (f" given {', '.join(given)}" if given else "")
    row = [float(f"{p:.6g}") for p in rows[at].tolist()]
    if not (rows[at] >= 0).all():
        raise ModelError(f"expected probabilities of 0 or more in the row {which}, got {row}")
    flat = table.probabilities.reshape(-1, len(table.states))
    looks_transposed = flat.shape[0] == flat.shape[1] and np.allclose(flat.sum(axis=0), 1.0)
    remedy = (
        "its columns sum to 1, so transpose the table: the child's states belong on the last axis"
        if looks_transposed
        else "correct it, or divide it by its sum"
    )
    raise ModelError(
        f"expected the row {which} to sum to 1, got {row}, which sums to {sums[at]:.6g}: {remedy}"
    )

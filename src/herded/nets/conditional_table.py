"""P(child | parents) as a labelled table of probabilities: read, checked and printed."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import ModelError, missing_extra_error
from herded.models.naming import find_state
from herded.system.argument_checks import as_float_array, short_repr
from herded.system.html import html_table
from herded.system.suggestions import did_you_mean

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
        One axis for each parent, in order, and a last one for the child.

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


def read_table(
    child: str,
    states: tuple[str, ...],
    parents: tuple[str, ...],
    parent_states: tuple[tuple[str, ...], ...],
    table: object,
) -> ConditionalTable:
    """Return a table in any of the forms that `BayesNet.add` takes, checked."""
    shape = (*map(len, parent_states), len(states))
    if isinstance(table, ConditionalTable):
        table = table.probabilities
    if hasattr(table, "columns") and hasattr(table, "index"):
        values = _read_frame(child, states, parents, parent_states, table)
    elif isinstance(table, Mapping):
        values = _read_mapping(child, states, parents, parent_states, table)
    else:
        values = np.array(as_float_array(f"the table of {child!r}", table))
    _check_shape(child, parents, shape, values)
    found = ConditionalTable(child, states, parents, parent_states, values)
    check_rows(found)
    values /= values.sum(axis=-1, keepdims=True)
    values.flags.writeable = False
    return found


def _check_shape(
    child: str, parents: Sequence[str], shape: tuple[int, ...], values: np.ndarray
) -> None:
    if values.shape == shape:
        return
    axes = ", ".join([*parents, child])
    remedy = "give it one axis for each parent, in their order, and the child's last"
    if values.shape == (shape[-1], *shape[:-1]):
        remedy = "the child's states belong on the last axis: transpose it"
    elif values.size == math.prod(shape):
        remedy = f"reshape it to {shape} if its rows are in that order"
    raise ModelError(
        f"expected a table of shape {shape} for {child!r}, with axes ({axes}), got shape "
        f"{values.shape}: {remedy}"
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


def _read_mapping(
    child: str,
    states: tuple[str, ...],
    parents: tuple[str, ...],
    parent_states: tuple[tuple[str, ...], ...],
    table: Mapping[Any, Any],
) -> np.ndarray:
    """Read a mapping from the parents' states to rows, which may be mappings as well."""
    shape = (*map(len, parent_states), len(states))
    values = np.full(shape, np.nan)
    if not parents:
        values[...] = _read_row(child, states, table)
        return values
    for key, row in table.items():
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) != len(parents):
            raise ModelError(
                f"expected a state for each of the parents {parents} of {child!r} as keys of its "
                f"table, got {key!r}"
            )
        place = []
        for parent, names, part in zip(parents, parent_states, parts, strict=True):
            found = find_state(names, len(names), part)
            if found is None:
                raise ModelError(
                    f"expected a state of {parent!r} ({', '.join(names)}) in the table of "
                    f"{child!r}, got {part!r}{did_you_mean(str(part), names)}"
                )
            place.append(found)
        if not np.isnan(values[tuple(place)]).all():
            raise ModelError(f"expected the row {key!r} of {child!r} once, got it twice")
        values[tuple(place)] = _read_row(child, states, row)
    missing = np.argwhere(np.isnan(values).any(axis=-1))
    if len(missing):
        names = tuple(s[k] for s, k in zip(parent_states, missing[0], strict=True))
        raise ModelError(
            f"expected a row of {child!r} for all {values[..., 0].size:,} combinations of its "
            f"parents' states, got none for {names}"
        )
    return values


def _read_row(child: str, states: tuple[str, ...], row: object) -> np.ndarray:
    """Return the probabilities of the child's states; one that a mapping leaves out is refused."""
    if not isinstance(row, Mapping):
        values = as_float_array(f"a row of {child!r}", row)
        if values.shape != (len(states),):
            raise ModelError(
                f"expected {len(states)} probabilities in each row of {child!r}, got "
                f"{short_repr(row)}"
            )
        return values
    found = {find_state(states, len(states), state): p for state, p in row.items()}
    if None in found or len(found) != len(states) or len(found) != len(row):
        raise ModelError(
            f"expected a probability for each state of {child!r} ({', '.join(states)}), got "
            f"{short_repr(dict(row))}"
        )
    return as_float_array(f"a row of {child!r}", [found[k] for k in range(len(states))])


def _read_frame(
    child: str,
    states: tuple[str, ...],
    parents: tuple[str, ...],
    parent_states: tuple[tuple[str, ...], ...],
    frame: Any,
) -> np.ndarray:
    """Return a data frame with a column for each state, and the parents as index or as columns."""
    if parents and not set(parents) <= set(map(str, frame.columns)):
        levels = [str(name) for name in frame.index.names]
        if set(parents) <= set(levels):
            frame = frame.reset_index()
    columns = {str(name): name for name in frame.columns}
    missing = [name for name in (*parents, *states) if name not in columns]
    if missing:
        raise ModelError(
            f"expected columns for the parents {parents} and the states {states} of {child!r} in "
            f"its table, got none for {missing[0]!r}"
        )
    keys = list(zip(*(frame[columns[p]].tolist() for p in parents), strict=True)) or [()]
    rows = np.stack([np.asarray(frame[columns[s]], float) for s in states], axis=1)
    if not parents:
        if len(rows) != 1:
            raise ModelError(
                f"expected one row for {child!r}, which has no parents, got {len(rows)}"
            )
        return np.array(rows[0])
    if len(set(keys)) < len(keys):
        raise ModelError(f"expected each combination of parents once in the table of {child!r}")
    return _read_mapping(child, states, parents, parent_states, dict(zip(keys, rows, strict=True)))

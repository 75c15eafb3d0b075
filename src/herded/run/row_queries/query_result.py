"""`QueryResult`: the exact answers of a query, one for each row of evidence."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.methods.row_queries.row_evidence import BEST_STATE, LOG_PROBABILITY, read_target
from herded.models.naming import state_label, variable_label
from herded.models.protocol import Model
from herded.run.export.pandas_xarray import import_pandas
from herded.system.argument_checks import short_repr


@dataclass(frozen=True, eq=False)
class QueryResult:
    """Exact answers, one for each row of evidence.

    Attributes
    ----------
    model : Model
    n_rows : int
    probabilities : dict
        For each target, by its label, the probabilities of its states in each row: (R, K), or
        (R, K1, K2, ...) of a joint distribution. NaN in rows whose evidence is impossible.
    log_probability : ndarray of shape (R,)
        The logarithm of the probability of each row's evidence, -inf where it is impossible. It is
        the logarithm of the sum over all states, so a model that does not sum to 1, such as a
        Markov network, must have its log Z subtracted.
    best_states : ndarray of shape (R, N) or None
        The most probable state of all variables given each row, where it was asked for.
    impossible_rows : ndarray of int
        Rows whose evidence has probability 0.
    labels : optional
        What the rows are called: the index of the data frame that was given.

    Examples
    --------
    >>> net = hd.BayesNet({"rain": (["no", "yes"], [], [0.8, 0.2])})
    >>> net.add("grass", ["dry", "wet"], ["rain"], [[0.9, 0.1], [0.2, 0.8]])
    >>> found = hd.query(net, {"grass": ["wet", "dry"]}, ["rain", "log_probability"])
    >>> found.to_pandas().round(3)
    target   rain        log_probability
    state      no    yes
    0       0.333  0.667          -1.427
    1       0.947  0.053          -0.274
    """

    model: Model
    n_rows: int
    probabilities: dict[Any, np.ndarray]
    log_probability: np.ndarray
    best_states: np.ndarray | None
    impossible_rows: np.ndarray
    labels: Any = None
    asks_log_probability: bool = field(default=False, repr=False)

    def __getitem__(self, target: Hashable) -> np.ndarray:
        """Return the probabilities of a target, (R, K)."""
        label, _ = read_target(self.model, target)
        if label not in self.probabilities:
            known = short_repr(tuple(self.probabilities))
            raise ModelError(f"expected a target of this query, {known}, got {target!r}")
        return self.probabilities[label]

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        targets = ", ".join(map(str, self.probabilities)) or "no variable"
        impossible = len(self.impossible_rows)
        note = f", {impossible:,} of them impossible" if impossible else ""
        return f"QueryResult({self.n_rows:,} rows{note}: {targets})"

    def _repr_html_(self) -> str:
        html: str = self.to_pandas()._repr_html_()
        return html

    def columns(self) -> list[tuple[Any, Any]]:
        """Return (target, state) for each column of `to_numpy`."""
        found: list[tuple[Any, Any]] = []
        for target, table in self.probabilities.items():
            _, indices = read_target(self.model, target)
            for states in np.ndindex(*table.shape[1:]):
                names = tuple(map(partial(state_label, self.model), indices, states))
                found.append((target, names[0] if len(names) == 1 else names))
        if self.best_states is not None:
            n = self.model.n_variables
            found += [(BEST_STATE, variable_label(self.model, i)) for i in range(n)]
        if self.asks_log_probability:
            found.append((LOG_PROBABILITY, ""))
        return found

    def to_numpy(self) -> np.ndarray:
        """Return all numbers, (R, columns), in the order of `columns()`.

        Most probable states are numbers of states.
        """
        parts = [table.reshape(self.n_rows, -1) for table in self.probabilities.values()]
        if self.best_states is not None:
            parts.append(self.best_states)
        if self.asks_log_probability:
            parts.append(self.log_probability[:, None])
        return np.concatenate([np.empty((self.n_rows, 0)), *parts], axis=1)

    def to_pandas(self) -> Any:
        """Return a data frame with one row per row of evidence, columns (target, state).

        The parts of joint distributions are joined by commas. Most probable states are given by
        name.
        """
        pandas = import_pandas()
        named = [tuple(map(_joined, column)) for column in self.columns()]
        columns = pandas.MultiIndex.from_tuples(named, names=["target", "state"])
        frame = pandas.DataFrame(self.to_numpy(), columns=columns, index=self.labels)
        if self.best_states is not None:
            names = [self._names_of_best(i) for i in range(self.model.n_variables)]
            for i, column in enumerate(names):
                frame[BEST_STATE, _joined(variable_label(self.model, i))] = column
        return frame

    def _names_of_best(self, i: int) -> list[Any]:
        assert self.best_states is not None
        states = self.best_states[:, i].tolist()
        return [None if k < 0 else state_label(self.model, i, k) for k in states]


def _joined(label: object) -> Any:
    """Return a label of a column: tuples as one text."""
    return ", ".join(map(str, label)) if isinstance(label, tuple) else label

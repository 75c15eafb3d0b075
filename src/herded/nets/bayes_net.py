"""`BayesNet`: P(x) = prod_i P(x_i | parents of i), built by name and printed as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from graphlib import CycleError, TopologicalSorter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.methods.row_queries.row_evidence import RowTargets, read_row_evidence
from herded.methods.row_queries.row_jobs import RowAnswers, row_jobs
from herded.models.data_frames import MISSING, DataRows, read_rows
from herded.models.factor_graph import FactorGraph
from herded.models.naming import find_state
from herded.nets.ancestral_sampling import as_frame, draw_rows
from herded.nets.conditional_table import ConditionalTable, read_table
from herded.system import memory_limits
from herded.system.argument_checks import is_whole_number, short_repr
from herded.system.html import html_table
from herded.system.memory_limits import Size
from herded.system.numerics.exp_log import exp_array, log_array
from herded.system.suggestions import did_you_mean

ARRAY_FIELDS = frozenset(field.name for field in fields(FactorGraph))
MAX_SHOWN_TABLE_ROWS = 40  # of all tables of a net that is printed with its tables
MAX_SHOWN_VARIABLES = 24  # of a net that is printed without them


class BayesNet(FactorGraph):
    r"""A Bayesian network: variables with named states, and their conditional probabilities.

    A net is a model: `hd.infer`, `hd.query` and all methods take it. Add every variable before the
    first use, after which a net stays as it is.

    Parameters
    ----------
    variables : mapping, optional
        From names to the arguments of `add`, in any order: a mapping with `states`, `parents` and
        `table`, or a tuple of them.

    Notes
    -----
    Tables hold probabilities, never logarithms. A table has one axis for each parent, in their
    order, and the states of the child on the last axis, so that its last axis sums to 1::

        table[sprinkler, rain, grass]         dry   wet   (child: the last axis)
                          off  no       [[[  1.0,  0.0 ],
                          off  yes         [ 0.2,  0.8 ]],
                          on   no         [[ 0.1,  0.9 ],
                          on   yes         [ 0.01, 0.99 ]]]

    A table may also be a mapping from the parents' states to rows, or a data frame with the
    parents as index or columns and a column for each state of the child.

    Examples
    --------
    >>> net = hd.BayesNet()
    >>> net.add("rain", ["no", "yes"], table=[0.8, 0.2])
    >>> net.add("sprinkler", ["off", "on"], table=[0.6, 0.4])
    >>> net.add(
    ...     "grass", ["dry", "wet"], parents=["sprinkler", "rain"],
    ...     table={
    ...         ("off", "no"): [1.0, 0.0], ("off", "yes"): [0.2, 0.8],
    ...         ("on", "no"): [0.1, 0.9], ("on", "yes"): [0.01, 0.99],
    ...     },
    ... )
    >>> {s: round(p, 3) for s, p in hd.infer(net.given({"grass": "wet"})).marginal("rain").items()}
    {'no': 0.622, 'yes': 0.378}
    >>> net.topological_order, net.children["rain"]
    (('rain', 'sprinkler', 'grass'), ('grass',))
    """

    def __init__(self, variables: Mapping[str, Any] | None = None) -> None:
        self.__dict__["_definitions"] = {}
        if variables is None:
            return
        if not isinstance(variables, Mapping):
            raise ModelError(
                "expected variables as a mapping from names to states, parents and table, got "
                f"{short_repr(variables)}"
            )
        given = {str(name): _as_arguments(name, each) for name, each in variables.items()}
        for name in _sorted_by_parents(given):
            self.add(name, **given[name])

    @classmethod
    def from_factor_graph(cls, graph: FactorGraph) -> Self:
        """Read a net from a factor graph: one factor for each variable, the child last.

        Probabilities stay as they are, also where a file has rounded them.
        """
        net = cls.__new__(cls)
        net.__dict__.update(graph.array_fields())
        net.__dict__["_definitions"] = None
        return net

    def __getattr__(self, name: str) -> Any:
        """Build the arrays of a factor graph when one is first asked for."""
        if name not in ARRAY_FIELDS or "_definitions" not in self.__dict__:
            message = f"{type(self).__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        if not self.__dict__["_definitions"]:
            raise ModelError("expected variables in the Bayes net, got none: add some")
        self._build()
        return self.__dict__[name]

    # -- building ---------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        states: Sequence[Any],
        parents: Sequence[str] = (),
        table: object = None,
    ) -> None:
        """Add a variable.

        Parameters
        ----------
        name : str
        states : sequence
            The names of its states.
        parents : sequence of str
            Variables that were added before.
        table : array_like, mapping or data frame
            The probabilities of its states given those of its parents; see `BayesNet`.

        Raises
        ------
        ModelError
            If the name is taken, a parent is unknown, or a row of the table is no distribution:
            with the row.
        """
        definitions = self.__dict__["_definitions"]
        if definitions is None or "cardinalities" in self.__dict__:
            raise ModelError(
                f"expected all variables to be added before the net is used, got {name!r} later: "
                "build a new net"
            )
        name = str(name)
        if name in definitions:
            raise ModelError(f"expected distinct variables, got {name!r} twice")
        states = _as_names(states, f"states of {name!r}")
        parents = () if not len(parents) else _as_names(parents, f"parents of {name!r}")
        for parent in parents:
            if parent not in definitions:
                hint = did_you_mean(parent, definitions)
                raise ModelError(
                    f"expected parents of {name!r} that were added before, got {parent!r}{hint}"
                )
        if table is None:
            raise ModelError(f"expected a table of probabilities for {name!r}, got none")
        parent_states = tuple(definitions[parent].states for parent in parents)
        definitions[name] = read_table(name, states, parents, parent_states, table)

    def _build(self) -> None:
        """Lay the tables out as a factor graph, in the order in which they were added."""
        tables = list(self.__dict__["_definitions"].values())
        index = {table.child: i for i, table in enumerate(tables)}
        scopes = [[index[name] for name in (*t.parents, t.child)] for t in tables]
        graph = FactorGraph.from_arrays(
            [len(t.states) for t in tables],
            np.cumsum([0, *map(len, scopes)]),
            np.concatenate([np.array(scope) for scope in scopes]),
            log_array(np.concatenate([t.probabilities.ravel() for t in tables])),
            names=tuple(index),
            state_names=tuple(t.states for t in tables),
        )
        self.__dict__.update(graph.array_fields())

    # -- what it is made of -----------------------------------------------------------------------

    def cpt(self, name: str) -> ConditionalTable:
        """Return the conditional probabilities of a variable, as a table with labels."""
        tables = self._tables()
        if name not in tables:
            raise ModelError(
                f"expected the name of a variable, got {name!r}{did_you_mean(str(name), tables)}"
            )
        return tables[name]

    def _tables(self) -> dict[str, ConditionalTable]:
        if self.__dict__["_definitions"] is None:
            tables = (self._table(f) for f in range(self.n_factors))
            by_child = {table.child: table for table in tables}
            self.__dict__["_definitions"] = {name: by_child[name] for name in self.names or ()}
        found: dict[str, ConditionalTable] = self.__dict__["_definitions"]
        return found

    def _table(self, f: int) -> ConditionalTable:
        variables, log_table = self.factor(f)
        assert self.names is not None and self.state_names is not None
        *parents, child = (self.names[i] for i in variables)
        *parent_states, states = (self.state_names[i] for i in variables)
        values = exp_array(log_table)
        return ConditionalTable(child, states, tuple(parents), tuple(parent_states), values)

    @property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The parents of each variable."""
        return {name: table.parents for name, table in self._tables().items()}

    @property
    def children(self) -> dict[str, tuple[str, ...]]:
        """The children of each variable."""
        found: dict[str, list[str]] = {name: [] for name in self._tables()}
        for name, table in self._tables().items():
            for parent in table.parents:
                found[parent].append(name)
        return {name: tuple(children) for name, children in found.items()}

    @property
    def topological_order(self) -> tuple[str, ...]:
        """All variables, parents before their children; otherwise as they were added."""
        return tuple(_sorted_by_parents({n: {"parents": p} for n, p in self.parents.items()}))

    # -- other nets -------------------------------------------------------------------------------

    def with_evidence(self, states: ArrayLike) -> Self:
        """Return the net with this evidence only, as an array (N,), -1 where unknown."""
        self._tables()
        net = super().with_evidence(states)
        net.__dict__["_definitions"] = self.__dict__["_definitions"]
        return net

    def do(self, interventions: Mapping[str, Any]) -> Self:
        """Return the net after interventions, which set variables regardless of their parents.

        Parameters
        ----------
        interventions : mapping
            From names to states. The variables lose their parents and have that state for certain.

        Examples
        --------
        >>> net = hd.BayesNet()
        >>> net.add("rain", ["no", "yes"], table=[0.8, 0.2])
        >>> net.add("grass", ["dry", "wet"], ["rain"], [[0.9, 0.1], [0.2, 0.8]])
        >>> hd.infer(net.do({"grass": "wet"})).marginal("rain")
        {'no': 0.8, 'yes': 0.2}
        """
        if not isinstance(interventions, Mapping):
            raise ModelError(
                f"expected interventions as {{variable: state}}, got {short_repr(interventions)}"
            )
        tables = dict(self._tables())
        for name, state in interventions.items():
            old = self.cpt(name)
            found = find_state(old.states, len(old.states), state)
            if found is None:
                raise ModelError(
                    f"expected a state of {name!r} ({', '.join(old.states)}), got {state!r}"
                )
            point = np.zeros(len(old.states))
            point[found] = 1.0
            tables[name] = ConditionalTable(name, old.states, (), (), point)
        net = type(self)()
        net.__dict__["_definitions"] = tables
        return net.with_evidence(self.evidence) if (self.evidence >= 0).any() else net

    # -- data -------------------------------------------------------------------------------------

    def sample(self, n: int, *, seed: int = 0, labelled: bool = True) -> Any:
        """Draw independent rows from the net, parents before their children.

        Parameters
        ----------
        n : int
        seed : int
        labelled : bool
            A pandas data frame of named states, or an array (n, N) of their indices.

        Examples
        --------
        >>> net = hd.BayesNet({"rain": (["no", "yes"], [], [0.8, 0.2])})
        >>> net.sample(10_000)["rain"].eq("yes").mean().round(1)
        np.float64(0.2)
        """
        if not is_whole_number(n, 0):
            raise ModelError(f"expected the number of rows as 0 or more, got {short_repr(n)}")
        if (self.evidence >= 0).any():
            raise ModelError(
                "expected a net without evidence to sample from, since drawing parents first "
                "ignores it, got some: use hd.infer(net, hd.Gibbs(), keep=[hd.Samples()])"
            )
        tables = [self._tables()[name] for name in self.topological_order]
        index = {name: i for i, name in enumerate(self.names or ())}
        rows = draw_rows(tables, index, int(n), seed)
        return as_frame(rows, self.names, self.state_names) if labelled else rows

    def log_probability(self, data: object, *, max_memory: Size | None = None) -> np.ndarray:
        """Return the log-probability of each row; missing cells are summed over.

        Parameters
        ----------
        data : data frame, mapping or array of shape (rows, N)
            See `hd.query`.
        max_memory : int or str, optional
            Most memory, in bytes or as "2G".

        Returns
        -------
        ndarray of shape (rows,)
        """
        rows = read_rows(self, data)
        evidence = read_row_evidence(self, _as_mapping(self, rows))
        wanted = RowTargets({}, asks_best_state=False, asks_log_probability=True)
        limit = memory_limits.memory_limit(max_memory)
        answers = RowAnswers.allocate(self, wanted, evidence.n_rows, limit)
        for job in row_jobs(self, evidence, wanted, limit):
            job.run(answers)
        return answers.log_probability

    # -- shown ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        tables = self._tables()
        arcs = sum(len(table.parents) for table in tables.values())
        observed = ""
        if "cardinalities" in self.__dict__ and (self.evidence >= 0).any():
            observed = f", {int((self.evidence >= 0).sum())} observed"
        head = (
            f"BayesNet({len(tables)} variable{'s' * (len(tables) != 1)}, {arcs} "
            f"arc{'s' * (arcs != 1)}{observed})"
        )
        if sum(table.n_rows for table in tables.values()) <= MAX_SHOWN_TABLE_ROWS:
            return "\n\n".join([head, *map(repr, tables.values())])
        lines = [f"{t.title}: {', '.join(t.states)}" for t in tables.values()]
        hidden = len(lines) - MAX_SHOWN_VARIABLES
        more = [f"... and {hidden} more variables"] if hidden > 0 else []
        return "\n".join([head, *lines[:MAX_SHOWN_VARIABLES], *more])

    def _repr_html_(self) -> str:
        tables = list(self._tables().values())
        if sum(table.n_rows for table in tables) <= MAX_SHOWN_TABLE_ROWS:
            return "".join(table._repr_html_() for table in tables)
        rows = [[t.title, ", ".join(t.states)] for t in tables]
        return html_table(repr(self).splitlines()[0], [["variable", "states"], *rows], head=True)


def _as_mapping(net: BayesNet, rows: DataRows) -> dict[Any, Any]:
    """Read rows as a mapping of columns of states, None where one is missing."""
    assert net.names is not None and net.state_names is not None
    found = {}
    for i, column in rows.columns.items():
        names = np.array([*net.state_names[i], None], object)
        found[net.names[i]] = names[np.where(column == MISSING, len(names) - 1, column)]
    return found


def _as_arguments(name: object, given: object) -> dict[str, Any]:
    """Return the arguments of `add` that a mapping of variables holds for one of them."""
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in ("states", "parents", "table")]
        if unknown or not {"states", "table"} <= given.keys():
            raise ModelError(
                f"expected states, table and perhaps parents of {name!r}, got {short_repr(given)}"
            )
        return {"parents": (), **given}
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) == 3:
        return dict(zip(("states", "parents", "table"), given, strict=True))
    raise ModelError(
        f"expected (states, parents, table) of {name!r}, or a mapping of them, got "
        f"{short_repr(given)}"
    )


def _as_names(names: object, what: str) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ModelError(f"expected a list of the {what}, got {short_repr(names)}")
    found = tuple(map(str, names))
    if not found or len(set(found)) < len(found) or "" in found:
        raise ModelError(f"expected one or more distinct {what}, got {short_repr(names)}")
    return found


def _sorted_by_parents(variables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the names with parents first; otherwise in their order."""
    sorter = TopologicalSorter({name: [] for name in variables})
    for name, given in variables.items():
        sorter.add(name, *(p for p in map(str, given["parents"]) if p in variables))
    try:
        sorter.prepare()
    except CycleError as error:
        loop = " -> ".join(reversed(error.args[1]))
        raise ModelError(f"expected no cycle of parents, got {loop}: drop one of them") from error
    place = {name: k for k, name in enumerate(variables)}
    found: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=place.__getitem__)
        found += ready
        sorter.done(*ready)
    return found

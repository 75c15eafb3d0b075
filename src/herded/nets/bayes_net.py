"""`BayesNet`: P(x) = prod_i P(x_i | parents of i), built by name and printed as tables."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import HerdedWarning, ModelError
from herded.methods.options import check_seed
from herded.methods.row_queries.row_evidence import RowEvidence, RowTargets, without_known
from herded.methods.row_queries.row_jobs import RowAnswers, row_jobs
from herded.models.data_frames import read_rows
from herded.models.factor_graph import FactorGraph
from herded.models.naming import find_state
from herded.nets.ancestral_sampling import as_frame, check_sample_memory, draw_rows
from herded.nets.conditional_table import ConditionalTable
from herded.nets.net_arrays import EmptyNetError, label_fields, table_of_factor, tables_as_graph
from herded.nets.net_display import net_html, net_text
from herded.nets.net_structure import find_net_factors, sort_by_parents
from herded.nets.table_reader import read_table
from herded.nets.variable_arguments import read_arguments, read_parents, read_states
from herded.system import memory_limits
from herded.system.argument_checks import is_whole_number, short_repr
from herded.system.memory_limits import Size
from herded.system.suggestions import did_you_mean

ARRAY_FIELDS = frozenset(field.name for field in fields(FactorGraph))
LABEL_FIELDS = frozenset({"cardinalities", "evidence", "names", "state_names", "shape"})
DERIVED_FIELDS = frozenset({"has_hard_zeros", "content_hash", "adjacency"})


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

    A table may also be a mapping from the parents' states to rows, a data frame with the parents
    as index or columns and a column for each state of the child, or the table of another net.

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
        given: dict[str, dict[str, Any]] = {}
        for name, each in variables.items():
            if str(name) in given:
                raise ModelError(f"expected distinct variables, got {str(name)!r} twice")
            given[str(name)] = read_arguments(name, each)
        for name in sort_by_parents({name: each["parents"] for name, each in given.items()}):
            self.add(name, **given[name])

    @classmethod
    def from_factor_graph(cls, graph: FactorGraph) -> Self:
        """Read a net from a factor graph: one factor for each variable, the child last.

        Probabilities stay as they are, also where a file has rounded them.

        Parameters
        ----------
        graph : FactorGraph
            With names of variables and of states.

        Raises
        ------
        ModelError
            If the graph has no names, or its factors are not those of a Bayes net.
        """
        graph, _ = find_net_factors(graph, "keep the FactorGraph")
        if graph.names is None or graph.state_names is None:
            raise ModelError(
                "expected a factor graph with names= of variables and state_names=, got one without"
            )
        net = cls.__new__(cls)
        net.__dict__.update(graph.array_fields())
        net.__dict__["_definitions"] = None
        return net

    @classmethod
    def from_arrays(cls, *args: Any, **kwargs: Any) -> Self:
        """Build the net of a factor graph that `FactorGraph.from_arrays` builds."""
        return cls.from_factor_graph(FactorGraph.from_arrays(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        """Build the arrays of a factor graph when one is first asked for."""
        definitions = self.__dict__.get("_definitions")
        if definitions == {} and (name in ARRAY_FIELDS or hasattr(type(self), name)):
            raise EmptyNetError
        if name not in ARRAY_FIELDS or "_definitions" not in self.__dict__:
            message = f"{type(self).__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        if name in LABEL_FIELDS:
            self.__dict__.update(label_fields(self._tables()))
        else:
            self.__dict__.update(self._graph().array_fields())
        return self.__dict__[name]

    def __copy__(self) -> Self:
        net = type(self).__new__(type(self))
        net.__dict__.update(self.__dict__)
        if self.__dict__["_definitions"] is not None:
            net.__dict__["_definitions"] = dict(self.__dict__["_definitions"])
        return net

    # -- building ---------------------------------------------------------------------------------

    def add(
        self,
        name: str,
        states: Sequence[Any],
        parents: Sequence[str] | None = (),
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
        table : array_like, mapping, data frame, series or ConditionalTable
            The probabilities of its states given those of its parents; see `BayesNet`.

        Raises
        ------
        ModelError
            If the name is taken, a parent is unknown, or a row of the table is no distribution:
            with the row.
        """
        definitions = self.__dict__["_definitions"]
        if definitions is None or "log_tables" in self.__dict__:
            raise ModelError(
                f"expected all variables to be added before the net is used, got {name!r} later: "
                "build a new net"
            )
        name = str(name)
        if name in definitions:
            raise ModelError(f"expected distinct variables, got {name!r} twice")
        states, parents = read_states(name, states), read_parents(name, parents)
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
        for field in LABEL_FIELDS | DERIVED_FIELDS:
            self.__dict__.pop(field, None)

    def array_fields(self) -> dict[str, Any]:
        """Return the fields that define the model, after which no variable can be added."""
        self.log_tables  # noqa: B018 - builds all arrays
        return super().array_fields()

    def __hash__(self) -> int:
        self.array_fields()  # what is hashed must not change
        return super().__hash__()

    def _equality_key(self) -> tuple[Any, ...]:
        return super()._equality_key() if self._tables() else ()

    # Looking at these, as `isinstance(net, hd.Model)` does, leaves a net open for more variables.

    @cached_property
    def has_hard_zeros(self) -> bool:
        """Whether some probability is 0."""
        return self._graph().has_hard_zeros

    @cached_property
    def content_hash(self) -> str:
        """Sixteen hex digits, equal for equal numbers, whatever the names."""
        return self._graph().content_hash

    @cached_property
    def adjacency(self) -> tuple[np.ndarray, np.ndarray]:
        """Neighbour lists of all variables: (start, members)."""
        return self._graph().adjacency

    def _graph(self) -> FactorGraph:
        """Lay the tables out as a factor graph, in the order in which they were added."""
        if "log_tables" in self.__dict__:
            same = object.__new__(FactorGraph)
            same.__dict__.update(super().array_fields())
            return same
        return tables_as_graph(self.__dict__["_definitions"])

    # -- what it is made of -----------------------------------------------------------------------

    def cpt(self, name: str) -> ConditionalTable:
        """Return the conditional probabilities of a variable, as a table with labels."""
        tables = self._tables()
        if not isinstance(name, str) or name not in tables:
            raise ModelError(
                f"expected the name of a variable, got {short_repr(name)}"
                f"{did_you_mean(str(name), tables)}"
            )
        return tables[name]

    def _tables(self) -> dict[str, ConditionalTable]:
        if self.__dict__["_definitions"] is None:
            tables = (table_of_factor(self, f) for f in range(self.n_factors))
            by_child = {table.child: table for table in tables}
            self.__dict__["_definitions"] = {name: by_child[name] for name in self.names or ()}
        found: dict[str, ConditionalTable] = self.__dict__["_definitions"]
        return found

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
        return tuple(sort_by_parents(self.parents))

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
        observed = np.array(self.evidence)
        for name, state in interventions.items():
            old = self.cpt(name)
            found = find_state(old.states, len(old.states), state)
            if found is None:
                raise ModelError(
                    f"expected a state of {name!r} ({', '.join(old.states)}), got {state!r}"
                )
            i = list(tables).index(name)
            if observed[i] not in (-1, found):
                raise ModelError(
                    f"expected {name!r} to be set to {old.states[observed[i]]!r}, as it was "
                    f"observed, got {old.states[found]!r}: intervene in the net without evidence"
                )
            observed[i] = -1
            point = np.zeros(len(old.states))
            point[found] = 1.0
            tables[name] = ConditionalTable(name, old.states, (), (), point)
        net = type(self).__new__(type(self))
        net.__dict__["_definitions"] = tables
        return net.with_evidence(observed) if (observed >= 0).any() else net

    # -- data -------------------------------------------------------------------------------------

    def sample(
        self, n: int, *, seed: int = 0, labelled: bool = True, max_memory: Size | None = None
    ) -> Any:
        """Draw independent rows from the net, parents before their children.

        Parameters
        ----------
        n : int
        seed : int
        labelled : bool
            A pandas data frame of named states, or an array (n, N) of their indices.
        max_memory : int or str, optional
            Most memory, in bytes or as "2G".

        Examples
        --------
        >>> net = hd.BayesNet({"rain": (["no", "yes"], [], [0.8, 0.2])})
        >>> net.sample(10_000)["rain"].eq("yes").mean().round(1)
        np.float64(0.2)
        """
        if not is_whole_number(n, 0):
            raise ModelError(f"expected the number of rows as 0 or more, got {short_repr(n)}")
        check_seed(seed)
        if (self.evidence >= 0).any():
            raise ModelError(
                "expected a net without evidence to sample from, since drawing parents first "
                "ignores it, got some: use hd.infer(net, hd.Gibbs(), keep=[hd.Samples()])"
            )
        tables = [self._tables()[name] for name in self.topological_order]
        check_sample_memory(tables, int(n), max_memory)
        index = {name: i for i, name in enumerate(self.names or ())}
        rows = draw_rows(tables, index, int(n), int(seed))
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
        if rows.ignored:
            warnings.warn(
                f"columns {', '.join(map(repr, rows.ignored))} of data are no variables of the net "
                "and are ignored",
                HerdedWarning,
                stacklevel=2,
            )
        evidence = RowEvidence(rows.n_rows, without_known(self, rows), {})
        wanted = RowTargets({}, asks_best_state=False, asks_log_probability=True)
        limit = memory_limits.memory_limit(max_memory)
        answers = RowAnswers.allocate(self, wanted, evidence.n_rows, limit)
        for job in row_jobs(self, evidence, wanted, limit):
            job.run(answers)
        return answers.log_probability

    # -- shown ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return net_text(list(self._tables().values()), self.__dict__.get("evidence"))

    def _repr_html_(self) -> str:
        return net_html(list(self._tables().values()), self.__dict__.get("evidence"))

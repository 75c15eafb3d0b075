"""Bayes nets, pi(x) = prod_i P(x_i | parents of i): the content of BIF and XMLBIF files.

As a factor graph, a net has one factor for each variable, in their order, over its parents and,
last, the variable itself. Any graph of this form is a net, and can be written as one.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from herded.errors import FileError, ModelError
from herded.io.number_parser import MAX_COUNT, exp_of, log_of
from herded.models.factor_graph import FactorGraph
from herded.models.protocol import Model
from herded.nets.bayes_net import BayesNet
from herded.nets.net_structure import find_cycle, find_net_factors, find_wrong_row
from herded.system.atomic_files import FilePath


@dataclass(frozen=True)
class ParsedTable:
    """P(child | parents): a row of probabilities for each state of the parents, the last fastest.

    `where` is its place in the file.
    """

    child: str
    parents: tuple[str, ...]
    rows: np.ndarray
    where: int = 0


@dataclass
class NetFile:
    """The variables and states that a file has declared so far.

    Each reader has its own kind of position in a file, which `line_of` turns into a line.
    """

    path: FilePath
    line_of: Callable[[int], int]
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def wrong(self, where: int, expected: str, got: str, remedy: str) -> FileError:
        """Build an error about a position in the file."""
        line = self.line_of(where)
        return FileError(f"expected {expected}, got {got} in line {line} of {self.path}: {remedy}")

    def declare(self, name: str, states: Sequence[str], where: int) -> None:
        """Declare a new variable."""
        if name in self.states:
            raise self.wrong(where, "each variable once", f"{name!r} again", "drop one")
        if not name or "" in states:
            raise self.wrong(where, "names of variables and states", "an empty one", "name it")
        if not states:
            raise self.wrong(where, f"one or more states of {name!r}", "none", "name them")
        if len(set(states)) < len(states):
            got = f"{_most_frequent_name(states)!r} twice"
            raise self.wrong(where, f"distinct states of {name!r}", got, "rename it")
        self.states[name] = tuple(states)

    def shape(self, child: str, parents: Sequence[str], where: int) -> tuple[int, int]:
        """Return how many rows P(child | parents) has, and their length."""
        names = (child, *parents)
        unknown = next((name for name in names if name not in self.states), None)
        if unknown is not None:
            raise self.wrong(where, "a variable of this file", repr(unknown), "declare it")
        if len(set(names)) < len(names):
            raise self.wrong(
                where, "each variable once", f"{_most_frequent_name(names)!r} twice", "drop one"
            )
        n_rows, k = math.prod(len(self.states[name]) for name in parents), len(self.states[child])
        if n_rows * k > MAX_COUNT:
            got = f"{len(parents)} parents of {child!r}, with more states"
            raise self.wrong(where, "parents of at most 2^48 states together", got, "drop some")
        return n_rows, k

    def net(self, conditionals: Sequence[ParsedTable]) -> BayesNet:
        """Build the Bayes net of a complete file."""
        of = self._by_child(conditionals)
        if not of:
            raise FileError(
                f"expected a Bayes net in {self.path}, got no variables: use another file"
            )
        loop = find_cycle({child: each.parents for child, each in of.items()})
        if loop:
            got = f"one of {len(loop)} variables through {loop[0]!r}"
            raise self.wrong(of[loop[0]].where, "no cycle of parents", got, "cut it")
        index = {name: i for i, name in enumerate(self.states)}
        scopes = [[index[name] for name in (*of[child].parents, child)] for child in self.states]
        try:
            graph = FactorGraph.from_arrays(
                [len(states) for states in self.states.values()],
                np.cumsum([0, *map(len, scopes)]),
                np.concatenate([np.asarray(scope) for scope in scopes]),
                log_of(np.concatenate([of[child].rows.ravel() for child in self.states])),
                names=tuple(self.states),
                state_names=tuple(self.states.values()),
            )
        except ModelError as error:
            raise FileError(f"{error} (in {self.path})") from error
        return BayesNet.from_factor_graph(graph)

    def _by_child(self, conditionals: Sequence[ParsedTable]) -> dict[str, ParsedTable]:
        of: dict[str, ParsedTable] = {}
        for conditional in conditionals:
            child, where = conditional.child, conditional.where
            if child in of:
                raise self.wrong(where, f"one table for {child!r}", "another", "drop one")
            row = find_wrong_row(conditional.rows)
            if row is not None:
                got = " ".join(map(str, conditional.rows[row, :8].tolist()))
                raise self.wrong(
                    where,
                    f"probabilities of {child!r} that sum to 1",
                    f"{got} in row {row}",
                    "correct them",
                )
            of[child] = conditional
        missing = [name for name in self.states if name not in of]
        if missing:
            raise FileError(
                f"expected the probabilities of every variable in {self.path}, got none of "
                f"{missing[0]!r}: add them"
            )
        return of


def _most_frequent_name(names: Sequence[str]) -> str:
    return Counter(names).most_common(1)[0][0]


def to_bayes_net_tables(model: Model) -> tuple[dict[str, tuple[str, ...]], list[ParsedTable]]:
    """Return the states and the conditional probabilities of a model that is a Bayes net.

    Unnamed variables become x0, x1, ..., and unnamed states s0, s1, ...
    """
    graph, factor_of = find_net_factors(model, "use write_uai, which takes any model")
    if (graph.evidence >= 0).any():
        raise ModelError(
            "expected a Bayes net without evidence, which such files cannot hold, got evidence: "
            "write the model without it"
        )
    names = graph.names or [f"x{i}" for i in range(graph.n_variables)]
    cards = graph.cardinalities.tolist()
    states = graph.state_names or [tuple(f"s{k}" for k in range(card)) for card in cards]
    probabilities = exp_of(graph.log_tables)
    conditionals = []
    for child, f in enumerate(factor_of):
        parents = tuple(names[i] for i in graph.factor(f)[0][:-1].tolist())
        rows = probabilities[graph.table_start[f] : graph.table_start[f + 1]]
        conditionals.append(ParsedTable(names[child], parents, rows.reshape(-1, cards[child])))
    return dict(zip(names, states, strict=True)), conditionals

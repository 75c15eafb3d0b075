"""Bayes nets in the Interchange Format (BIF), used by the repositories of bnlearn and others.

    network "rain" { }
    variable rain { type discrete [ 2 ] { yes, no }; }
    variable wet { type discrete [ 2 ] { yes, no }; }
    probability ( rain ) { table 0.2, 0.8; }
    probability ( wet | rain ) { (yes) 0.9, 0.1; default 0.1, 0.9; }

Commas and bars carry no meaning, and properties are skipped. In a `table` with parents the variable
itself varies slowest, followed by its parents in order.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from herded.errors import ModelError
from herded.io.bayes_net_tables import NetFile, ParsedTable, to_bayes_net_tables
from herded.io.bif_tokenizer import TokenReader, TokenRow
from herded.io.number_parser import read_text_bytes
from herded.models.factor_graph import FactorGraph
from herded.nets.bayes_net import BayesNet
from herded.system import memory_limits
from herded.system.atomic_files import FilePath, write_bytes
from herded.system.memory_limits import Size

KEYWORDS = {"network", "variable", "probability", "property", "type", "table", "default"}
PLAIN_NAME_PATTERN = re.compile(r"(?:[\w.<>=+*%:&-]|/(?![/*]))+")  # a name that needs no quotes
UNWRITABLE_PATTERN = re.compile(r'["\ud800-\udfff]')  # also characters that UTF-8 cannot encode
TABLE_COPIES = 6  # of a table that exist while a model is built from it


def read_bif(path: FilePath, *, max_memory: Size | None = None) -> BayesNet:
    """Read a Bayes net from a file in the Interchange Format (BIF).

    Parameters
    ----------
    path : path-like
        A .bif file, gzipped or not.
    max_memory : int, float or str, optional
        The most memory that reading may take, in bytes or as "2G"; by default half of what is free.

    Returns
    -------
    BayesNet
        With the names of variables and states. The factor of a variable is over its parents and,
        last, the variable itself.

    Raises
    ------
    FileError
        If the file cannot be read, with the line where reading failed.
    MemoryLimitError
        If the file is too large.

    Examples
    --------
    >>> text = '''network rain { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }'''
    >>> with open("rain.bif", "w") as file:
    ...     _ = file.write(text)
    >>> model = hd.io.read_bif("rain.bif")
    >>> model.names, model.state_names
    (('rain',), (('no', 'yes'),))
    """
    tokens = TokenReader(path, read_text_bytes(path, max_memory))
    net, definitions = NetFile(path, tokens.line), []
    while tokens.left:
        word = tokens.next()
        if word == "network":
            tokens.name("the name of the network")
            for _ in tokens.statements():
                raise tokens.wrong("a property", "write `property ...;`, or drop it")
        elif word == "variable":
            _read_variable(tokens, net)
        elif word == "probability":
            definitions.append(_read_definition(tokens))
        else:
            raise tokens.wrong("network, variable or probability", "make other text a // comment")
    _check_memory(net, definitions, memory_limits.memory_limit(max_memory))
    return net.net([_conditional(tokens, net, definition) for definition in definitions])


def write_bif(model: FactorGraph, path: FilePath) -> None:
    """Write a Bayes net in the Interchange Format (BIF).

    A model that `read_bif` read is written so that it reads back the same, bit for bit.

    Parameters
    ----------
    model : FactorGraph
        A model whose factors are the conditional tables of a Bayes net.
    path : path-like
        The file appears only when it is complete.

    Raises
    ------
    ModelError
        If the model has evidence, or is not a Bayes net: its factors must be one table P(x |
        parents) for each variable x, which comes last in it, with rows that sum to 1.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> rain, wet = np.log([0.8, 0.2]), np.log([[0.9, 0.1], [0.3, 0.7]])
    >>> net = hd.FactorGraph(
    ...     [2, 2], [((0,), rain), ((0, 1), wet)],
    ...     names=["rain", "wet"], state_names=[["no", "yes"]] * 2,
    ... )
    >>> hd.io.write_bif(net, "weather.bif")
    >>> hd.io.read_bif("weather.bif").state_names
    (('no', 'yes'), ('no', 'yes'))
    """
    states, conditionals = to_bayes_net_tables(model)
    write_bytes(path, [block.encode() for block in _bif_parts(states, conditionals)])


# -- reading -----------------------------------------------------------------------------------


@dataclass
class _Definition:
    """A probability block as written in the file."""

    where: int
    child: str
    parents: tuple[str, ...]
    rows: list[tuple[list[str], TokenRow]] = field(default_factory=list)
    whole: dict[str, TokenRow] = field(default_factory=dict)  # the rows of `table` and `default`


def _read_variable(tokens: TokenReader, net: NetFile) -> None:
    where = tokens.at
    name = tokens.name("the name of a variable")
    states: list[str] | None = None
    for word in tokens.statements():
        if word != "type" or states is not None:
            raise tokens.wrong("one type, and properties", "drop it")
        tokens.expect("discrete", "[")
        count = tokens.name("the number of states")
        tokens.expect("]", "{")
        states = tokens.names("the name of a state", "}")
        if count != str(len(states)):
            raise tokens.wrong(f"{count} states of {name!r}, not {len(states)}", "correct it")
        tokens.expect(";")
    net.declare(name, states or [], where)


def _read_definition(tokens: TokenReader) -> _Definition:
    where = tokens.at
    tokens.expect("(")
    names = tokens.names("the name of a variable", ")")
    if not names:
        raise tokens.wrong("the name of a variable", "name it")
    found = _Definition(where, names[0], tuple(names[1:]))
    for word in tokens.statements():
        if word == "(":
            parents = tokens.names("the state of a parent", ")")
            found.rows.append((parents, tokens.numbers()))
        elif word in ("table", "default") and word not in found.whole:
            found.whole[word] = tokens.numbers()
        else:
            raise tokens.wrong(
                "one table, one default, or states of the parents in brackets", "drop it"
            )
    if "table" in found.whole and (found.rows or "default" in found.whole):
        raise tokens.wrong("either a table or rows, not both", "drop one of them", where)
    return found


def _check_memory(net: NetFile, definitions: list[_Definition], max_memory: float) -> None:
    """Check the memory of tables with a `default`, since its one line may fill any size."""
    need = 0
    for definition in definitions:
        rows, k = net.shape(definition.child, definition.parents, definition.where)
        if "default" in definition.whole:
            need += TABLE_COPIES * 8 * rows * k
            memory_limits.check_memory(
                need, max_memory, f"the table of {definition.child!r} and those before it"
            )


def _conditional(tokens: TokenReader, net: NetFile, definition: _Definition) -> ParsedTable:
    child, parents, where = definition.child, definition.parents, definition.where
    n_rows, k = net.shape(child, parents, where)
    if "table" in definition.whole:
        numbers = definition.whole["table"]
        _check_count(tokens, numbers, n_rows * k)
        rows = np.frombuffer(numbers.values).reshape(k, n_rows).T
    else:
        rows = _rows(tokens, net, definition, n_rows, k)
    return ParsedTable(child, parents, np.ascontiguousarray(rows), where)


def _rows(
    tokens: TokenReader, net: NetFile, definition: _Definition, n_rows: int, k: int
) -> np.ndarray:
    """Return the rows that are written out, and the default for the others."""
    default, rows = definition.whole.get("default"), definition.rows
    if default is None and len(rows) != n_rows:
        raise net.wrong(
            definition.where,
            f"{n_rows} rows of {definition.child!r}, one for each state of its parents",
            str(len(rows)),
            "add the others, or a default",
        )
    for _, numbers in rows:
        _check_count(tokens, numbers, k)  # before memory is allocated for all of them
    table = np.full((n_rows, k), np.nan)
    if default is not None:
        _check_count(tokens, default, k)
        table[:] = default.values
    states = [{s: i for i, s in enumerate(net.states[name])} for name in definition.parents]
    seen: dict[int, None] = {}  # in their order in the file
    for names, numbers in rows:
        row = 0
        if len(names) == len(states):
            for index, name in zip(states, names, strict=True):
                row = row * len(index) + index.get(name, n_rows)
        if len(names) != len(states) or row >= n_rows or row in seen:
            raise tokens.wrong(
                f"one state of each parent of {definition.child!r}, and no row twice, before it",
                "correct the row",
                numbers.end,
            )
        seen[row] = None
    written = b"".join([numbers.values for _, numbers in rows])
    table[list(seen)] = np.frombuffer(written).reshape(-1, k)
    return table


def _check_count(tokens: TokenReader, numbers: TokenRow, count: int) -> None:
    got = len(numbers.values)
    if got != count:
        raise tokens.wrong(f"{count} numbers before it, not {got}", "correct it", numbers.end)


# -- writing -----------------------------------------------------------------------------------


def _bif_parts(
    states: dict[str, tuple[str, ...]], conditionals: Sequence[ParsedTable]
) -> Iterator[str]:
    quoted = {name: [_quote_name(state) for state in states[name]] for name in states}
    yield "network unknown {\n}\n"
    for name, of_name in quoted.items():
        listed = f"[ {len(of_name)} ] {{ {', '.join(of_name)} }}"
        yield f"variable {_quote_name(name)} {{\n  type discrete {listed};\n}}\n"
    for conditional in conditionals:
        parents = ", ".join(map(_quote_name, conditional.parents))
        given = f" | {parents}" if parents else ""
        yield f"probability ( {_quote_name(conditional.child)}{given} ) {{\n"
        combinations = product(*(quoted[name] for name in conditional.parents))
        for row, values in zip(combinations, conditional.rows.tolist(), strict=True):
            label = f"({', '.join(row)})" if row else "table"
            yield f"  {label} {', '.join(map(repr, values))};\n"
        yield "}\n"


def _quote_name(name: str) -> str:
    """Write a name as one token: in quotes if it has special characters or is a keyword."""
    if PLAIN_NAME_PATTERN.fullmatch(name) and name not in KEYWORDS:
        return name
    if UNWRITABLE_PATTERN.search(name):
        raise ModelError(f"expected names without quotes for a BIF file, got {name!r}: rename it")
    return f'"{name}"'

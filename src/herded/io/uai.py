"""Models in the format of the UAI inference competitions.

A file begins with MARKOV or BAYES, followed by numbers: the variables and their cardinalities, the
factors and their variables, and each factor's potentials, the last variable varying fastest. A
Bayes net is the product of its tables, so both kinds are read in the same way.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from herded.errors import FileError, ModelError
from herded.io.number_parser import (
    MAX_COUNT,
    NumberReader,
    after_header,
    log_of,
    read_text_bytes,
    table_potentials,
)
from herded.io.uai_evidence import MODEL_KEYWORDS, write_evidence
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.protocol import Model
from herded.system.atomic_files import FilePath, write_bytes
from herded.system.memory_limits import Size


def read_uai(path: FilePath, *, max_memory: Size | None = None) -> FactorGraph:
    """Read a model in the format of the UAI inference competitions.

    Parameters
    ----------
    path : path-like
        A .uai file (MARKOV or BAYES), gzipped or not.
    max_memory : int, float or str, optional
        The most memory that reading may take, in bytes or as "2G"; by default half of what is free.

    Returns
    -------
    FactorGraph
        Log-potentials are the logarithms of the numbers in the file, -inf for zeros.

    Raises
    ------
    FileError
        If the file cannot be read, with the line where reading failed.
    MemoryLimitError
        If the file is too large.

    Examples
    --------
    >>> with open("pair.uai", "w") as file:
    ...     _ = file.write("MARKOV 2 2 2 1 2 0 1 4 1.0 2.0 2.0 1.0")
    >>> model = hd.io.read_uai("pair.uai")
    >>> hd.infer(model, hd.Exact()).joint.round(3)
    array([[0.167, 0.333],
           [0.333, 0.167]])
    """
    text = read_text_bytes(path, max_memory)
    remedy = "use a file in the UAI format, or read_model, which reads other formats too"
    numbers = NumberReader.parse(path, text, after_header(path, text, MODEL_KEYWORDS, remedy))
    n = numbers.count(0, "the number of variables", least=1)
    _check_room(numbers, 0, n)
    slots = np.arange(1, n + 1)
    cards = numbers.counts(slots, "the cardinality of a variable", least=1, most=MAX_COUNT)
    starts, variables, at = _read_scopes(numbers, n + 1, n)
    potentials = _read_tables(numbers, at, _table_sizes(cards, starts, variables))
    try:
        return FactorGraph.from_arrays(cards, starts, variables, log_of(potentials))
    except ModelError as error:
        raise FileError(f"{error} (in {path})") from error


def write_uai(model: Model, path: FilePath) -> None:
    """Write a model in the format of the UAI inference competitions, as MARKOV.

    Evidence, if any, is written to `path`.evid. A log-potential that is the logarithm of a float,
    such as any that `read_uai` read, is written so that it reads back the same, bit for bit; others
    are rounded by at most 2e-16. Factors whose potentials overflow or underflow are multiplied by a
    constant, which changes log Z. Names are not kept.

    Parameters
    ----------
    model : FactorGraph or Lattice
    path : path-like
        The file appears only when it is complete.

    Raises
    ------
    ModelError
        If the log-potentials of one factor are more than 1400 apart.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> model = hd.ising_grid([[0.0, 1.0]], 0.5).given({(0, 0): 1})
    >>> hd.io.write_uai(model, "grid.uai")
    >>> hd.io.read_evidence("grid.uai.evid")
    {0: 1}
    """
    graph = to_factor_graph(model)
    blocks = list(_uai_lines(graph))
    clamped = np.flatnonzero(graph.evidence >= 0)
    if len(clamped):
        write_evidence({int(i): int(graph.evidence[i]) for i in clamped}, f"{path}.evid")
    write_bytes(path, blocks)


def _check_room(numbers: NumberReader, at: int, needed: int) -> None:
    """Refuse number `at`, a count that needs `needed` more numbers, if the file has fewer."""
    left = len(numbers) - at - 1
    if needed > left:
        raise numbers.wrong(
            at,
            f"a count no larger than the numbers that follow ({left})",
            "the file is truncated or the count is wrong: get a new copy",
        )


def _read_scopes(numbers: NumberReader, at: int, n: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Read factor_start and factor_variables from number `at` on; also where tables begin."""
    n_factors = numbers.count(at, "the number of factors")
    _check_room(numbers, at, 2 * n_factors)
    heads = np.empty(n_factors, np.int64)  # where each scope begins, at its arity
    at += 1
    first = at
    for f in range(n_factors):
        heads[f] = at
        arity = numbers.count(at, f"the number of variables of factor {f}", most=n)
        _check_room(numbers, at, arity)
        at += arity + 1
    slots = np.delete(np.arange(first, at), heads - first)
    variables = numbers.counts(slots, "a variable", least=0, most=n - 1)
    arities = numbers.values[heads].astype(np.int64)
    _check_distinct(numbers, np.repeat(np.arange(n_factors), arities), variables, slots)
    return np.concatenate([[0], np.cumsum(arities)]), variables, at


def _check_distinct(
    numbers: NumberReader, owners: np.ndarray, variables: np.ndarray, slots: np.ndarray
) -> None:
    order = np.lexsort((slots, variables, owners))
    same = (np.diff(owners[order]) == 0) & (np.diff(variables[order]) == 0)
    if same.any():
        at = int(slots[order[1:][same]].min())
        raise numbers.wrong(at, "each variable once in a factor", "drop the second")


def _table_sizes(cards: np.ndarray, starts: np.ndarray, variables: np.ndarray) -> np.ndarray:
    """Count each factor's potentials as floats: absurd cardinalities overflow to infinity."""
    sizes = np.ones(len(starts) - 1)
    filled = np.diff(starts) > 0
    if filled.any():
        with np.errstate(over="ignore"):
            factors = cards[variables].astype(np.float64)
            sizes[filled] = np.multiply.reduceat(factors, starts[:-1][filled])
    return sizes


def _read_tables(numbers: NumberReader, at: int, sizes: np.ndarray) -> np.ndarray:
    """Read the potentials of all factors; number `at` is the size of the first table."""
    heads = at + np.arange(len(sizes)) + np.concatenate([[0.0], np.cumsum(sizes)])[:-1]
    there = np.flatnonzero(heads < len(numbers))
    wrong = numbers.values[heads[there].astype(np.int64)] != sizes[there]
    if wrong.any():
        f = int(there[np.argmax(wrong)])
        raise numbers.wrong(
            int(heads[f]),
            f"{sizes[f]:.15g} potentials in factor {f}, one for each joint state of its variables",
            "correct the cardinalities or the table",
        )
    end = at + len(sizes) + sizes.sum()
    if end > len(numbers):
        f = max(len(there) - 1, 0)
        raise numbers.wrong(
            len(numbers),
            f"{end - len(numbers):.15g} more numbers, beginning in factor {f}",
            "the file is truncated: get a new copy",
        )
    if end < len(numbers):
        raise numbers.wrong(
            int(end), f"the end of the file after {len(sizes)} tables", "cut it there"
        )
    slots = np.delete(np.arange(at, len(numbers)), heads.astype(np.int64) - at)
    potentials = numbers.values[slots]
    wrong = ~((potentials >= 0) & np.isfinite(potentials))
    if wrong.any():
        raise numbers.wrong(
            int(slots[np.argmax(wrong)]), "a potential, finite and 0 or more", "correct it"
        )
    return potentials


def _uai_lines(graph: FactorGraph) -> Iterator[bytes]:
    cards = " ".join(map(str, graph.cardinalities.tolist()))
    yield f"MARKOV\n{graph.n_variables}\n{cards}\n{graph.n_factors}\n".encode()
    starts, variables = graph.factor_start.tolist(), graph.factor_variables.tolist()
    for begin, end in pairwise(starts):
        yield " ".join(map(str, [end - begin, *variables[begin:end]])).encode() + b"\n"
    bounds, potentials = graph.table_start.tolist(), table_potentials(graph).tolist()
    for begin, end in pairwise(bounds):
        table = " ".join(map(repr, potentials[begin:end]))
        yield f"\n{end - begin}\n{table}\n".encode()

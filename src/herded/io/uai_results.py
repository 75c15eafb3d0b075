"""Answers in the format of the UAI inference competitions: marginals, log Z, the best state.

A file begins with the name of the task. Programs that improve their answer append -BEGIN- and
another answer; the last one is read.
"""

import decimal
import math

import numpy as np
from numpy.typing import ArrayLike

from herded.errors import ModelError
from herded.io.number_parser import (
    MAX_COUNT,
    NumberReader,
    after_header,
    one_sample,
    read_text_bytes,
)
from herded.system import memory_limits
from herded.system.argument_checks import as_float, as_float_array, as_integer_array, short_repr
from herded.system.atomic_files import FilePath, write_bytes

BEGIN_MARK = b"-BEGIN-"
PROBABILITY_ROUNDING = 1e-3  # how far a probability may exceed 1, since files round
PRECISE_CONTEXT = decimal.Context(prec=40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
LN_10 = PRECISE_CONTEXT.ln(decimal.Decimal(10))


# -- marginals ---------------------------------------------------------------------------------


def read_mar(path: FilePath) -> np.ndarray:
    r"""Read marginals from a UAI .MAR file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ndarray of shape (N, K)
        P(x_i = k) as in `Result.marginals`: zero beyond a variable's number of states.

    Raises
    ------
    FileError
        If the file cannot be read.

    Examples
    --------
    >>> with open("model.MAR", "w") as file:
    ...     _ = file.write("MAR\n2 2 0.25 0.75 3 0.1 0.2 0.7")
    >>> hd.io.read_mar("model.MAR")
    array([[0.25, 0.75, 0.  ],
           [0.1 , 0.2 , 0.7 ]])
    """
    return read_marginals(path)[0]


def read_marginals(path: FilePath) -> tuple[np.ndarray, np.ndarray]:
    """Read marginals as `read_mar` does, and each variable's number of states in the file."""
    numbers = _read_answer(path, b"MAR")
    row = one_sample(numbers, _marginals_length, "the number of variables and their marginals")
    n = int(numbers.values[row.start])
    cards, at = np.empty(n, np.int64), row.start + 1
    heads = np.empty(n, np.int64)
    for i in range(n):
        heads[i], cards[i] = at, int(numbers.values[at])
        at += 1 + cards[i]
    k = int(cards.max(initial=0))
    memory_limits.check_memory(8 * n * k, None, f"the marginals of {path}")
    marginals = np.zeros((n, k))
    slots = np.delete(np.arange(row.start + 1, row.stop), heads - row.start - 1)
    marginals[np.arange(k) < cards[:, None]] = _probabilities(numbers, slots)
    return marginals, cards


def write_mar(marginals: ArrayLike, path: FilePath, cardinalities: ArrayLike | None = None) -> None:
    """Write marginals as a UAI .MAR file.

    Parameters
    ----------
    marginals : array_like of shape (N, K), or (H, W, K) for a picture
    path : path-like
    cardinalities : array_like of int, shape (N,), optional
        The number of states of each variable, if it is not K.

    Raises
    ------
    ModelError
        If a number is not a probability.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> hd.io.write_mar([[0.25, 0.75, 0.0], [0.1, 0.2, 0.7]], "model.MAR", [2, 3])
    >>> from pathlib import Path
    >>> print(Path("model.MAR").read_text())
    MAR
    2 2 0.25 0.75 3 0.1 0.2 0.7
    """
    table = as_float_array("the marginals", marginals)
    if table.ndim < 2 or not table.size:
        raise ModelError(f"expected marginals of shape (N, K), got {table.shape}")
    k = table.shape[-1]
    table = table.reshape(-1, k)
    cards = np.full(len(table), k) if cardinalities is None else cardinalities
    cards = as_integer_array("the cardinalities", cards)
    if cards.shape != (len(table),) or ((cards < 1) | (cards > k)).any():
        raise ModelError(f"expected {len(table)} cardinalities from 1 to {k}, got {cards}")
    wrong = ~((table >= 0) & (table <= 1 + PROBABILITY_ROUNDING))
    if wrong.any():
        raise ModelError(f"expected marginals from 0 to 1, got {table[wrong][0]}")
    rows = [row[:c] for row, c in zip(table.tolist(), cards.tolist(), strict=True)]
    words = [str(len(rows)), *(" ".join([str(len(row)), *map(repr, row)]) for row in rows)]
    write_bytes(path, [b"MAR\n", " ".join(words).encode(), b"\n"])


def _marginals_length(numbers: NumberReader, at: int) -> int | None:
    n, end = numbers.whole(at), at + 1
    if not n or n > len(numbers):  # every model has variables
        return None
    for _ in range(n):
        card = numbers.whole(end)
        if not card:
            return None
        end += 1 + card
    return end - at


def _probabilities(numbers: NumberReader, slots: np.ndarray) -> np.ndarray:
    values: np.ndarray = numbers.values[slots]
    wrong = ~((values >= 0) & (values <= 1 + PROBABILITY_ROUNDING))
    if wrong.any():
        raise numbers.wrong(int(slots[np.argmax(wrong)]), "a probability", "correct it")
    return values


# -- the normalising constant ------------------------------------------------------------------


def read_pr(path: FilePath) -> float:
    r"""Read log Z from a UAI .PR file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    float
        The natural logarithm, as in `Result.log_z`; the file has the logarithm to base 10.

    Raises
    ------
    FileError
        If the file cannot be read.

    Examples
    --------
    >>> with open("model.PR", "w") as file:
    ...     _ = file.write("PR\n2.0")
    >>> round(hd.io.read_pr("model.PR"), 4)
    4.6052
    """
    numbers = _read_answer(path, b"PR")
    what = "log10 of the normalising constant"
    k = one_sample(numbers, lambda numbers, at: 1, what).start
    word = numbers.text[numbers.start :].split()[k].decode()
    log_z = float(PRECISE_CONTEXT.multiply(decimal.Decimal(word), LN_10))
    if not math.isfinite(log_z):
        raise numbers.wrong(k, f"a finite {what}", "correct it")
    return log_z


def write_pr(log_z: float, path: FilePath) -> None:
    """Write log Z as a UAI .PR file, so that `read_pr` returns it bit for bit.

    Parameters
    ----------
    log_z : float
        The natural logarithm, as in `Result.log_z`.
    path : path-like

    Raises
    ------
    ModelError
        If `log_z` is not finite.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> hd.io.write_pr(12.5, "model.PR")
    >>> hd.io.read_pr("model.PR")
    12.5
    """
    value = as_float("log_z", log_z)
    if not np.isfinite(value):
        raise ModelError(
            f"expected a finite log_z to write, got {value}: the format has no other value"
        )
    log10 = PRECISE_CONTEXT.divide(decimal.Decimal(value), LN_10).normalize(PRECISE_CONTEXT)
    write_bytes(path, [b"PR\n", f"{log10:.25g}\n".encode()])


# -- the best state ----------------------------------------------------------------------------


def read_mpe(path: FilePath) -> np.ndarray:
    r"""Read a state from a UAI .MPE or .MAP file.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    ndarray of int, shape (N,)

    Raises
    ------
    FileError
        If the file cannot be read.

    Examples
    --------
    >>> with open("model.MPE", "w") as file:
    ...     _ = file.write("MPE\n3 0 1 1")
    >>> hd.io.read_mpe("model.MPE")
    array([0, 1, 1])
    """
    numbers = _read_answer(path, b"MPE", b"MAP")
    row = one_sample(numbers, _state_length, "the number of variables and a state for each")
    slots = np.arange(row.start + 1, row.stop)
    return numbers.counts(slots, "a state", least=0, most=MAX_COUNT)


def write_mpe(state: ArrayLike, path: FilePath) -> None:
    r"""Write a state as a UAI .MPE file.

    Parameters
    ----------
    state : array_like of int, shape (N,) or that of a picture
        Such as `Result.best.state`.
    path : path-like

    Raises
    ------
    ModelError
        If there is no state, or a negative one.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> hd.io.write_mpe([0, 1, 1], "model.MPE")
    >>> from pathlib import Path
    >>> Path("model.MPE").read_text()
    'MPE\n3 0 1 1\n'
    """
    x = as_integer_array("the state", state).reshape(-1)
    if not len(x) or (x < 0).any():
        raise ModelError(f"expected one or more states of 0 or more, got {short_repr(state)}")
    write_bytes(path, [b"MPE\n", " ".join(map(str, [len(x), *x.tolist()])).encode(), b"\n"])


def _state_length(numbers: NumberReader, at: int) -> int | None:
    n = numbers.whole(at)
    return 1 + n if n else None


# -- common to all -----------------------------------------------------------------------------


def _read_answer(path: FilePath, *tasks: bytes) -> NumberReader:
    """Read the numbers of the last answer in a file of one of these `tasks`."""
    text = read_text_bytes(path)
    start = after_header(path, text, tasks, "use a file with an answer to that task")
    last = text.rfind(BEGIN_MARK)
    return NumberReader.parse(path, text, start if last < 0 else last + len(BEGIN_MARK))

"""Read rows of data: columns match variables by name, cells match states by label.

`read_rows` takes data frames (pandas, polars, or anything with `columns` and `frame[name]`),
mappings of columns, lists of mappings, one mapping or pandas Series as a single row, NumPy
structured arrays, and plain arrays, whose columns match by position. NaN, None, `pd.NA`, NaT and
masked entries are missing; anything else that names no state is refused.

What a cell means is decided once for each distinct value of a column (`naming.find_state`), so the
time for a column is that of finding its distinct values.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from herded.errors import ModelError
from herded.models.naming import (
    are_values,
    expected_states,
    find_state,
    variable_index,
    variable_text,
)
from herded.models.protocol import Model
from herded.system.argument_checks import describe_value, short_repr
from herded.system.suggestions import did_you_mean

MISSING = -1  # the code of a missing cell
MAX_LISTED_COLUMNS = 5  # that a message names


@dataclass(frozen=True, eq=False)
class DataRows:
    """Rows of states, with a column for each variable that the data have.

    Attributes
    ----------
    n_rows : int
    columns : dict from int to ndarray of shape (R,)
        The state of a variable in each row, `MISSING` (-1) where it is not known.
    labels : ndarray or None
        What the rows are called, such as the index of a data frame.
    ignored : tuple of str
        Columns that are no variables of the model.
    """

    n_rows: int
    columns: dict[int, np.ndarray]
    labels: Any = None
    ignored: tuple[str, ...] = field(default=())

    def as_array(self, n_variables: int) -> np.ndarray:
        """Return states (R, N), with `MISSING` also in columns that the data lack."""
        found = np.full((self.n_rows, n_variables), MISSING)
        for i, column in self.columns.items():
            found[:, i] = column
        return found


def read_rows(model: Model, data: object, name: str = "data") -> DataRows:
    """Read rows of states of a model's variables.

    Parameters
    ----------
    model : Model
    data : data frame, mapping, sequence of mappings, structured array or array of shape (rows, N)
    name : str
        What the user calls the data, for messages.

    Returns
    -------
    DataRows

    Raises
    ------
    ModelError
        If no column is a variable of the model, or a cell names no state: with the row and the
        column.

    Examples
    --------
    >>> from herded.models.data_frames import read_rows
    >>> model = hd.FactorGraph(
    ...     [2, 2], [], names=["rain", "grass"], state_names=[["no", "yes"], ["dry", "wet"]]
    ... )
    >>> read_rows(model, {"grass": ["wet", "dry", None], "rain": ["yes", "NO", "no"]}).columns
    {1: array([ 1,  0, -1]), 0: array([1, 0, 0])}
    """
    table = _as_columns(model, data, name)
    if table is None:
        return _read_array(model, data, name)
    labelled, n_rows, labels = table
    columns: dict[int, np.ndarray] = {}
    ignored: list[str] = []
    for column_name, values in labelled:
        i = column_variable(model, column_name)
        if i is None:
            ignored.append(str(column_name))
            continue
        if i in columns:
            raise ModelError(
                f"expected one column for variable {variable_text(model, i)} in {name}, got two"
            )
        columns[i] = _read_column(model, i, values, f"column {column_name!r} of {name}")
    if not columns and ignored:
        known = short_repr(tuple(model.names)) if model.names else f"0 to {model.n_variables - 1}"
        hint = did_you_mean(ignored[0], model.names or ())
        raise ModelError(
            f"expected columns of {name} named after variables of the model ({known}), got "
            f"{_listed(ignored)}{hint}: rename the columns"
        )
    return DataRows(n_rows, columns, labels, tuple(ignored))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MAX_LISTED_COLUMNS]))
    more = len(names) - MAX_LISTED_COLUMNS
    return f"{shown} and {more} more" if more > 0 else shown


def column_variable(model: Model, column_name: object) -> int | None:
    """Return the variable that a column is of, if any.

    A number is the name of a variable or its index, and refused where it is the name of one
    variable and the index of another.
    """
    try:
        by_index = None if isinstance(column_name, str) else variable_index(model, column_name)
    except ModelError:
        by_index = None
    text = str(column_name)
    if model.names is None or text not in model.names:
        return by_index
    by_name = model.names.index(text)
    if by_index not in (None, by_name):
        raise ModelError(
            f"expected the name of a variable, got {column_name!r}, which is the name of variable "
            f"{by_name} and the index of another: pass the name as the text {text!r}"
        )
    return by_name


# -- data as columns ------------------------------------------------------------------------------

Columns = tuple[list[tuple[Any, Any]], int, Any]  # (name, values) of each, rows, labels of rows


def _as_columns(model: Model, data: object, name: str) -> Columns | None:
    """The columns of data that name them, or None for a plain array."""
    if isinstance(data, Mapping):
        return _columns_of_mapping(data, name)
    if isinstance(data, np.ndarray):
        if data.dtype.names is None:
            return None
        flat = np.atleast_1d(data)
        return [(column, flat[column]) for column in data.dtype.names], len(flat), None
    if _is_frame(data):
        frame: Any = data
        names = list(frame.columns)
        twice = sorted({str(column) for column in names if names.count(column) > 1})
        if twice:
            raise ModelError(f"expected distinct columns in {name}, got {_listed(twice)} twice")
        return [(column, frame[column]) for column in names], len(frame), _row_labels(frame)
    if _is_series(data):
        series: Any = data
        return [(key, [value]) for key, value in series.items()], 1, None
    if isinstance(data, Sequence) and data and all(isinstance(row, Mapping) for row in data):
        keys = dict.fromkeys(key for row in data for key in row)
        return [(key, [row.get(key) for row in data]) for key in keys], len(data), None
    return None


def names_its_columns(data: object) -> bool:
    """Whether data say which variable each column is of, so that positions do not count."""
    if isinstance(data, np.ndarray):
        return data.dtype.names is not None
    is_records = isinstance(data, Sequence) and bool(data) and isinstance(data[0], Mapping)
    return isinstance(data, Mapping) or _is_frame(data) or _is_series(data) or is_records


def _is_frame(data: object) -> bool:
    return hasattr(data, "columns") and hasattr(data, "__getitem__") and hasattr(data, "__len__")


def _is_series(data: object) -> bool:
    """Whether this is a labelled row, such as a pandas Series."""
    return hasattr(data, "items") and hasattr(data, "index") and not callable(data.index)


def _row_labels(frame: object) -> Any:
    """The index of a pandas frame, if it says more than the numbers of its rows."""
    index = getattr(frame, "index", None)
    is_plain = index is None or callable(index) or type(index).__name__ == "RangeIndex"
    return None if is_plain else index


def _columns_of_mapping(data: Mapping[Any, Any], name: str) -> Columns:
    """Columns of equal length, or one row of single values."""
    are_columns = {key: _is_column(values) for key, values in data.items()}
    if not any(are_columns.values()):
        return [(key, [value]) for key, value in data.items()], 1, None
    if not all(are_columns.values()):
        single = next(key for key, is_column in are_columns.items() if not is_column)
        raise ModelError(
            f"expected a column for each variable in {name}, got {short_repr(data[single])} for "
            f"{single!r}: pass only lists, or only single states for one row"
        )
    sizes = {key: len(values) for key, values in data.items()}
    if len(set(sizes.values())) > 1:
        raise ModelError(f"expected columns of one length in {name}, got {short_repr(sizes)}")
    return list(data.items()), next(iter(sizes.values())), None


def _is_column(values: object) -> bool:
    if isinstance(values, (set, frozenset)):
        raise ModelError(f"expected a column with an order, got the set {short_repr(values)}")
    is_list = hasattr(values, "__len__") and not isinstance(values, (str, bytes, Mapping))
    return is_list and not (isinstance(values, np.ndarray) and values.ndim == 0)


# -- cells ----------------------------------------------------------------------------------------


def _read_column(model: Model, i: int, values: object, what: str) -> np.ndarray:
    """The states of variable `i` in a column, `MISSING` where a cell is missing."""
    states = tuple(model.state_names[i]) if model.state_names else ()
    k = int(model.cardinalities[i])
    distinct, codes = distinct_values(values, what)
    meaning = np.empty(len(distinct) + 1, np.int64)
    meaning[-1] = MISSING
    for code, value in enumerate(distinct):
        found = find_state(states, k, value)
        if found is None and not (codes == code).any():  # a category of pandas that no cell has
            found = MISSING
        if found is None:
            row = int(np.argmax(codes == code))
            raise ModelError(_wrong_cell(states, k, distinct, value, f"row {row} in {what}"))
        meaning[code] = found
    states_of_rows: np.ndarray = meaning[codes]
    return states_of_rows


def _wrong_cell(
    states: Sequence[str], k: int, distinct: Sequence[object], value: object, where: str
) -> str:
    """Why a value is refused: what was expected, what came, and what to do."""
    numbers = {v for v in distinct if isinstance(v, (int, float, np.number))}
    if k == 2 and -1 in numbers and numbers <= {-1, 1} and not are_values(states):
        return (
            f"expected states 0 and 1, got {short_repr(value)} at {where}, which looks like spins "
            "of -1 and 1: pass (data + 1) // 2, with NaN or None where a state is missing"
        )
    hint = did_you_mean(value, states) if isinstance(value, str) else ""
    expected = expected_states(states, k).replace("evidence", "a state")
    return (
        f"expected {expected}, got {short_repr(value)} at {where}{hint}: correct it, or leave the "
        "cell empty (None or NaN) where the state is missing"
    )


def distinct_values(values: Any, what: str) -> tuple[list[Any], np.ndarray]:
    """Return the distinct values of a column, and the code of each cell, -1 if missing."""
    categories = getattr(getattr(values, "cat", None), "categories", None)
    if categories is not None:  # a categorical column of pandas
        return list(categories), np.asarray(values.cat.codes, np.int64)
    array = _as_flat_array(values, what)
    if array.dtype.kind in "biu":
        found, inverse = np.unique(array, return_inverse=True)
        return found.tolist(), inverse
    if array.dtype.kind == "f":
        found, inverse = np.unique(array, return_inverse=True)  # all NaN are one, at the end
        if len(found) and np.isnan(found[-1]):
            return found[:-1].tolist(), np.where(inverse == len(found) - 1, -1, inverse)
        return found.tolist(), inverse
    code_of: dict[tuple[type, Hashable], int] = {}
    codes = np.empty(len(array), np.int64)
    for row, value in enumerate(array.tolist()):
        try:
            if value != value or value is None:  # NaN and NaT differ from themselves
                codes[row] = -1
                continue
            key = type(value), value  # 1, 1.0 and True are equal, and may mean different states
            codes[row] = code_of.setdefault(key, len(code_of))
        except (TypeError, ValueError) as error:
            if _is_missing(value):
                codes[row] = -1
                continue
            raise ModelError(
                f"expected one state in each cell, got {short_repr(value)} at row {row} in {what}: "
                "soft evidence is an array of shape (rows, states) for the whole column"
            ) from error
    return [value for _, value in code_of], codes


def _is_missing(value: object) -> bool:
    """Whether this is `pd.NA`, which refuses to be compared."""
    return type(value).__name__ in {"NAType", "NaTType"}


def _as_flat_array(values: object, what: str) -> np.ndarray:
    """A column as an array of one dimension, objects where it must hold missing cells."""
    if isinstance(values, np.ma.MaskedArray):
        array = without_mask(values)
    elif isinstance(values, np.ndarray):
        array = values
    elif hasattr(values, "to_numpy"):
        array = values.to_numpy()
    elif isinstance(values, Iterable):
        listed = list(values)
        array = np.empty(len(listed), object)
        array[:] = listed
    else:
        raise ModelError(f"expected cells in {what}, got {short_repr(values)}")
    if array.ndim != 1:
        raise ModelError(f"expected one state in each cell of {what}, got shape {array.shape}")
    if array.dtype.kind in "mM":
        raise ModelError(f"expected states in {what}, got times of type {array.dtype}")
    return array


def without_mask(values: np.ma.MaskedArray) -> np.ndarray:
    """Convert a masked array to objects, with None where it is masked."""
    found = np.array(values.data, dtype=object)
    found[np.ma.getmaskarray(values)] = None
    return found


# -- arrays without names -------------------------------------------------------------------------


def _read_array(model: Model, data: object, name: str) -> DataRows:
    """Rows (R, N) whose columns match the variables by position."""
    n = model.n_variables
    try:
        array = np.asarray(data)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"expected {name} as a data frame, a mapping of columns or an array of shape (rows, "
            f"{n}), got {describe_value(data)}"
        ) from error
    if isinstance(data, np.ma.MaskedArray):
        array = without_mask(data)
    if array.ndim > 1 and array.shape[1:] == tuple(model.shape):
        array = array.reshape(len(array), n)
    if array.ndim != 2 or array.shape[1] != n:
        raise ModelError(
            f"expected {name} of shape (rows, {n}), whose columns are matched with the variables "
            f"by position, got shape {array.shape}: pass a data frame or a mapping to match "
            "columns by name"
        )
    refuse_spins(model, array, name, may_be_hidden=False)
    columns = {
        i: _read_positional_column(model, i, array[:, i], f"column {i} of {name}") for i in range(n)
    }
    return DataRows(len(array), columns)


def _read_positional_column(model: Model, i: int, cells: np.ndarray, what: str) -> np.ndarray:
    """Read a column of an array: numbers are indices, -1 is missing, and texts are names."""
    states = tuple(model.state_names[i]) if model.state_names else ()
    k = int(model.cardinalities[i])
    distinct, codes = distinct_values(cells, what)
    meaning = np.full(len(distinct) + 1, MISSING)
    for code, value in enumerate(distinct):
        names = states if isinstance(value, str) else ()
        found = MISSING if value == -1 else find_state(names, k, value)
        if found is None:
            at = f"row {int(np.argmax(codes == code))} in {what}"
            raise ModelError(_wrong_cell(names, k, distinct, value, at))
        meaning[code] = found
    read: np.ndarray = meaning[codes]
    return read


def _has_state_minus_one(model: Model, i: int) -> bool:
    return model.state_names is not None and "-1" in model.state_names[i]


def refuse_spins(model: Model, array: np.ndarray, name: str, *, may_be_hidden: bool = True) -> None:
    """Raise where an array holds -1, a missing state, and 1 alone: they are probably spins.

    With `may_be_hidden` a column of -1 alone is that of a hidden variable.
    """
    if array.dtype.kind not in "if" or not array.size or array.ndim < 2:
        return
    if (array == -1).any() and any(_has_state_minus_one(model, i) for i in range(array.shape[1])):
        raise ModelError(
            f"expected indices of states in {name}, or -1 where one is missing, got -1, which is "
            "also the name of a state: pass a data frame or a mapping, whose cells are names"
        )
    if int(model.cardinalities.max()) > 2:
        return
    low, high = (array == -1).any(axis=0), (array == 1).any(axis=0)
    both = (low & high).any() if may_be_hidden else low.any() and high.any()
    if both and (np.abs(array) == 1).all():
        raise ModelError(
            f"expected states 0 and 1 in {name}, got only -1 and 1, which look like spins: pass "
            "(data + 1) // 2, and NaN where a state is missing"
        )

"""The files of `--out F`, of the kind that the ending names."""

import csv
import io
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from herded.errors import FileError
from herded.io.uai_results import write_mar, write_mpe, write_pr
from herded.models.naming import state_label, variable_label
from herded.models.protocol import Model
from herded.system.atomic_files import write_bytes
from herded.system.suggestions import did_you_mean

if TYPE_CHECKING:
    from herded.cli.report import InferReport

UAI_SUFFIXES = {"mar": ".MAR", "map": ".MPE", "pr": ".PR"}


def check_ending(path: str, task: str) -> None:
    """Raise unless the ending of `path` is one of the answer's kinds; none at all means UAI."""
    ending = os.path.splitext(path)[1]
    known = UAI_SUFFIXES[task], ".csv"
    if ending and ending.lower() not in (kind.lower() for kind in known):
        hint = did_you_mean(ending, known)
        raise FileError(
            f"expected --out with the ending {UAI_SUFFIXES[task]} (the UAI format) or .csv for "
            f"--task {task}, got {os.path.basename(path)!r}{hint}"
        )


def write_output(path: str, task: str, model: Model, found: "InferReport") -> None:
    """Write the answer."""
    is_csv = os.path.splitext(path)[1].lower() == ".csv"
    if task == "mar" and found.marginals is not None:
        if is_csv:
            _write_csv(path, marginal_rows(model, found.marginals, found.standard_error))
        else:
            write_mar(found.marginals, path, model.cardinalities)
    elif task == "map" and found.state is not None:
        if is_csv:
            _write_csv(path, state_rows(model, found.state))
        else:
            write_mpe(found.state, path)
    elif found.log_z is not None:
        if is_csv:
            _write_csv(path, [("log_z", "log10_z"), (found.log_z, found.log_z / np.log(10.0))])
        else:
            write_pr(found.log_z, path)


def _write_csv(path: str, rows: Iterable[tuple[Any, ...]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_bytes(path, [text.getvalue().encode()])


def marginal_rows(
    model: Model, marginals: np.ndarray, standard_error: np.ndarray | None
) -> Iterator[tuple[Any, ...]]:
    """Yield a heading, and a row for each state of each variable."""
    yield (
        "variable",
        "state",
        "probability",
        *(() if standard_error is None else ("standard_error",)),
    )
    for i, k in np.argwhere(np.arange(marginals.shape[1]) < model.cardinalities[:, None]).tolist():
        error = () if standard_error is None else (float(standard_error[i, k]),)
        yield _file_name(model, i), state_label(model, i, k), float(marginals[i, k]), *error


def state_rows(model: Model, state: np.ndarray) -> Iterator[tuple[Any, ...]]:
    """Yield a heading, and a row for each variable."""
    yield "variable", "state"
    for i, k in enumerate(state.tolist()):
        yield _file_name(model, i), state_label(model, i, k)


def _file_name(model: Model, i: int) -> Any:
    label = variable_label(model, i)
    return ",".join(map(str, label)) if isinstance(label, tuple) else label

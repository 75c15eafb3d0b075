"""`hd.query(model, given=rows, targets=...)`: one exact answer for each row of evidence."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np

from herded.errors import HerdedWarning, InfeasibleError, MethodError
from herded.methods.row_queries.row_evidence import RowEvidence, read_row_evidence, read_targets
from herded.methods.row_queries.row_jobs import RowAnswers, row_jobs
from herded.models.factor_graph import to_factor_graph
from herded.models.protocol import Model
from herded.run.execute import users_level
from herded.run.progress import Progress
from herded.run.query import check_count
from herded.run.row_queries.query_result import QueryResult
from herded.system import memory_limits
from herded.system.argument_checks import short_repr
from herded.system.cpu_count import count_usable_cpus
from herded.system.memory_limits import Size

MAX_NAMED_ROWS = 5  # that a message names


def query(
    model: Model,
    given: object = None,
    targets: object = None,
    *,
    errors: str = "nan",
    max_memory: Size | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> QueryResult:
    """Answer one exact query for each row of evidence, in one vectorised elimination.

    Parameters
    ----------
    model : Model
        A Bayes net, a factor graph, or any model that can be written as one.
    given : data frame, mapping, array of shape (rows, N), optional
        The evidence: a column for each known variable, by name; a cell is a state by name or, where
        names are not numbers, by index. Empty cells (NaN, None) are unknown. One mapping of states,
        such as ``{"rain": "yes"}``, is a single row. The value of a variable may also be *soft*
        evidence: a mapping from its states to likelihoods, or an array (rows, K) of them.
    targets : name, or list of names, tuples of names, "map" and "log_probability", optional
        What to answer: the distribution of a variable, the joint distribution of a tuple of
        variables, the most probable state of all variables ("map"), or the log-probability of the
        evidence. By default the distributions of all variables that no row knows.
    errors : {"nan", "raise"}
        What to do with rows whose evidence is impossible: give NaN and a warning that names them,
        or raise `InfeasibleError`.
    max_memory : int or str, optional
        Most memory, in bytes or as "2G"; half of what is free by default. Rows are answered in
        chunks that fit.
    threads : int, optional
        How many; by default all cores. The answers do not depend on it.
    progress : bool, optional
        A bar on a terminal: when it takes a while (None), or never (False).

    Returns
    -------
    QueryResult
        With `result["name"]`, an array (rows, K), `.log_probability`, `.to_pandas()`.

    Raises
    ------
    ModelError
        If a variable or a state does not exist.
    MemoryLimitError
        If even a single row does not fit in memory.

    Examples
    --------
    >>> wet = np.log([[0.9, 0.1], [0.2, 0.8]])
    >>> model = hd.FactorGraph(
    ...     [2, 2], [((0,), np.log([0.8, 0.2])), ((0, 1), wet)],
    ...     names=["rain", "grass"], state_names=[["no", "yes"], ["dry", "wet"]],
    ... )
    >>> hd.query(model, {"grass": ["wet", "dry", None]}, "rain")["rain"].round(3)
    array([[0.333, 0.667],
           [0.947, 0.053],
           [0.8  , 0.2  ]])
    """
    if errors not in ("nan", "raise"):
        raise MethodError(f'expected errors="nan" or errors="raise", got {short_repr(errors)}')
    if threads is not None:
        check_count("threads", threads, 1)
    graph = to_factor_graph(model)
    evidence = read_row_evidence(model, given)
    if evidence.ignored:
        warnings.warn(
            f"columns {', '.join(map(repr, evidence.ignored))} of given are no variables of the "
            "model and are ignored",
            HerdedWarning,
            stacklevel=users_level(),
        )
    wanted = read_targets(model, targets, evidence)
    limit = memory_limits.memory_limit(max_memory)
    answers = RowAnswers.allocate(graph, wanted, evidence.n_rows, limit)
    limit -= answers.memory
    jobs = list(row_jobs(graph, evidence, wanted, limit))
    at_once = int(limit / max((job.memory for job in jobs), default=1.0))
    workers = max(1, min(threads or count_usable_cpus(), len(jobs), at_once))
    bar = Progress(progress, evidence.n_rows, "query", "rows")
    with closing(bar), ThreadPoolExecutor(workers) as pool:
        done = 0
        for rows in pool.map(lambda job: job.run(answers), jobs):
            done += rows
            bar.update(done)
    impossible = np.flatnonzero(np.isneginf(answers.log_probability))
    if len(impossible):
        _report_impossible(impossible, evidence, errors)
    return QueryResult(
        model,
        evidence.n_rows,
        {label: answers.tables[label] for label in wanted.variables},
        answers.log_probability,
        answers.best_states,
        impossible,
        evidence.labels,
        wanted.asks_log_probability,
    )


def _report_impossible(impossible: np.ndarray, evidence: "RowEvidence", errors: str) -> None:
    rows = impossible[:MAX_NAMED_ROWS].tolist()
    names = [row if evidence.labels is None else evidence.labels[row] for row in rows]
    more = len(impossible) - len(rows)
    listed = ", ".join(map(str, names)) + (f" and {more:,} more" if more else "")
    one = len(impossible) == 1
    text = f"the evidence of {'row' if one else 'rows'} {listed} has probability 0"
    if errors == "raise":
        raise InfeasibleError(
            f"expected evidence of positive probability in each row, but {text}: correct or drop "
            'it, or pass errors="nan"'
        )
    warnings.warn(f"{text}: its answers are NaN", HerdedWarning, stacklevel=users_level())

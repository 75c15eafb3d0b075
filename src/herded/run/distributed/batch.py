"""infer_many(models, method): many runs at once, on any `concurrent.futures.Executor`.

Small models are sent in batches that take a worker about a twentieth of a second, so that a
thousand of them cost little more than their sweeps. Where sweeps take less time than the Python
code around them, threads take turns: only one can run Python at a time, and handing the
interpreter over takes longer than the sweeps. The result of a model does not depend on its batch,
on who runs it, or on how often it is run.
"""

import operator
import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, TypeGuard, cast

from herded.errors import HerdedError, Interrupted, MethodError, ModelError
from herded.io.model_files import read_model
from herded.methods.protocol import Method
from herded.models.protocol import Model, is_model
from herded.models.summary import count_text
from herded.run.distributed.worker_pool import WorkerPool
from herded.run.infer import infer
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.progress import Progress
from herded.run.query import QueryOptions
from herded.run.result import Result
from herded.run.selection.recommendation import Recommendation
from herded.system.argument_checks import describe_value
from herded.system.atomic_files import FilePath
from herded.system.interrupts import NO_PART

BATCH_SECONDS = 0.05  # seconds
MAX_BATCH_MODELS = 256  # models
SMALL_RUN_UPDATES = 2**15  # updates of a run
# for one model
SINGLE_MODEL_OPTIONS = ("callback", "checkpoint", "layout", "on_interrupt", "start")


def infer_many(
    models: Iterable[Model | FilePath],
    method: str | Method | Recommendation | None = None,
    *,
    executor: Executor | None = None,
    progress: bool | None = None,
    **options: Any,
) -> list[Result]:
    """Run `infer(model, method, **options)` on many models at once.

    Parameters
    ----------
    models : iterable of models or of file names
        Files are read where they are needed.
    method : str, Sampler, Solver or Recommendation, optional
        As in `infer`.
    executor : concurrent.futures.Executor, optional
        Such as ProcessPoolExecutor(8) or a Dask client's `get_executor()`; by default threads of
        this process.
    progress : bool, optional
        One bar over all models on a terminal: when it takes a while (None), or never (False).
    **options
        Other options of `infer`, the same for all models; not `callback`, `checkpoint`, `layout`,
        `on_interrupt` or `start`, which are about one.

    Returns
    -------
    list of Result
        In the order of the models. They do not depend on the executor, nor on workers that die:
        their work is done again, with identical results.

    Raises
    ------
    HerdedError
        The first error ends all runs. Its message begins with the number of the model.
    Interrupted
        Ctrl-C ends all runs. Its `result` is a dict of the results that are whole, by the number
        of the model.
    WorkerError
        If workers die again and again.

    Examples
    --------
    >>> models = [hd.ising_grid([[field, 0.0]], 0.5) for field in (0.0, 1.0)]
    >>> results = hd.infer_many(models, hd.Exact())
    >>> [result.marginals[0, 0].round(3).tolist() for result in results]
    [[0.5, 0.5], [0.119, 0.881]]
    """
    found: dict[int, Result] = {}
    try:
        for number, result in infer_as_completed(
            models, method, executor=executor, progress=progress, **options
        ):
            found[number] = result
    except KeyboardInterrupt:
        if not found:
            raise Interrupted(NO_PART) from None
        done = f"{count_text(len(found), 'model')} done"
        said = f"interrupted with {done}: error.result has the results by number"
        raise Interrupted(said, found) from None
    return [found[number] for number in range(len(found))]


def infer_as_completed(
    models: Iterable[Model | FilePath],
    method: str | Method | Recommendation | None = None,
    *,
    executor: Executor | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Iterator[tuple[int, Result]]:
    """Run `infer_many`, but yield each result as soon as it is known.

    Models are taken from `models` as workers become free, so that a generator of very many need
    not fit in memory.

    Parameters
    ----------
    models, method, executor, progress, **options
        As in `infer_many`.

    Yields
    ------
    number : int
        The position of the model in `models`.
    result : Result

    Examples
    --------
    >>> models = (hd.ising_grid([[field, 0.0]], 0.5) for field in (0.0, 1.0, 2.0))
    >>> found = dict(hd.infer_as_completed(models, hd.Exact()))
    >>> sorted(found)
    [0, 1, 2]
    """
    _check_models(models)
    _check_options(options)
    return _as_completed(models, method, executor, progress, cast(QueryOptions, options))


def _check_models(models: object) -> None:
    """Raise unless `models` is a collection: one model or one file name is refused."""
    if _is_file(models) or is_model(models) or not isinstance(models, Iterable):
        raise ModelError(
            f"expected a list of models or of files for infer_many, got {describe_value(models)}: "
            "put it into a list, or use infer"
        )


def _check_options(options: Iterable[str]) -> None:
    for name in SINGLE_MODEL_OPTIONS:
        if name in options:
            raise MethodError(f"expected no {name}= for many models: use infer for one of them")
    known = [name for name in QueryOptions.__annotations__ if name not in SINGLE_MODEL_OPTIONS]
    for name in options:
        if name not in known:
            raise MethodError(
                f"expected {'=, '.join(known)}= for infer_many, got {name}=: executor= says where "
                "and how many models run at once, such as ProcessPoolExecutor(2)"
            )


def _as_completed(
    models: Iterable[Model | FilePath],
    method: str | Method | Recommendation | None,
    executor: Executor | None,
    progress: bool | None,
    options: QueryOptions,
) -> Iterator[tuple[int, Result]]:
    total, done = operator.length_hint(models, 0), 0
    bar = Progress(progress, total or None, "infer_many", "models")
    bar.expect_compilers()
    with stop_all_runs_on_interrupt(), closing(bar), _workers(executor) as workers:
        batches = _Batches(models, total, workers.count)
        local = isinstance(workers.executor, ThreadPoolExecutor)
        turn = threading.Lock() if local else None
        options = {**options, "progress": False}  # there is one bar over all models
        if local:
            options = {"threads": 1, **options}  # there are enough models to share out
        jobs = ((first, batch, method, options, turn) for first, batch in batches)
        for (first, batch, *_), (seconds, found) in workers.completed(infer_batch, jobs):
            batches.learn(len(batch), seconds)
            for number, (model, result) in enumerate(zip(batch, found, strict=True), first):
                if isinstance(result, HerdedError):
                    raise _error_of_model(number, model, result)
                done += 1
                bar.update(done)
                yield number, result if local or _is_file(model) else replace(result, model=model)


@contextmanager
def _workers(executor: Executor | None) -> Iterator[WorkerPool]:
    """Open the workers of the executor, or threads that end with the block."""
    if executor is not None:
        with WorkerPool(executor) as workers:
            yield workers
    else:
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            yield WorkerPool(pool)
        finally:
            pool.shutdown(cancel_futures=True)


class _Batches:
    """Batches of models, sized by the time that the last ones took."""

    def __init__(self, models: Iterable[Model | FilePath], total: int, workers: int) -> None:
        self.models, self.total, self.workers = iter(models), total, workers
        self.drawn, self.size = 0, 1

    def __iter__(self) -> Iterator[tuple[int, list[Model | FilePath]]]:
        while batch := list(islice(self.models, self._next_size())):
            yield self.drawn, batch
            self.drawn += len(batch)

    def _next_size(self) -> int:
        """Return the size of the next batch; smaller near the end, to share the rest."""
        left = self.total - self.drawn
        share = -(-left // (2 * self.workers)) if left > 0 else self.size
        return min(self.size, share)

    def learn(self, models: int, seconds: float) -> None:
        self.size = max(1, min(MAX_BATCH_MODELS, int(models * BATCH_SECONDS / max(seconds, 1e-9))))


def infer_batch(
    first: int,
    models: list[Model | FilePath],
    method: str | Method | Recommendation | None,
    options: QueryOptions,
    turn: AbstractContextManager[Any] | None,
) -> tuple[float, list[Any]]:
    """Run on a worker: the seconds it took, and the results, or the error that ended them.

    Threads of the calling process share the lock `turn`. A result that is sent to another process
    does not include its model, which the caller has already.
    """
    began, waited = time.perf_counter(), 0.0
    found: list[Any] = []
    local = turn is not None
    with ExitStack() as mine:
        for model in models:
            try:
                asked = read_model(model) if isinstance(model, (str, os.PathLike)) else model
                result = infer(asked, method, **options)
                found.append(result if local or asked is not model else replace(result, model=None))
            except HerdedError as error:
                found.append(error)
                found += [None] * (len(models) - len(found))
                break
            if turn and len(found) == 1 < len(models) and _is_small(asked, result):
                before = time.perf_counter()
                mine.enter_context(turn)  # the rest of the batch is likely to be small, too
                waited = time.perf_counter() - before
    return time.perf_counter() - began - waited, found


def _is_small(model: Model, result: Result) -> bool:
    """Return whether it was a sampler's run of few updates."""
    sweeps: int = result.sweeps + result.provenance.get("burn_in", 0)
    return 0 < len(result.state) * sweeps * model.n_variables < SMALL_RUN_UPDATES


def _is_file(model: object) -> TypeGuard[FilePath]:
    return isinstance(model, (str, os.PathLike))


def _error_of_model(number: int, model: Model | FilePath, error: HerdedError) -> HerdedError:
    """Return the same error, and which model it is about."""
    name = f" ({os.fspath(model)})" if _is_file(model) else ""
    return type(error)(f"model {number}{name}: {error}")

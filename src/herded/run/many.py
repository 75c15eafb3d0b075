"""infer_many(models, method): many runs at once, on any `concurrent.futures.Executor`.

Small models travel in batches that take a worker about a twentieth of a second, so that a thousand
of them cost little more than their sweeps. Threads take turns at those whose sweeps are over before
Python is done around them: of Python there is one, and to pass it on takes longer than the sweeps.
Which batch a model is in, who runs it and how often changes nothing about its result.
"""

import inspect
import operator
import os
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

from herded.errors import HerdedError, MethodError, ModelError
from herded.io.models import read_model
from herded.models.checks import described
from herded.run.executors import Workers
from herded.run.infer import infer
from herded.run.interrupts import interrupted_together
from herded.run.progress import Progress
from herded.run.result import Result

BATCH = 0.05  # seconds
LARGEST = 256  # models
SMALL = 2**15  # updates of a run
OF_ONE = ("callback", "checkpoint", "layout", "start")  # options that are about one model


def infer_many(
    models: Iterable[Any],
    method: Any = None,
    *,
    executor: Executor | None = None,
    progress: bool | None = None,
    **options: Any,
) -> list[Result]:
    """The results of `infer(model, method, **options)` for all models, in their order.

    models    models, or names of files, which are read where they are needed
    executor  any Executor of `concurrent.futures`, such as ProcessPoolExecutor(8) or a Dask
              client's `get_executor()`; by default threads of this process
    progress  one bar over all on a terminal: when it takes a while (None), or never (False)

    The first error ends it, and says which model it is about. What speaks against a result is in
    its `warnings`. Work of workers that died is done again, to the same bits.
    """
    found = dict(
        infer_as_completed(models, method, executor=executor, progress=progress, **options)
    )
    return [found[number] for number in range(len(found))]


def infer_as_completed(
    models: Iterable[Any],
    method: Any = None,
    *,
    executor: Executor | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Iterator[tuple[int, Result]]:
    """As `infer_many`, but gives (number, result) of each model as soon as it is known.

    Models are drawn as workers come free, so that a generator of very many need not be held.
    """
    _check_models(models)
    _check_options(options)
    return _as_completed(models, method, executor, progress, options)


def _check_models(models: Any) -> None:
    """One model, or its file, is no list of them."""
    if _is_file(models) or hasattr(models, "content_hash") or not hasattr(models, "__iter__"):
        raise ModelError(
            f"expected a list of models or of files for infer_many, got {described(models)}: put "
            "it into a list, or use infer"
        )


def _check_options(options: dict[str, Any]) -> None:
    for name in OF_ONE:
        if name in options:
            raise MethodError(f"expected no {name}= for many models: use infer for one of them")
    known = [name for name in inspect.signature(infer).parameters if name not in OF_ONE][2:]
    for name in options:
        if name not in known:
            raise MethodError(
                f"expected {'=, '.join(known)}= for infer_many, got {name}=: executor= says where "
                "and how many models run at once, such as ProcessPoolExecutor(2)"
            )


def _as_completed(
    models: Iterable[Any],
    method: Any,
    executor: Executor | None,
    progress: bool | None,
    options: dict[str, Any],
) -> Iterator[tuple[int, Result]]:
    total, done = operator.length_hint(models, 0), 0
    bar = Progress(progress, total or None, "infer_many", "models")
    bar.expect_compilers()
    with interrupted_together(), closing(bar), _workers(executor) as workers:
        batches = _Batches(models, total, workers.count)
        local = isinstance(workers.executor, ThreadPoolExecutor)
        turn = threading.Lock() if local else None
        if local:
            options = {"threads": 1, **options}  # there are enough models to share out
        jobs = ((first, batch, method, options, turn) for first, batch in batches)
        for (first, batch, *_), (seconds, found) in workers.completed(infer_batch, jobs):
            batches.learn(len(batch), seconds)
            for number, (model, result) in enumerate(zip(batch, found, strict=True), first):
                if isinstance(result, HerdedError):
                    raise _about(number, model, result)
                done += 1
                bar.update(done)
                yield number, result if local or _is_file(model) else replace(result, model=model)


@contextmanager
def _workers(executor: Executor | None) -> Iterator[Workers]:
    """Those of the executor, or threads that end with the block."""
    if executor is not None:
        with Workers(executor) as workers:
            yield workers
    else:
        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            yield Workers(pool)
        finally:
            pool.shutdown(cancel_futures=True)


class _Batches:
    """Models in batches as long as they should be, by what the last ones took."""

    def __init__(self, models: Iterable[Any], total: int, workers: int) -> None:
        self.models, self.total, self.workers = iter(models), total, workers
        self.drawn, self.size = 0, 1

    def __iter__(self) -> Iterator[tuple[int, list[Any]]]:
        while batch := list(islice(self.models, self._next_size())):
            yield self.drawn, batch
            self.drawn += len(batch)

    def _next_size(self) -> int:
        """Towards the end there must be a batch for every worker."""
        left = self.total - self.drawn
        share = -(-left // (2 * self.workers)) if left > 0 else self.size
        return min(self.size, share)

    def learn(self, models: int, seconds: float) -> None:
        self.size = max(1, min(LARGEST, int(models * BATCH / max(seconds, 1e-9))))


def infer_batch(
    first: int,
    models: list[Any],
    method: Any,
    options: dict[str, Any],
    turn: AbstractContextManager[Any] | None,
) -> tuple[float, list[Any]]:
    """On a worker: the seconds it took, and the results, or the error that ended them.

    Threads of the process that asked share a `turn`. A result that leaves the process goes without
    its model, which whoever asked has already.
    """
    began, waited = time.perf_counter(), 0.0
    found: list[Any] = []
    local = turn is not None
    with ExitStack() as mine:
        for model in models:
            try:
                asked = read_model(model) if _is_file(model) else model
                result = infer(asked, method, progress=False, **options)
                found.append(result if local or asked is not model else replace(result, model=None))
            except HerdedError as error:
                found.append(error)
                found += [None] * (len(models) - len(found))
                break
            if turn and len(found) == 1 < len(models) and _is_small(asked, result):
                before = time.perf_counter()
                mine.enter_context(turn)  # for the others of the batch, which are like it
                waited = time.perf_counter() - before
    return time.perf_counter() - began - waited, found


def _is_small(model: Any, result: Result) -> bool:
    """Whether it was a sampler's run of few updates."""
    sweeps = result.sweeps + result.provenance.get("burn_in", 0)
    return 0 < len(result.state) * sweeps * model.n_variables < SMALL


def _is_file(model: Any) -> bool:
    return isinstance(model, (str, os.PathLike))


def _about(number: int, model: Any, error: HerdedError) -> HerdedError:
    """The same error, and which model it is about."""
    name = f" ({os.fspath(model)})" if _is_file(model) else ""
    return type(error)(f"model {number}{name}: {error}")

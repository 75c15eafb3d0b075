"""Run jobs on any `concurrent.futures.Executor`, and repeat those whose worker died.

Jobs are deterministic, so that a repeated job gives the same bits. A pool of processes cannot be
used once one of them has died, and is replaced by a new one. Dask gives a dead worker's jobs to the
others by itself, and gives up on a job (`KilledWorker`) that was running when several workers died:
such a job is submitted again.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from pickle import PicklingError
from typing import Any

from herded.errors import MethodError, WorkerError
from herded.run.interrupts import raise_if_interrupted
from herded.version import __version__

MAX_ATTEMPTS = 4  # of one job
POLL_SECONDS = 0.1  # seconds between two checks for an interrupt
DEFAULT_WORKERS = 8  # workers of an executor that does not say how many it has


class WorkerPool:
    """An executor, or the one that replaced it."""

    def __init__(self, executor: Executor) -> None:
        if not (hasattr(executor, "submit") and hasattr(executor, "shutdown")):
            raise MethodError(
                "expected executor= as an Executor of concurrent.futures, such as "
                f"ThreadPoolExecutor(4) or a Dask client's get_executor(), got {executor!r:.80}"
            )
        self.executor = executor
        self._own: Executor | None = None

    @property
    def count(self) -> int:
        """How many jobs may run at once."""
        client = getattr(self.executor, "_client", None)  # Dask's
        if client is not None:
            return max(1, int(sum(client.nthreads().values())))
        return getattr(self.executor, "_max_workers", None) or DEFAULT_WORKERS

    def completed(
        self, function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]
    ) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Yield each of `jobs` with the value of `function(*job)`, in the order they finish.

        `function` must be one that a worker can import. Jobs are drawn as workers come free.
        """
        source, most = iter(jobs), 2 * self.count
        waiting: dict[Future[Any], tuple[tuple[Any, ...], int]] = {}
        try:
            while True:
                while len(waiting) < most and (job := next(source, None)) is not None:
                    waiting[self._submit(function, job, 1)] = job, 1
                if not waiting:
                    return
                wait(waiting, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                raise_if_interrupted()
                # Not what `wait` gives: of jobs that were cancelled it may never hear.
                for future in [future for future in waiting if future.done()]:
                    job, attempt = waiting.pop(future)
                    try:
                        found = future.result()
                    except Exception as error:
                        self._raise_unless_worker_died(error, attempt)
                        waiting[self._submit(function, job, attempt + 1)] = job, attempt + 1
                    else:
                        yield job, found
        finally:
            for future in waiting:
                future.cancel()

    def _submit(self, function: Callable[..., Any], job: tuple[Any, ...], attempt: int) -> Any:
        try:
            return self.executor.submit(_run_if_same_version, __version__, attempt, function, *job)
        except BrokenExecutor:
            self._replace()
            return self.executor.submit(_run_if_same_version, __version__, attempt, function, *job)

    def _raise_unless_worker_died(self, error: Exception, attempt: int) -> None:
        """Return where a worker died and the job may be tried again; raise anything else."""
        killed = type(error).__name__ == "KilledWorker"  # without importing Dask
        if isinstance(error, CancelledError):
            raise WorkerError(
                "expected the scheduler to keep running, but it stopped and its jobs are lost: "
                "start it and run this again"
            ) from error
        if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("herded"):
            raise WorkerError(
                f"expected herded {__version__} on every worker, got one without it: install it "
                "there"
            ) from error
        if isinstance(error, PicklingError) or "pickle" in str(error):
            raise MethodError(
                "expected models and methods that can be sent to workers, but: "
                f"{error}: use functions of a module in place of lambdas, or threads"
            ) from error
        if not (killed or isinstance(error, BrokenExecutor)):
            raise error
        if attempt >= MAX_ATTEMPTS:
            raise WorkerError(
                f"expected workers to survive, but each of {attempt} attempts at one job ended "
                "with a dead worker: give them more memory, or smaller models"
            ) from error

    def _replace(self) -> None:
        """Replace a broken pool with a new one of as many processes."""
        from concurrent.futures import ProcessPoolExecutor  # which imports all of multiprocessing

        broken = self.executor
        self.close()
        self.executor = self._own = ProcessPoolExecutor(
            self.count,
            mp_context=getattr(broken, "_mp_context", None),
            initializer=getattr(broken, "_initializer", None),
            initargs=getattr(broken, "_initargs", ()),
        )

    def close(self) -> None:
        """Shut down the pool that was started here, not the executor that was given."""
        if self._own is not None:
            self._own.shutdown(cancel_futures=True)
            self._own = None

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _run_if_same_version(
    version: str, attempt: int, function: Callable[..., Any], *job: object
) -> Any:
    """Run a job on a worker; the number of the attempt makes it a new task for Dask."""
    if version != __version__:
        raise WorkerError(
            f"expected herded {version} on every worker, got {__version__}: install the same "
            "version there"
        )
    return function(*job)

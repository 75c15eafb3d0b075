"""`--engine` and `--workers` as an executor: Dask's, or processes of this machine."""

import logging
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from herded.errors import MethodError, WorkerError, missing_extra_error
from herded.system.argument_checks import is_whole_number
from herded.version import __version__

SCHEDULER_TIMEOUT_SECONDS = 10.0  # seconds that a scheduler has to answer
WORKER_ARRIVAL_SECONDS = 60.0  # seconds that workers have to arrive


def describe_executor(engine: str | None, workers: int | None) -> str:
    """Describe the workers for people; empty if the work stays in this process."""
    if engine is not None:
        return f"{engine}, at least {workers} workers" if workers else engine
    return f"{workers} process{'es' if workers > 1 else ''}" if workers else ""


def check_executor_options(engine: str | None, workers: int | None) -> None:
    """Raise what makes no sense before any work is done."""
    if engine is not None and not re.fullmatch(r"dask://[^/\s]+:\d+", engine):
        raise MethodError(f"expected --engine dask://HOST:PORT, got {engine!r}")
    if workers is not None and not is_whole_number(workers, 1):
        raise MethodError(f"expected --workers of 1 or more, got {workers!r}")


@contextmanager
def open_executor(engine: str | None, workers: int | None) -> Iterator[Any]:
    """Open an executor for the block; None if the work stays in this process."""
    check_executor_options(engine, workers)
    if engine is not None:
        with _no_logging():
            client = _connect(engine, workers or 1)
            try:
                yield client.get_executor(pure=False)
            finally:
                client.close()
    elif workers is not None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        # Ctrl-C goes to all processes of a terminal: the first one decides what it means.
        pool = ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_IGN),
        )
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
    else:
        yield None


@contextmanager
def _no_logging() -> Iterator[None]:
    """Silence Dask's tracebacks: a dead scheduler is reported in one sentence."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _connect(engine: str, workers: int) -> Any:
    """Return a client of the scheduler, with this many workers of this version."""
    try:
        from distributed import Client
    except ImportError as error:
        raise missing_extra_error("Dask", f"--engine {engine}", "scale") from error
    try:
        client = Client(engine.replace("dask://", "tcp://"), timeout=SCHEDULER_TIMEOUT_SECONDS)
    except (OSError, TimeoutError) as error:
        raise WorkerError(
            f"expected a Dask scheduler at {engine}, got no answer within "
            f"{SCHEDULER_TIMEOUT_SECONDS:g} seconds: "
            "start one with `dask scheduler`"
        ) from error
    try:
        client.wait_for_workers(workers, timeout=WORKER_ARRIVAL_SECONDS)
        _check_versions(client)
    except TimeoutError as error:
        client.close()
        raise WorkerError(
            f"expected {workers} workers at {engine} within {WORKER_ARRIVAL_SECONDS:g} seconds, "
            f"got {len(client.nthreads())}: start them with `dask worker`"
        ) from error
    except BaseException:
        client.close()
        raise
    return client


def _check_versions(client: Any) -> None:
    """Raise unless every worker has this version."""
    for name, version in client.run(version_here).items():
        if version != __version__:
            raise WorkerError(
                f"expected herded {__version__} on every worker, got {version} at {name}: install "
                "the same version there"
            )


def version_here() -> str:
    """Return the version on a worker; sent by value, so that it works without herded."""
    try:
        from herded.version import __version__ as found
    except ImportError:
        return "none"
    return found

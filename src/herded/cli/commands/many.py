"""`herded many`: marginals of many model files in parallel, each written when it is known."""

import argparse
import copy
import os
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from herded.cli import executor_options, model_input
from herded.cli.command_wording import error_text, warning_texts
from herded.cli.commands.infer import run_setup
from herded.cli.run_setup import build_run_setup
from herded.cli.terminal_output import format_facts, print_lines, printable
from herded.errors import FileError, HerdedError, HerdedWarning, MethodError
from herded.io.uai_results import write_mar
from herded.run.distributed.worker_pool import WorkerPool
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.progress import Progress
from herded.system import memory_limits


class WorkerReport(NamedTuple):
    """The results of one model, as a worker sends them."""

    marginals: np.ndarray  # (N, K)
    cardinalities: np.ndarray
    method: str
    sweeps: int
    seconds: float
    warnings: tuple[str, ...]


def many(options: argparse.Namespace) -> int:
    """Read, run and write every model; a model that fails is reported, and the others continue."""
    targets = _targets(options)
    executor_options.check_executor_options(options.engine, options.workers)
    workers = options.workers or os.cpu_count() or 1
    job_options = copy.copy(options)
    job_options.engine = job_options.workers = None  # a worker does its jobs in its own process
    if options.max_memory is None:
        job_options.max_memory = memory_limits.default_limit() / (1 if options.engine else workers)
    where = executor_options.describe_executor(
        options.engine, options.workers if options.engine else workers
    )
    print_lines(*format_facts([("models", f"{len(targets):,} on {where}")]))
    failed: list[type[HerdedError]] = []
    bar = Progress(None, len(targets), "many", "models")
    with (
        stop_all_runs_on_interrupt(),
        executor_options.open_executor(
            options.engine, options.workers if options.engine else workers
        ) as pool,
        WorkerPool(pool) as crew,
        closing(bar),
    ):
        jobs = ((path, job_options) for path in targets)
        for done, ((path, _), found) in enumerate(crew.completed(answer_file, jobs), 1):
            failed += [type(found)] if isinstance(found, HerdedError) else []
            for line in _tell(path, targets[path], found, options):
                print_lines(line)
            bar.update(done)
    if failed:
        alike = len(set(failed)) == 1  # exit as for one of them
        raise (failed[0] if alike else MethodError)(
            f"expected results for every model, got none for {len(failed):,} of "
            f"{len(targets):,}: see above"
        )
    return 0


def _targets(options: argparse.Namespace) -> dict[str, Path]:
    """Choose the file of each model's results; refuse two models with one file."""
    folder = Path(options.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"could not create the folder --out {folder}: {error.strerror}") from error
    targets: dict[str, Path] = {}
    owner: dict[Path, str] = {}
    for path in options.models:
        target = folder / f"{Path(path).name}.MAR"
        if target in owner and owner[target] != path:
            raise FileError(
                f"expected models of different names, got {owner[target]} and {path}, which "
                f"would both be written to {target}"
            )
        owner[target] = path
        targets[path] = target
    return targets


def _tell(
    path: str, target: Path, found: WorkerReport | HerdedError, options: argparse.Namespace
) -> Iterator[str]:
    """Write the results of a model and say so, or say why there are none."""
    name = printable(path, 200)
    if isinstance(found, HerdedError):
        yield f"{name}: {error_text(found, options)}"
        return
    write_mar(found.marginals, target, found.cardinalities)
    length = f"{found.sweeps:,} sweeps, " if found.method != "exact" else ""
    yield f"{name}: {found.method}, {length}{found.seconds:.2f} s, wrote {target}"
    for sentence in found.warnings:
        yield f"{name}: warning: {printable(sentence, len(sentence))}"


def answer_file(path: str, options: argparse.Namespace) -> WorkerReport | HerdedError:
    """Run `herded infer PATH` on a worker; return an error instead of raising it."""
    asked = copy.copy(options)
    asked.model = path
    try:
        model = model_input.read_model_and_evidence(asked)
        setup = build_run_setup(model, asked)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HerdedWarning)  # the result has them
            result = run_setup(setup)
    except HerdedError as error:
        return error
    return WorkerReport(
        result.marginals.reshape(model.n_variables, -1),
        np.asarray(model.cardinalities),
        setup.choice.name,
        result.sweeps,
        float(result.provenance["seconds"]),
        warning_texts(result, asked),
    )

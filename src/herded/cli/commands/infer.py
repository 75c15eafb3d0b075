"""`herded infer`: a model file in, its marginals, best state or log Z out."""

import argparse
import contextlib
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from herded.cli import executor_options, model_input, output_files
from herded.cli.reference_errors import Reference
from herded.cli.report import InferReport, build_report
from herded.cli.run_setup import RunSetup, build_run_setup
from herded.cli.terminal_output import count_text, format_facts, print_lines, printable
from herded.errors import CheckpointError, FileError, HerdedError, HerdedWarning, MethodError
from herded.models.protocol import Model
from herded.run.checkpoints.checkpoint_header import CheckpointHeader
from herded.run.interrupts import defer_interrupt, stop_event_on_interrupt
from herded.run.progress import Snapshot, SnapshotCallback
from herded.run.query import CheckpointOptions, KeepOptions
from herded.run.recording.best_state_recorder import BestState
from herded.run.result import Result
from herded.run.selection.plan import execute_plan
from herded.system import atomic_files
from herded.system.memory_limits import size_text

WATCH_SECONDS = 0.5  # seconds between two estimates of the error, which take time themselves


def infer(options: argparse.Namespace) -> int:
    """Read the model, choose a method, run it, print the results and write them."""
    if options.reference is not None and options.task != "mar":
        raise MethodError(f"expected --reference with --task mar, got --task {options.task}")
    _check_apart(options)
    if options.out is not None:
        output_files.check_ending(options.out, options.task)
        atomic_files.check_writable(options.out, FileError, "--out")
    model = model_input.read_model_and_evidence(options)
    reference = Reference.read(options, model) if options.reference is not None else None
    with defer_interrupt():
        setup = build_run_setup(model, options)
    if not options.json:
        print_lines(*format_facts(_heading(options, model, setup)))
    with _warnings_shown() as shown, _engine(setup, options) as executor:
        result = run_setup(setup, terminal_watcher(model, reference), executor)
    if result.provenance["interrupted"] and not result.sweeps:
        how = _how_to_go_on(options, setup, result)
        raise KeyboardInterrupt(f" before there was a result{how}")
    found = build_report(model, setup.after(result), options, result, reference, shown)
    problem = _write(options, model, found)
    print_lines(found.as_json() if options.json else found.as_text())
    if options.json:  # where a person may not read the output
        for text in (*found.warning_texts(), *found.remarks):
            _warn(text)
    if problem is not None:
        raise problem
    if options.out and not options.json:
        print_lines(f"wrote {options.out}")
    if found.is_interrupted:
        raise KeyboardInterrupt(_partial_result_text(options, setup, result))
    if result.provenance.get("saved") is False:
        raise CheckpointError(
            f"could not write the checkpoint {options.checkpoint}: the results are complete, but "
            "the run cannot be resumed"
        )
    return 0


def _check_apart(options: argparse.Namespace) -> None:
    """Refuse to write a file that is read, or one file twice."""
    read = {name: getattr(options, name) for name in ("model", "evidence", "reference")}
    written = {name: getattr(options, name) for name in ("out", "checkpoint")}
    for name, path in written.items():
        for other, taken in {**read, **written}.items():
            if (
                other != name
                and path
                and taken
                and os.path.realpath(path) == os.path.realpath(taken)
            ):
                word = "MODEL" if other == "model" else f"--{other}"
                raise FileError(
                    f"expected different files for --{name} and {word}, got {path} for both: "
                    "rename one"
                )


def _heading(
    options: argparse.Namespace, model: Model, setup: RunSetup
) -> Iterator[tuple[str, str]]:
    """Describe the run that is about to start, and its memory."""
    yield "model", model_input.model_line(options, model)
    yield "method", setup.described()
    if setup.unused:
        yield "unused", f"{', '.join(setup.unused)}, which {setup.choice.name} does not use"
    if setup.choice.name != "exact":
        yield "run", setup.run_described()
    if setup.checkpoint is not None:
        yield "resumed", f"{printable(options.checkpoint, 200)}: {_progress_text(setup.checkpoint)}"
    if setup.samples and (
        where := executor_options.describe_executor(options.engine, options.workers)
    ):
        yield "engine", where
    yield "memory", f"at most {size_text(setup.memory)} beyond the model"


def _progress_text(checkpoint: CheckpointHeader) -> str:
    return f"{count_text(checkpoint.recorded, 'sweep')} in {checkpoint.seconds:.2f} s"


@contextlib.contextmanager
def _warnings_shown() -> Iterator[list[str]]:
    """Print the library's warnings as they come, and collect them for the report."""
    shown: list[str] = []

    def show(message: Warning | str, *_: object, **__: object) -> None:
        shown.append(str(message))
        _warn(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)  # the result has them too
        warnings.showwarning = show
        yield shown


def _warn(text: str) -> None:
    print(f"herded: warning: {printable(text, len(text))}", file=sys.stderr)


def _engine(setup: RunSetup, options: argparse.Namespace) -> AbstractContextManager[Any]:
    """Open the workers for a sampler's chains."""
    if not setup.samples:
        return contextlib.nullcontext()
    return executor_options.open_executor(options.engine, options.workers)


def run_setup(
    setup: RunSetup,
    callback: SnapshotCallback | None = None,
    executor: Executor | None = None,
) -> Result:
    """Run the method that was set up."""
    query = replace(setup.query, callback=callback, executor=executor)
    if query.task == "map":
        query = replace(query, keep=KeepOptions(best_state=BestState()))
    if setup.choice.name == "exact":
        keep = KeepOptions() if query.task == "pr" else query.keep
        return execute_plan(setup.choice, replace(query, keep=keep, layout=setup.lay_out()))
    if not setup.samples:  # solvers save nothing
        query = replace(query, checkpoint=CheckpointOptions())
    with stop_event_on_interrupt():  # also during layout and compilation
        return execute_plan(setup.choice, replace(query, layout=setup.lay_out()))


def _write(options: argparse.Namespace, model: Model, found: InferReport) -> HerdedError | None:
    """Write --out; return an error instead of raising it, so that results are printed anyway."""
    if options.out is None:
        return None
    try:
        output_files.write_output(options.out, options.task, model, found)
    except HerdedError as error:
        return error
    return None


def _partial_result_text(options: argparse.Namespace, setup: RunSetup, result: Result) -> str:
    """Describe what an interrupted run has left."""
    length = f" of {setup.sweeps:,}" if setup.sweeps is not None else ""
    out = f"; {options.out} holds the results of these" if options.out else ""
    return f" after {result.sweeps:,}{length} sweeps{out}{_how_to_go_on(options, setup, result)}"


def _how_to_go_on(options: argparse.Namespace, setup: RunSetup, result: Result) -> str:
    saves = options.checkpoint and (setup.samples or setup.choice.name == "exact")
    if not saves or result.provenance.get("saved") is False:
        return ""
    return f"; run the same command again to resume from {options.checkpoint}"


# -- the text that the progress bar shows during a run ---------------------------------------


class ErrorWatcher:
    """The current standard error, and the true error where a reference is known."""

    def __init__(self, model: Model, reference: Reference | None) -> None:
        self.free = model.evidence.reshape(-1) < 0
        self.reference = reference
        self.looked, self.note = -np.inf, ""

    def __call__(self, snapshot: Snapshot) -> str:
        now = time.perf_counter()
        if now - self.looked >= WATCH_SECONDS:
            self.looked, self.note = now, self._look(snapshot)
        return self.note

    def _look(self, snapshot: Snapshot) -> str:
        best = snapshot.best()
        if best is not None:
            return f"best log-score {best:.6g}"
        chains = snapshot.chain_marginals()
        if chains is None:
            return "burn-in"
        notes = []
        if len(chains) > 1 and self.free.any():
            spread = chains[:, self.free].std(axis=0, ddof=1) / np.sqrt(len(chains))
            notes.append(f"standard error {spread.mean():.2g}")
        if self.reference is not None:
            errors = self.reference.errors(chains.mean(axis=0))
            notes.append(f"error {errors.mean_absolute:.2g}, Hellinger {errors.hellinger:.2g}")
        return ", ".join(notes)


def terminal_watcher(model: Model, reference: Reference | None) -> ErrorWatcher | None:
    """Return an `ErrorWatcher` if standard error is a terminal."""
    return ErrorWatcher(model, reference) if sys.stderr.isatty() else None

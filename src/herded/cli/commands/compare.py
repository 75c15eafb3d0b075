"""`herded compare`: the error of several methods over time, on one model."""

import argparse
import csv
import io
import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from herded.cli import model_input
from herded.cli.command_wording import error_text, warning_texts
from herded.cli.commands.infer_arguments import WEIGHTS
from herded.cli.reference_errors import Reference, ReferenceErrors
from herded.cli.terminal_output import align_columns, format_facts, print_lines, printable
from herded.errors import FileError, HerdedError, HerdedWarning, MemoryLimitError, MethodError
from herded.methods.default_weights import POOLED_SLACK, default_weights
from herded.methods.exact.solver import Exact
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method, Sampler
from herded.methods.registry import make_method, method_names
from herded.models.protocol import Model
from herded.run.infer import infer
from herded.run.interrupts import stop_all_runs_on_interrupt
from herded.run.progress import Snapshot, SnapshotCallback
from herded.run.recording.recorders import Marginals
from herded.system.atomic_files import write_bytes
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import Phrase
from herded.system.figures import (
    GIBBS_COLOUR,
    HERDED_COLOUR,
    OTHER_COLOURS,
    SHARED_COLOUR,
    png,
    subplots,
    svg,
    with_plot_style,
)

LOOK_RATIO = 1.15  # each look at the error comes this many times later than the one before
FIRST_LOOK_SECONDS = 1e-3  # seconds
# of diagnostics: the error of a chain is measured, and an interruption is reported otherwise
UNSHOWN_KINDS = (DiagnosticKind.ONE_CHAIN, DiagnosticKind.INTERRUPTED)


@dataclass(frozen=True)
class CurvePoint:
    """The error of a method after a time."""

    seconds: float
    sweeps: int
    errors: ReferenceErrors


def compare(options: argparse.Namespace) -> int:
    """Run one method after another; print a table, and write the curves."""
    names = _names(options.methods)
    if not 0 < options.seconds < math.inf:
        raise MethodError(f"expected --seconds above 0, got {options.seconds:g}")
    folder = _folder(options.out)
    model = model_input.read_model_and_evidence(options)
    with stop_all_runs_on_interrupt():
        methods = {name: _method(name, model, options) for name in names}
        reference, source = _reference(options, model)
        print_lines(
            *format_facts(
                [("model", model_input.model_line(options, model)), ("reference", source)]
            ),
            "",
        )
        curves, problems, cautions = {}, {}, []
        for name, method in methods.items():
            try:
                curves[name], warned = _curve(model, method, reference, options)
                cautions += [
                    ("warning", f"{name}: {printable(text, len(text))}") for text in warned
                ]
            except HerdedError as error:
                problems[name] = error
        refused = [
            ("cannot run", f"{name}: {error_text(error, options)}")
            for name, error in problems.items()
        ]
        print_lines(
            *_table(curves, options.seconds), *format_facts(refused), *format_facts(cautions)
        )
        if folder is not None and curves:
            _write(folder, curves)
            print_lines(f"wrote errors.csv, errors.svg and errors.png into {options.out}")
    if not curves:
        raise next(iter(problems.values()))
    return 0


def _names(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    known = (*method_names(), *WEIGHTS)
    for name in names:
        if name not in known:
            raise MethodError(f"expected --methods of {', '.join(known)}, got {name!r}")
    return names


def _method(name: str, model: Model, options: argparse.Namespace) -> Method:
    if name in WEIGHTS:
        slack = (
            options.slack
            if options.slack is not None
            else POOLED_SLACK
            if name == "pooled"
            else 0.0
        )
        return HerdedGibbs(weights=name, slack=slack, seed=options.seed)
    if name == "herded":
        suited = default_weights(model, seed=options.seed, max_memory=options.max_memory)
        return suited if options.slack is None else replace(suited, slack=options.slack)
    return make_method(name, seed=options.seed)


def _reference(options: argparse.Namespace, model: Model) -> tuple[Reference, str]:
    """Read the reference, or compute it exactly."""
    if options.reference:
        return Reference.read(options, model), options.reference
    began = time.perf_counter()
    try:
        result = infer(model, Exact(), max_memory=options.max_memory)
    except MemoryLimitError as error:
        expected = "expected --reference, since this model is too large to compute one exactly: "
        raise MemoryLimitError(Phrase(expected, error.message)) from error
    table = result.marginals.reshape(model.n_variables, -1)
    return Reference(model, table), f"exact, in {time.perf_counter() - began:.2f} s"


def _curve(
    model: Model, method: Method, reference: Reference, options: argparse.Namespace
) -> tuple[list[CurvePoint], tuple[str, ...]]:
    """Measure the error of one method over time, without compilation; return its warnings too."""
    extra: dict[str, Any] = {"max_memory": options.max_memory, "progress": None}
    if isinstance(method, Sampler):
        extra["keep"] = [Marginals(rao_blackwell=True)]
    layout = method.compile(model, max_memory=options.max_memory)
    points: list[CurvePoint] = []
    callback = _looking(reference, points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HerdedWarning)  # a result has them too
        infer(model, method, sweeps=2, layout=layout, **extra)  # compiles
        result = infer(
            model, method, seconds=options.seconds, layout=layout, callback=callback, **extra
        )
    marginals = result.marginals.reshape(model.n_variables, -1)
    last = reference.errors(marginals)
    points.append(CurvePoint(float(result.provenance["seconds"]), result.sweeps, last))
    texts = warning_texts(result, options, UNSHOWN_KINDS)
    return points, (*texts, *reference.warnings(marginals))


def _looking(reference: Reference, points: list[CurvePoint]) -> SnapshotCallback:
    """Make a callback that measures at growing intervals: the time axis is logarithmic."""

    def callback(snapshot: Snapshot) -> str | None:
        if points and snapshot.seconds < LOOK_RATIO * points[-1].seconds:
            return None
        chains = snapshot.chain_marginals()
        if chains is not None and snapshot.seconds >= FIRST_LOOK_SECONDS:
            errors = reference.errors(chains.mean(axis=0))
            points.append(CurvePoint(snapshot.seconds, snapshot.sweeps, errors))
        return None

    return callback


def _table(curves: dict[str, list[CurvePoint]], seconds: float) -> list[str]:
    """Return the error of each method at some times, and at the end."""
    times = [seconds / 100, seconds / 10]
    head = ["method", *(f"{t:.3g} s" for t in times), "all", "Hellinger", "sweeps", "seconds"]
    rows = [
        [
            name,
            *(_error_text(_point_at(points, t)) for t in times),
            _error_text(points[-1]),
            f"{points[-1].errors.hellinger:.2e}",
            f"{points[-1].sweeps:,}",
            f"{points[-1].seconds:.2f}",
        ]
        for name, points in curves.items()
    ]
    return ["mean absolute error after", *align_columns([head, *rows])] if rows else []


def _point_at(points: Sequence[CurvePoint], seconds: float) -> CurvePoint | None:
    """Return the last point not after `seconds`."""
    before = [point for point in points if point.seconds <= seconds]
    return before[-1] if before else None


def _error_text(point: CurvePoint | None) -> str:
    return "-" if point is None else f"{point.errors.mean_absolute:.2e}"


def _folder(out: str | None) -> Path | None:
    """Create the folder of --out now, so that a long run does not fail at its end."""
    if out is None:
        return None
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"could not create the folder --out {out}: {error.strerror}: choose another"
        ) from error
    return Path(out)


def _write(folder: Path, curves: dict[str, list[CurvePoint]]) -> None:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["method", "seconds", "sweeps", "mean_absolute", "largest", "hellinger"])
    for name, points in curves.items():
        for p in points:
            e = p.errors
            table.writerow([name, p.seconds, p.sweeps, e.mean_absolute, e.largest, e.hellinger])
    write_bytes(folder / "errors.csv", [text.getvalue().encode()])
    lines = {
        name: ([p.seconds for p in points], [p.errors.mean_absolute for p in points])
        for name, points in curves.items()
    }
    svg, png = render_figures(lines)
    write_bytes(folder / "errors.svg", [svg.encode()])
    write_bytes(folder / "errors.png", [png])


METHOD_COLOURS = {"gibbs": GIBBS_COLOUR, "herded": HERDED_COLOUR, "shared": SHARED_COLOUR}
SPARE_COLOURS = (*OTHER_COLOURS, "#0f766e", "#92400e", "#6b7280", "#be185d", "#1e3a8a")

CurveLine = tuple[Sequence[float], Sequence[float]]


@with_plot_style
def render_figures(lines: dict[str, CurveLine]) -> tuple[str, bytes]:
    """Draw the curves (seconds, errors) by name, as SVG and as PNG."""
    figure, axes = subplots(1, 1, width=6.4, height=4.0)
    end = max(seconds[-1] for seconds, _ in lines.values())
    floor = _floor(lines)
    spare = iter(SPARE_COLOURS)
    for name, (seconds, errors) in lines.items():
        colour = METHOD_COLOURS.get(name) or next(spare)
        shown = [max(error, floor) for error in errors]
        label = name if errors[-1] > 0 else f"{name} (no error)"
        axes.plot(seconds, shown, color=colour, label=label, linewidth=1.5)
        axes.plot(seconds[-1:], shown[-1:], color=colour, marker="o", markersize=4)
        # The last error of a method that has ended.
        axes.plot([seconds[-1], end], [shown[-1]] * 2, color=colour, linewidth=1, linestyle=":")
    axes.set(xscale="log", yscale="log", xlabel="seconds", ylabel="mean absolute error")
    axes.legend()
    return svg(figure), png(figure)


def _floor(lines: dict[str, CurveLine]) -> float:
    """Return the height at which an error of zero is drawn: below all others."""
    known = [error for _, errors in lines.values() for error in errors if error > 0]
    return 0.3 * min(known, default=1e-9)

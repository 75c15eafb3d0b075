"""Text for people: tables in columns, names that cannot disturb a terminal, the next command."""

import argparse
import io
import math
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from herded.models.summary import count_text as count_text
from herded.system.diagnostics.kinds import CONFINEMENT_KINDS

if TYPE_CHECKING:
    from herded.cli.report import InferReport

MAX_PRINTED_NAME_CHARS = 40
STANDARD_INPUT_NAME = "-"  # standard input as a model
# of a process substitution, which is gone by the time one reads of it
PROCESS_SUBSTITUTION_PREFIX = "/dev/fd/"
MORE_SWEEPS_FACTOR = 10  # times as many sweeps
DEFAULT_COMMAND_SWEEPS = 10_000  # where none are asked for


def print_lines(*lines: str) -> None:
    """Print lines at once, also where the terminal cannot show all of their characters."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    print("\n".join(lines), flush=True)


def printable(name: str, longest: int = MAX_PRINTED_NAME_CHARS) -> str:
    """Return a name as it may be shown: without control characters, and not too long."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def format_facts(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Format names and values as lines, one below another."""
    return [f"{name:10} {text}" for name, text in pairs]


def align_columns(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Format rows of cells as lines: the first `left` columns aligned left, others right."""
    widths = [
        max(cell_len(row[c]) for row in rows if c < len(row)) for c in range(_max_columns(rows))
    ]
    lines = []
    for row in rows:
        cells = [
            cell + " " * (width - cell_len(cell))
            if c < left
            else " " * (width - cell_len(cell)) + cell
            for c, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def finite_or_none(value: float | None) -> float | None:
    """Return a finite number, or None: JSON has no infinity."""
    return value if value is not None and math.isfinite(value) else None


def more_rows_text(n: int) -> list[str]:
    """Say how many variables a table leaves out, and how to see them."""
    return [f"... and {n:,} more: use --out or --json"] if n else []


def _max_columns(rows: Sequence[Sequence[str]]) -> int:
    return max((len(row) for row in rows), default=0)


# -- the command that is likely to be wanted next: commands on models end with it ------------------


def infer_command(options: argparse.Namespace, *more: str) -> str:
    """Return `herded infer` for the same model and evidence, with other options."""
    words = ["herded", "infer", options.model]
    if options.evidence is not None:
        words += ["--evidence", options.evidence]
    if options.sample is not None:
        words += ["--sample", str(options.sample)]
    for given in options.given:
        words += ["--given", given]
    if options.max_memory is not None:
        words += ["--max-memory", _size_in_units(options.max_memory)]
    return shlex.join([*words, *more])


def _size_in_units(n_bytes: float) -> str:
    """Return a size as it may be written: 2G, 500M."""
    for unit, size in (("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if n_bytes % size == 0:
            return f"{n_bytes / size:.0f}{unit}"
    return f"{n_bytes:.0f}"


def after_info(options: argparse.Namespace) -> str:
    """Suggest the command that answers what was looked at."""
    return infer_command(options)


def after_infer(options: argparse.Namespace, found: "InferReport") -> str:
    """Suggest a longer run of a sampler, or the options that show a long table in full.

    Empty where nothing is missing.
    """
    if options.out is not None or options.task != "mar" or found.is_interrupted:
        return ""
    if options.model.startswith(PROCESS_SUBSTITUTION_PREFIX):
        return ""
    if any(one.kind in CONFINEMENT_KINDS for one in found.result.diagnostics):
        return infer_command(options)  # no number of sweeps helps
    if found.setup.samples:
        return _longer(options)
    if found.setup.choice.name != "exact":
        return infer_command(options)  # what these approximate
    file = "model" if options.model == STANDARD_INPUT_NAME else os.path.basename(options.model)
    name = os.path.splitext(file.removesuffix(".gz"))[0]
    return infer_command(options, "--out", f"{name}.csv")


def _longer(options: argparse.Namespace) -> str:
    """Return the same command for ten times as long."""
    words, kept = iter(shlex.split(options.command_line)), []
    for word in words:
        if word in ("--sweeps", "--seconds"):
            next(words, None)
        elif not word.startswith(("--sweeps=", "--seconds=")):
            kept.append(word)
    if options.seconds is not None:
        return shlex.join([*kept, "--seconds", f"{MORE_SWEEPS_FACTOR * options.seconds:g}"])
    return shlex.join(
        [*kept, "--sweeps", str(MORE_SWEEPS_FACTOR * (options.sweeps or DEFAULT_COMMAND_SWEEPS))]
    )

"""`herded paper`: run the experiments, write the page, and print its path."""

import argparse
import importlib
import sys
import time
from pathlib import Path
from typing import Any

from herded.errors import MethodError
from herded.paper.report import prepare_folder, write_report
from herded.run.interrupts import stop_all_runs_on_interrupt

SECTION_MODULES = {
    "herding": "herded.paper.dynamics",
    "theory": "herded.paper.theory_section",
    "two-variables": "herded.paper.two_variables",
    "denoising": "herded.paper.denoising",
    "ner": "herded.paper.ner.ner_section",
}


def paper(options: argparse.Namespace) -> int:
    """Run all parts, or one of them."""
    if options.only is not None and options.only not in SECTION_MODULES:
        raise MethodError(f"expected --only {' or '.join(SECTION_MODULES)}, got {options.only!r}")
    names = [options.only] if options.only else list(SECTION_MODULES)
    size = experiment_size(options)
    prepare_folder(Path(options.out))
    began = time.perf_counter()
    sections = []
    with StatusLine() as tell, stop_all_runs_on_interrupt():
        for name in names:
            start = time.perf_counter()
            extra = (options.corpus,) if name == "ner" else ()
            section = importlib.import_module(SECTION_MODULES[name]).section(size, tell, *extra)
            section.seconds = time.perf_counter() - start
            sections.append(section)
    page = write_report(sections, Path(options.out), options.command_line)
    for section in sections:
        for verdict in section.verdicts:
            print(f"{section.title}: {verdict.text}")
    print(f"{page} written in {time.perf_counter() - began:.0f} seconds")
    return 0


def experiment_size(options: argparse.Namespace) -> str:
    """Return the size of experiments for --quick and --full."""
    return "quick" if options.quick else "full" if options.full else "default"


class StatusLine:
    """A line that says what is being done: a spinner on a terminal, nothing in a pipe."""

    def __enter__(self) -> Any:
        self.status: Any = None
        if sys.stderr.isatty():
            from rich.console import Console

            self.status = Console(stderr=True).status("")
            self.status.start()
        return self

    def __call__(self, what: str) -> None:
        if self.status is not None:
            self.status.update(what)

    def __exit__(self, *_: object) -> None:
        if self.status is not None:
            self.status.stop()

"""The library's advice in the options of a command: there `max_memory=` is `--max-memory`."""

import argparse
from typing import TYPE_CHECKING

from herded.errors import HerdedError
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import FlagOf, Phrase

if TYPE_CHECKING:
    from herded.run.result import Result

PLURALS = {"method": "methods", "weights": "methods"}  # as `compare` calls its options


def flag_finder(options: argparse.Namespace) -> FlagOf:
    """Return the function that finds a command's option for a keyword of Python."""
    known = vars(options)

    def flag_of(keyword: str) -> str | None:
        name = keyword if keyword in known else PLURALS.get(keyword)
        return f"--{name.replace('_', '-')}" if name in known else None

    return flag_of


def error_text(error: HerdedError, options: argparse.Namespace) -> str:
    """Return an error as a command with these options says it."""
    message = error.message
    return message.render(flag_finder(options)) if isinstance(message, Phrase) else str(error)


def warning_texts(
    result: "Result",
    options: argparse.Namespace,
    without: tuple[DiagnosticKind, ...] = (DiagnosticKind.INTERRUPTED,),
) -> tuple[str, ...]:
    """Return the diagnostics in a command's terms; interruptions are reported elsewhere."""
    flag_of = flag_finder(options)
    return tuple(one.render(flag_of) for one in result.diagnostics if one.kind not in without)

"""What `infer` does with a run that Ctrl-C ended: raise with what there is, or return it."""

from dataclasses import replace

from herded.errors import Interrupted, MethodError
from herded.models.checks import shown
from herded.run.result import Diagnostic, Result

INTERRUPTED = "interrupted"  # the kind of the diagnostic
CHOICES = ("raise", "return")


def check_on_interrupt(choice: object) -> None:
    """Raise unless it is one of the two."""
    if not (isinstance(choice, str) and choice in CHOICES):
        raise MethodError(f'expected on_interrupt="raise" or "return", got {shown(choice)}')


def is_interrupted(result: Result) -> bool:
    """Whether somebody asked the run to stop, also if it had come to its end by then."""
    return any(one.kind == INTERRUPTED for one in result.diagnostics)


def flag_interrupted(result: Result) -> Result:
    """The result with a diagnostic that says how far the run has come."""
    if is_interrupted(result):
        return result
    if not result.provenance["interrupted"]:
        found = Diagnostic(INTERRUPTED, "note", "interrupted when all sweeps were done")
    else:
        found = Diagnostic(
            INTERRUPTED,
            "warning",
            f"interrupted after {result.sweeps:,} sweeps, before the run had come to its end",
        )
    return replace(result, diagnostics=(*result.diagnostics, found))


def settle(result: Result, on_interrupt: str) -> Result:
    """The result of a run that nobody interrupted; of another one, what `on_interrupt` says.

    A run that has recorded nothing has no numbers to give, whatever was asked for.
    """
    if not is_interrupted(result):
        return result
    if not result.sweeps:
        raise Interrupted("before anything was recorded")
    if on_interrupt == "return":
        return result
    said = next(one.message for one in result.diagnostics if one.kind == INTERRUPTED)
    raise Interrupted(f"{said}: error.result has what was found", result)

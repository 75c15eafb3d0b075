"""The end of a run that Ctrl-C ended: raise with the partial result, or return it."""

from dataclasses import replace

from herded.errors import Interrupted, MethodError
from herded.run.result import Result
from herded.system.argument_checks import short_repr
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.interrupts import NO_PART

ON_INTERRUPT_CHOICES = ("raise", "return")


def check_on_interrupt(choice: object) -> None:
    """Raise unless it is one of the two."""
    if not (isinstance(choice, str) and choice in ON_INTERRUPT_CHOICES):
        raise MethodError(f'expected on_interrupt="raise" or "return", got {short_repr(choice)}')


def is_interrupted(result: Result) -> bool:
    """Return whether somebody asked the run to stop, also if it had come to its end by then."""
    return any(one.kind == DiagnosticKind.INTERRUPTED for one in result.diagnostics)


def flag_interrupted(result: Result, missing: str = "") -> Result:
    """Return the result with a diagnostic that says how far the run has come.

    `missing` is what the interruption has left out after the last sweep, if anything.
    """
    if is_interrupted(result):
        return result
    kind = DiagnosticKind.INTERRUPTED
    if result.provenance["interrupted"]:
        found = Diagnostic(kind, "warning", figures={"sweeps": float(result.sweeps)})
    elif missing:
        found = Diagnostic(kind, "warning", names={"missing": missing})
    else:
        found = Diagnostic(kind, "info")
    return replace(result, diagnostics=(*result.diagnostics, found))


def settle_interruption(result: Result, on_interrupt: str) -> Result:
    """Return the result of a run that nobody interrupted; of another one, what `on_interrupt` says.

    A run that has recorded nothing has no numbers to give, whatever was asked for.
    """
    if not is_interrupted(result):
        return result
    if not result.sweeps:
        raise Interrupted(NO_PART)
    if on_interrupt == "return":
        return result
    found = next(one for one in result.diagnostics if one.kind == DiagnosticKind.INTERRUPTED)
    which = "whole" if found.severity == "info" else "partial"
    raise Interrupted(f"{found.message}: error.result is the {which} result", result)

"""A typed finding about a run, and how it is said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import FlagOf, Remedy
from herded.system.diagnostics.texts import text_of

Severity = Literal["info", "warning"]


@dataclass(frozen=True)
class Diagnostic:
    """One finding about a run, as values; its text is made of them.

    Attributes
    ----------
    kind : DiagnosticKind
        What it is about, equal to its text such as "short run". docs/how-to/results.md lists them.
    severity : str
        "warning" where the numbers may be wrong; "info" where it only says what is not known.
    variables : tuple of int
        The variables that this is about.
    figures : mapping
        Numbers by name. Of a short run `autocorrelation_time` is the best lower bound in sweeps,
        `sweeps` the length of the run and `times` the autocorrelation times in it, at most.
    remedy : Remedy
        What to do; `str` of it is a text. False where there is nothing to do.
    names : mapping
        What the text calls things: `variable`, `state`, `quantity`, or the `reason` of a failure.

    Examples
    --------
    >>> from herded.system.diagnostics.diagnostic import Diagnostic
    >>> from herded.system.diagnostics.kinds import DiagnosticKind
    >>> found = Diagnostic(DiagnosticKind.INTERRUPTED, "warning", figures={"sweeps": 200})
    >>> found.kind == "interrupted", str(found)
    (True, 'interrupted after 200 sweeps, before the end')
    """

    kind: DiagnosticKind
    severity: Severity
    variables: tuple[int, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)
    remedy: Remedy = field(default_factory=Remedy)
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """The finding without its details: the first clause of the message."""
        return text_of(self).headline

    @property
    def message(self) -> str:
        """The finding in a sentence, with the keywords of Python."""
        return self.render()

    def render(self, flag_of: FlagOf | None = None) -> str:
        """The finding in a sentence, with the options of a command, or the keywords of Python."""
        return text_of(self).render(flag_of)

    def __str__(self) -> str:
        return self.message

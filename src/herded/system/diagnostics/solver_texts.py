"""Sentences about belief propagation and mean field, one function for each kind of diagnostic."""

from typing import TYPE_CHECKING

from herded.system.diagnostics.phrases import Phrase
from herded.system.diagnostics.text import Text, others_text

if TYPE_CHECKING:
    from herded.system.diagnostics.diagnostic import Diagnostic

UNSURE = "log Z is Bethe's estimate on a graph with loops, where no error bound is known"


def no_convergence(found: "Diagnostic") -> Text:
    """Too few sweeps, or none would do."""
    return Text(
        f"{found.names['solver']} did not converge in {found.figures['sweeps']:,.0f} sweeps",
        Phrase("its answer may be far off; ", found.remedy),
    )


def hard_zeros(found: "Diagnostic") -> Text:
    """Mean field on a model with hard zeros."""
    return Text(
        "mean field is a heuristic where there are hard zeros",
        Phrase("its answer may be far off"),
    )


def few_digits(found: "Diagnostic") -> Text:
    """Log-potentials whose size costs digits."""
    return Text(
        f"log-potentials of {found.figures['largest']:.2g} leave few digits of Bethe's log Z",
        Phrase("do not trust it"),
    )


def sampler_differs(found: "Diagnostic") -> Text:
    """Herds found something else."""
    figures, names = found.figures, found.names
    return Text(
        f"{names['solver']} differs from a short run of herds",
        Phrase(
            f"variable {names['variable']} is {names['state']} with probability "
            f"{figures['probability']:.2f} by the one and {figures['by_herds']:.2f} by the other"
            f"{others_text(figures['others'], 'differs', 'differ')}: do not trust it; ",
            found.remedy,
        ),
    )


def sampler_failed(found: "Diagnostic") -> Text:
    """The herds could not run."""
    return Text(
        f"{found.names['solver']} could not be compared with a sampler ({found.names['reason']})",
        Phrase("it may be far off"),
    )


def sampler_unmixed(found: "Diagnostic") -> Text:
    """The herds did not mix."""
    return Text(
        f"{found.names['solver']} could not be compared with a short run of herds, which does not "
        "mix",
        Phrase("it may be far off"),
    )


def not_cross_checked(found: "Diagnostic") -> Text:
    """The model is too large for a quick comparison."""
    return Text("it was not compared with a sampler, which on a model of this size would take long")


def exact_log_z(found: "Diagnostic") -> Text:
    """Elimination is quick."""
    return Text(
        f"log Z is {found.names['estimate']}, {found.figures['log_z']:.6g}; elimination, which is "
        f"quick on this model, gives {found.figures['exact']:.6g}",
        Phrase(found.remedy),
    )


def log_z_bound(found: "Diagnostic") -> Text:
    """The bound of mean field."""
    return Text(
        "log Z is a lower bound by mean field", Phrase("how far it is below the truth is not known")
    )


def bethe_log_z(found: "Diagnostic") -> Text:
    """Bethe's estimate, with the bound of mean field where there is one."""
    bound = found.figures.get("bound")
    proved = "" if bound is None else f"; mean field proves that it is {bound:.6g} or more"
    return Text(f"{UNSURE}{proved}; a ladder has an interval", Phrase(found.remedy))


def bethe_too_low(found: "Diagnostic") -> Text:
    """Bethe's estimate is below the bound of mean field."""
    return Text(
        f"{UNSURE}, and it is too low",
        Phrase(
            f"mean field proves that log Z is {found.figures['bound']:.6g} or more; a ladder has "
            "an interval: ",
            found.remedy,
        ),
    )

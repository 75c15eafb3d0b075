"""The reliability of an estimate of log Z that is not exact: Bethe's, or mean field's bound.

Neither comes with an error. Where elimination is quick it tells how far they are off; elsewhere
Bethe's estimate is held against mean field, below which log Z cannot be.
"""

import numpy as np

from herded.errors import HerdedError
from herded.methods.exact.solver import Exact
from herded.methods.mean_field.solver import MeanField
from herded.models.factor_graph import FactorGraph
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import Phrase, Remedy, Term

# variables, and bytes of elimination, that take a tenth of a second
MAX_EXACT_VARIABLES, QUICK_EXACT_BYTES = 256, 2.0**24
MAX_BOUND_ENTRIES = 2**20  # entries of factors' tables that mean field goes over
QUICK_PARTS = 16  # of elimination: a tenth of a second
BOUND_SWEEPS = 16
LADDER = Term("hd.Tempered(hd.Gibbs(), 17, hottest_beta=0)", "{method} tempered {task} pr")
EXACT = Phrase("use ", Term('method="exact"', "{method} exact"))
LOG_Z_TOLERANCE = 0.05  # an error of log Z that nobody needs to be warned of


def check_log_z(method: object, graph: FactorGraph, log_z: float) -> Diagnostic:
    """Return how sure log Z is: a warning where it is known to be off."""
    exact = _exact_log_z(graph)
    is_bound = isinstance(method, MeanField)
    figures = {"log_z": log_z}
    if exact is not None:
        is_near = is_bound or abs(log_z - exact) <= LOG_Z_TOLERANCE
        estimate = "a lower bound by mean field" if is_bound else "Bethe's estimate"
        return Diagnostic(
            DiagnosticKind.EXACT_LOG_Z,
            "info" if is_near else "warning",
            (),
            {**figures, "exact": exact},
            Remedy(EXACT),
            {"estimate": estimate},
        )
    if is_bound:
        return Diagnostic(DiagnosticKind.LOG_Z_BOUND, "info", (), figures)
    bound = None if graph.has_hard_zeros else _mean_field_bound(graph)
    if bound is not None:
        figures["bound"] = bound
        if log_z < bound - LOG_Z_TOLERANCE:
            kind = DiagnosticKind.BETHE_TOO_LOW
            return Diagnostic(kind, "warning", (), figures, Remedy(LADDER))
    return Diagnostic(DiagnosticKind.BETHE_LOG_Z, "info", (), figures, Remedy(LADDER))


def _exact_log_z(graph: FactorGraph) -> float | None:
    """Return the exact log Z where that is quick."""
    if graph.n_variables > MAX_EXACT_VARIABLES:
        return None
    try:
        method = Exact()
        layout = method.compile(graph, max_memory=QUICK_EXACT_BYTES)
        state = method.init(layout, {"log_z"})
        if state.total > QUICK_PARTS:
            return None
        method.advance(layout, state, state.total)
        return method.answer(layout, state).log_z
    except HerdedError:  # it would take more, or nothing is possible
        return None


def _mean_field_bound(graph: FactorGraph) -> float | None:
    """Return the lower bound of log Z that mean field gives in a few sweeps."""
    if len(graph.log_tables) > MAX_BOUND_ENTRIES:
        return None
    method = MeanField()
    layout = method.compile(graph)
    state = method.init(layout)
    method.advance(layout, state, BOUND_SWEEPS)
    found = method.answer(layout, state).log_z
    return found if found is not None and np.isfinite(found) else None

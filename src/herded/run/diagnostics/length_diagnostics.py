"""Diagnostics of a run that is short for its model, or whose halves differ."""

from collections.abc import Sequence

from herded.methods.protocol import sampler_capabilities
from herded.models.factor_graph import has_factors
from herded.models.protocol import Model
from herded.run.diagnostics.run_length import MIN_TIMES, RunLength, WorstQuantity
from herded.run.result import Result
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import (
    FASTER_MOVES,
    MORE_RUNGS,
    Phrase,
    Remedy,
    Term,
    at_least_burn_in,
    at_least_sweeps,
)

FEW_STARTS = 16  # chains and members: fewer may all start in one of two modes by chance

ONE_SWEEP_FINDING = WorstQuantity("every variable", (), 1.0, (0.0, 0.0), 0.0, 0)


def length_diagnostics(
    length: RunLength, sweeps: int, burn_in: int, is_start_shared: bool, has_interval: bool = True
) -> list[Diagnostic]:
    """Return the diagnostics of `assess_length`, at most one of each kind, and equal starts."""
    found, slow = [], length.slow
    if slow is None and has_interval and sweeps < MIN_TIMES:
        slow = ONE_SWEEP_FINDING
    if slow is not None:
        found.append(_short_run(slow, sweeps, is_start_shared))
    if length.drift is not None:
        found.append(_halves_differ(length.drift, sweeps, burn_in, is_start_shared))
    if is_start_shared and not found:
        leave_out = Phrase("leave ", Term("start=", "{start}"), " out")
        remedy = Remedy("start from several states", leave_out)
        figures = {"autocorrelation_time": length.time}
        found.append(Diagnostic(DiagnosticKind.EQUAL_STARTS, "info", (), figures, remedy))
    return found


def few_round_trips(trips: Sequence[float], sweeps: int) -> Diagnostic | None:
    """Return a run of ladders that crossed few times from the hottest rung to the coldest and back.

    Ladders that crossed seldom may all be in one mode, agree, and show no memory of others.
    """
    least = min(trips, default=MIN_TIMES)
    if not 0.0 < least < MIN_TIMES:
        return None
    time = sweeps / least
    remedy = Remedy(at_least_sweeps(MIN_TIMES * time), MORE_RUNGS, verb="use")
    figures = {"autocorrelation_time": time, "sweeps": float(sweeps), "times": float(least)}
    return Diagnostic(DiagnosticKind.FEW_ROUND_TRIPS, "warning", (), figures, remedy)


def needs_other_starts(result: Result) -> bool:
    """Return whether only chains from other starts can tell that a run has missed a mode.

    This is so if the run has no other diagnostic, and all chains began at one state, or there
    are a few of them. Ladders bring states from their hottest rung instead; where that happened
    seldom, other starts may tell that the coldest rung needs no help.
    """
    if not {"chain_marginals", "times"} <= result.kept.keys():
        return False
    own = sampler_capabilities(result.method)
    if own.rungs > 1:
        return only_few_round_trips(result) is not None
    kinds = {one.kind for one in result.diagnostics}
    if kinds:
        return DiagnosticKind.EQUAL_STARTS in kinds
    model, facts = result.model, result.provenance
    is_few = facts["chains"] > 1 and facts["chains"] * facts["members"] < FEW_STARTS
    is_plain = not own.herds_in_time  # herding in time has a bias of its own
    return is_few and is_plain and not _is_walled(model) and has_factors(model)


def only_few_round_trips(result: Result) -> Diagnostic | None:
    """Return the diagnostic of `few_round_trips` if it is the only warning."""
    found = [one for one in result.diagnostics if one.severity == "warning"]
    is_only = [one.kind for one in found] == [DiagnosticKind.FEW_ROUND_TRIPS]
    is_checkable = len(result.state) > 1 and not _is_walled(result.model)
    return found[0] if is_only and is_checkable else None


def _is_walled(model: Model) -> bool:
    """Return whether random starts may be hard to find."""
    return bool(model.has_hard_zeros and model.zeros_tie_variables)


def _short_run(slow: WorstQuantity, sweeps: int, is_start_shared: bool) -> Diagnostic:
    wanted = at_least_sweeps(slow.wanted_times * slow.time)
    figures = {
        "autocorrelation_time": slow.time,
        "sweeps": float(sweeps),
        "times": sweeps / slow.time,
        "others": float(slow.others),
        "is_start_shared": float(is_start_shared),
    }
    return Diagnostic(
        DiagnosticKind.SHORT_RUN,
        "warning",
        slow.variables,
        figures,
        Remedy(wanted, FASTER_MOVES, verb="use"),
        {"quantity": slow.name},
    )


def _halves_differ(
    drift: WorstQuantity, sweeps: int, burn_in: int, is_start_shared: bool
) -> Diagnostic:
    wanted = at_least_burn_in(max(sweeps, 2 * burn_in))
    first, second = drift.halves
    figures = {
        "autocorrelation_time": drift.time,
        "sweeps": float(sweeps),
        "first_half": first,
        "second_half": second,
        "standard_errors": drift.errors,
        "others": float(drift.others),
        "is_start_shared": float(is_start_shared),
    }
    return Diagnostic(
        DiagnosticKind.HALVES_DIFFER,
        "warning",
        drift.variables,
        figures,
        Remedy(wanted, FASTER_MOVES, verb="use"),
        {"quantity": drift.name},
    )

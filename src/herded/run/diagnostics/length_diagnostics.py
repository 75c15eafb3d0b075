"""Diagnostics of a run that is short for its model, or whose halves differ; as text, too."""

from collections.abc import Iterable, Sequence

from herded.methods.protocol import sampler_capabilities
from herded.models.factor_graph import has_factors
from herded.models.protocol import Model
from herded.run.diagnostics.chain_agreement import InfoDiagnostic
from herded.run.diagnostics.run_length import MIN_TIMES, RunLength, WorstQuantity
from herded.run.result import Diagnostic, Result

SHORT_RUN_KIND, HALVES_DIFFER_KIND, EQUAL_STARTS_KIND = "short run", "halves differ", "equal starts"
START_MATTERS_KIND = "start matters"
ROUND_TRIPS = "round trips"  # the quantity of a ladder's short run
SAME_START_TEXT = "all chains started from the same state, so that their agreement proves little"

FEW_STARTS = 16  # chains and members of herds, of which all may begin in one of two modes by chance

ONE_SWEEP_FINDING = WorstQuantity("every variable", (), 1.0, (0.0, 0.0), 0.0, 0)


def diagnostic_texts(findings: Iterable[Diagnostic]) -> tuple[str, ...]:
    """Findings as texts for `result.warnings`; notes are never issued as warnings."""
    return tuple(
        one.message
        if one.severity == "warning" or isinstance(one.message, InfoDiagnostic)
        else InfoDiagnostic(one.message)
        for one in findings
    )


def length_diagnostics(
    length: RunLength, sweeps: int, burn_in: int, is_start_shared: bool, has_interval: bool = True
) -> list[Diagnostic]:
    """What `assess_length` found, at most one of each kind, and starts that are all equal."""
    found, slow = [], length.slow
    if slow is None and has_interval and sweeps < MIN_TIMES:
        slow = ONE_SWEEP_FINDING
    if slow is not None:
        found.append(_short_run(slow, sweeps, is_start_shared))
    if length.drift is not None:
        found.append(_halves_differ(length.drift, sweeps, burn_in, is_start_shared))
    if is_start_shared and not found:
        remedy = "start from several states, or leave start= out"
        message = f"{SAME_START_TEXT}: {remedy}"
        figures = {"autocorrelation_time": length.time}
        found.append(Diagnostic(EQUAL_STARTS_KIND, "note", message, figures=figures, remedy=remedy))
    return found


def few_round_trips(trips: Sequence[float], sweeps: int) -> Diagnostic | None:
    """A run of ladders that crossed few times from the hottest rung to the coldest and back.

    Ladders that crossed seldom may all be in one mode, agree, and show no memory of others.
    """
    least = min(trips, default=MIN_TIMES)
    if not 0.0 < least < MIN_TIMES:
        return None
    time = sweeps / least
    remedy = f"use {_rounded_up(MIN_TIMES * time)} sweeps or more, or more rungs"
    message = (
        f"the run is short for this model: in its {sweeps:,} sweeps a variable made {least:.2g} "
        "round trips between the coldest rung and the hottest on average, so that the coldest may "
        f"have missed modes: {remedy}"
    )
    figures = {"autocorrelation_time": time, "sweeps": float(sweeps), "times": float(least)}
    return Diagnostic(SHORT_RUN_KIND, "warning", message, ROUND_TRIPS, (), figures, remedy)


def needs_other_starts(result: Result) -> bool:
    """Whether only chains from other starts can tell that a run has missed a mode.

    So it is where nothing else speaks against the run, and all chains began at one state, or there
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
        return EQUAL_STARTS_KIND in kinds
    model, facts = result.model, result.provenance
    is_few = facts["chains"] > 1 and facts["chains"] * facts["members"] < FEW_STARTS
    is_plain = not own.herds_in_time  # herding in time has a bias of its own
    return is_few and is_plain and not _is_walled(model) and has_factors(model)


def only_few_round_trips(result: Result) -> Diagnostic | None:
    """What `few_round_trips` found of a ladder's run, if it is the only warning."""
    found = [one for one in result.diagnostics if one.severity == "warning"]
    is_only = len(found) == 1 and found[0].quantity == ROUND_TRIPS and len(result.state) > 1
    return found[0] if is_only and not _is_walled(result.model) else None


def _is_walled(model: Model) -> bool:
    """Whether random starts may be hard to find."""
    return bool(model.has_hard_zeros and model.zeros_tie_variables)


def _short_run(slow: WorstQuantity, sweeps: int, is_start_shared: bool) -> Diagnostic:
    times, wanted = sweeps / slow.time, _rounded_up(slow.wanted_times * slow.time)
    remedy = f"use {wanted} sweeps or more, or moves that mix faster (moves=Blocks(), Tempered())"
    message = (
        f"the run is short for this model: its {sweeps:,} sweeps are at most {times:.2g} "
        f"autocorrelation times of {slow.name}{_others(slow)}, which remembers its states for "
        f"{_sweeps(slow.time)} or more, so that intervals may be too narrow"
        f"{_reason(is_start_shared)}: {remedy}"
    )
    figures = {"autocorrelation_time": slow.time, "sweeps": float(sweeps), "times": times}
    return Diagnostic(
        SHORT_RUN_KIND, "warning", message, slow.name, slow.variables, figures, remedy
    )


def _halves_differ(
    drift: WorstQuantity, sweeps: int, burn_in: int, is_start_shared: bool
) -> Diagnostic:
    remedy = (
        f"use a burn-in of {_rounded_up(max(sweeps, 2 * burn_in))} sweeps or more, or moves that "
        "mix faster (moves=Blocks(), Tempered())"
    )
    first, second = drift.halves
    bound = f", which remembers its states for {_sweeps(drift.time)} or more" * (drift.time >= 1.0)
    message = (
        f"the halves of the run differ: the mean of {drift.name}{_others(drift)}{bound}, is "
        f"{first:.4g} in the first and {second:.4g} in the second, {drift.errors:.1f} standard "
        f"errors apart, so that the burn-in was too short{_reason(is_start_shared)}: {remedy}"
    )
    figures = {
        "autocorrelation_time": drift.time,
        "sweeps": float(sweeps),
        "first_half": first,
        "second_half": second,
        "standard_errors": drift.errors,
    }
    return Diagnostic(
        HALVES_DIFFER_KIND, "warning", message, drift.name, drift.variables, figures, remedy
    )


def _sweeps(time: float) -> str:
    return f"{time:,.0f} sweep{'s' * (round(time) != 1)}"


def _others(finding: WorstQuantity) -> str:
    """ " (and of 3 others)", or nothing."""
    some = "1 other" if finding.others == 1 else f"{finding.others} others"
    return f" (and of {some})" if finding.others else ""


def _reason(is_start_shared: bool) -> str:
    return f"; {SAME_START_TEXT}" if is_start_shared else ""


def _rounded_up(sweeps: float) -> str:
    """A number of sweeps with two digits, not below this one."""
    unit = 10 ** max(0, len(str(int(sweeps))) - 2)
    return f"{-int(-sweeps // unit) * unit:,}"

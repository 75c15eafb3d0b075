"""A short run from random starts, to check a run whose chains may all be in one mode.

Chains that all began at one state agree from the first sweep on, whether or not the model has other
modes, so that neither their spread nor their halves tell. A few chains from different states may
have ended in one mode by chance. Herds that begin at random tell: where their marginals differ by
more than the noise of both, the answer depends on the start.

Ladders may have crossed seldom from the hottest rung to the coldest and back. That does not matter
where herds without a ladder mix by themselves and agree.
"""

from dataclasses import replace

import numpy as np

from herded.errors import HerdedError
from herded.methods.protocol import sampler_capabilities
from herded.models.naming import variable_text
from herded.run.diagnostics.chain_agreement import state_text
from herded.run.diagnostics.cross_check import different_entry, run_check_herds
from herded.run.diagnostics.length_diagnostics import only_few_round_trips
from herded.run.diagnostics.run_length import MIN_TIMES
from herded.run.diagnostics.variable_times import VariableTimes, noise_of_frequencies
from herded.run.interrupted_result import flag_interrupted
from herded.run.observables.result import with_diagnostics
from herded.run.result import Result
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import EXACT_WHERE_IT_FITS, TEMPERED, Phrase, Remedy, Term
from herded.system.memory_limits import Size

START_CHECK_HERDS, START_CHECK_MEMBERS = 4, 32
CHECK_SWEEPS_PER_TIME = 12  # autocorrelation times of the run that is checked
SWEEPS_PER_LADDER_TIME = 24  # of a ladder's run, for herds that are to show that they mix
MIN_HERD_TIMES = 3.0  # autocorrelation times of the herds' run, which shows that they mix
MIN_SWEEPS_PER_TIME = 4  # in fewer the herds may still remember their starts
DEFAULT_CHECK_SWEEPS, MAX_START_CHECK_SWEEPS = 48, 4096  # the burn-in included
MIN_START_CHECK_SWEEPS = 24  # fewer tell nothing
RUN_SHARE_DIVISOR = 4  # of the run, which the herds take at most one part in,
MAX_UPDATES = 2**27  # or these of all variables, where all chains began at one state,
MAX_VISITS = 2**15  # or these of all herds, else: some milliseconds
VISIT_COST = 6  # visits of a chain in the time of a visit of a herd, as measured: 2 to 14
SECONDS_SHARE = 10  # of `seconds=`: the herds take at most 1/10
USE_A_HERD = Phrase("use a herd (", Term("Gibbs(herd=64)", "{herd} 64"), ")")
USE_TEMPERED_OR_EXACT = Phrase("use ", TEMPERED, " or ", EXACT_WHERE_IT_FITS)


def with_other_starts(
    result: Result, max_memory: Size | None, seconds: float | None = None
) -> Result:
    """Return the result, compared with herds from random starts.

    Parameters
    ----------
    result
        Of a sampler's run, for which `needs_other_starts` holds.
    max_memory
        As `infer` takes it; where it is too little the result stays as it is.
    seconds
        Of the whole run, where these were given.
    """
    is_shared = any(one.kind == DiagnosticKind.EQUAL_STARTS for one in result.diagnostics)
    times: VariableTimes = result.kept["times"]
    few_trips = only_few_round_trips(result)
    per_time = CHECK_SWEEPS_PER_TIME if few_trips is None else SWEEPS_PER_LADDER_TIME
    wanted = int(min(max(per_time * times.typical, DEFAULT_CHECK_SWEEPS), MAX_START_CHECK_SWEEPS))
    sweeps = min(wanted, _affordable_sweeps(result, is_shared))
    if sweeps < max(MIN_START_CHECK_SWEEPS, MIN_SWEEPS_PER_TIME * times.typical):
        return result
    moves = sampler_capabilities(result.method).moves
    limit = None if seconds is None else seconds / SECONDS_SHARE
    try:
        herds = run_check_herds(
            result.model, START_CHECK_MEMBERS, START_CHECK_HERDS, sweeps, max_memory, limit, moves
        )
    except HerdedError:
        return result
    if herds.provenance["interrupted"]:
        return flag_interrupted(result, "a comparison with random starts")
    if not herds.sweeps:
        return result
    answer, noise = result.chain_marginals.mean(axis=0), _noise(result, herds, times)
    worst = different_entry(answer, herds.chain_marginals, *noise)
    if few_trips is not None:
        is_needless = worst is None and _do_mix(herds, result.sweeps)
        if not is_needless:
            return result
        return _with_diagnostics(
            result, tuple(one for one in result.diagnostics if one is not few_trips)
        )
    if worst is None:
        return result
    i, k, others = worst
    here = float(result.chain_marginals[:, i, k].mean())
    there = float(herds.chain_marginals[:, i, k].mean())
    better = "start from several states" if is_shared else USE_A_HERD
    figures = {
        "probability": here,
        "from_random_starts": there,
        "sweeps": float(herds.sweeps),
        "state": float(k),
        "others": float(others),
        "chains": float(len(result.chain_marginals)),
        "is_start_shared": float(is_shared),
    }
    found = Diagnostic(
        DiagnosticKind.START_MATTERS,
        "warning",
        (i,),
        figures,
        Remedy(better, USE_TEMPERED_OR_EXACT),
        {"variable": variable_text(result.model, i), "state": state_text(result.model, i, k)},
    )
    rest = [one for one in result.diagnostics if one.kind != DiagnosticKind.EQUAL_STARTS]
    return _with_diagnostics(result, (*rest, found))


def _do_mix(herds: Result, sweeps: int) -> bool:
    """Return whether herds forget their starts, many times in a run of these sweeps."""
    against = [one for one in herds.diagnostics if one.severity == "warning"]
    return all(
        one.kind == DiagnosticKind.SHORT_RUN
        and one.figures["times"] >= MIN_HERD_TIMES
        and MIN_TIMES * one.figures["autocorrelation_time"] <= sweeps
        for one in against
    )


def _with_diagnostics(result: Result, diagnostics: tuple[Diagnostic, ...]) -> Result:
    """Return the result with other diagnostics, which its observables have, too."""
    kept = dict(result.kept)
    if "observables" in kept:
        kept["observables"] = with_diagnostics(kept["observables"], diagnostics)
    return replace(result, diagnostics=diagnostics, kept=kept)


def _affordable_sweeps(result: Result, is_shared: bool) -> int:
    """Return the sweeps that herds can do within their share of the run's time."""
    facts, n = result.provenance, int(result.model.n_variables)
    rungs = sampler_capabilities(result.method).rungs
    visits = int(facts["sweeps"] + facts["burn_in"]) * int(facts["chains"]) * rungs * n
    if is_shared:
        updates = max(MAX_UPDATES, visits * int(facts["members"]) // RUN_SHARE_DIVISOR)
        return updates // (START_CHECK_HERDS * START_CHECK_MEMBERS * n)
    return max(MAX_VISITS, visits // (RUN_SHARE_DIVISOR * VISIT_COST)) // (START_CHECK_HERDS * n)


def _noise(result: Result, herds: Result, times: VariableTimes) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise (N, K) of the run's marginals, and the least noise of those of the herds.

    The spread of a few chains is known badly. So noise is at least that of draws with the
    autocorrelation times of the run, which count for members up to the length of their run.
    """
    chains, facts = result.chain_marginals, result.provenance
    mean = chains.mean(axis=0)
    samples = float(result.sweeps * facts["chains"] * facts["members"])
    smoothed = (samples * mean + herds.chain_marginals.mean(axis=0)) / (samples + 1.0)
    own, others = times.around_own, times.longest_around_own
    noise = noise_of_frequencies(smoothed, samples, times.variables, own, others)
    if len(chains) > 1:
        noise = np.maximum(noise, chains.std(axis=0, ddof=1) / np.sqrt(len(chains)))
    most, samples = herds.sweeps, float(START_CHECK_HERDS * START_CHECK_MEMBERS * herds.sweeps)
    own, others = np.minimum(own, most), min(others, most)
    return noise, noise_of_frequencies(smoothed, samples, times.variables, own, others)

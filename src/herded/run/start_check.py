"""A short run from random starts beside a run whose chains all began at one state.

Such chains agree from the first sweep on, whether or not the model has other modes, so that neither
their spread nor their halves tell. Herds that begin at random do: where their marginals differ, the
answer depends on the start.
"""

from dataclasses import replace
from typing import Any

from herded.errors import HerdedError
from herded.models.evidence import called
from herded.run.control import different_entry, run_herds
from herded.run.diagnostics import and_others, state_name
from herded.run.interruption import flag_interrupted
from herded.run.length_diagnostics import EQUAL_STARTS, SAME_START, START_MATTERS, sentences
from herded.run.observed import with_doubt
from herded.run.result import Diagnostic, Result
from herded.system.memory import Size

HERDS, MEMBERS = 4, 32
SWEEPS_PER_TIME = 12  # autocorrelation times of the run that is checked
WANTED_SWEEPS, MAX_SWEEPS = 48, 4096  # the burn-in included
MIN_SWEEPS = 24  # fewer tell nothing
MAX_UPDATES = 2**27  # of all variables, or a share of those of the run
SHARE = 4


def with_other_starts(result: Result, max_memory: Size | None) -> Result:
    """The result, compared with herds from random starts where its chains began at one state.

    Parameters
    ----------
    result
        Of a sampler's run.
    max_memory
        As `infer` takes it; where it is too little the result stays as it is.
    """
    shared = [one for one in result.diagnostics if one.kind == EQUAL_STARTS]
    if not shared or "chain_marginals" not in result.kept:
        return result
    time = shared[0].figures["autocorrelation_time"]
    wanted = int(min(max(SWEEPS_PER_TIME * time, WANTED_SWEEPS), MAX_SWEEPS))
    facts, n = result.provenance, result.model.n_variables
    own = (facts["sweeps"] + facts["burn_in"]) * facts["chains"] * facts["members"] * n
    sweeps = min(wanted, max(MAX_UPDATES, own // SHARE) // (HERDS * MEMBERS * n))
    if sweeps < MIN_SWEEPS:
        return result
    method: Any = getattr(result.method, "method", result.method)  # of a ladder: what it tempers
    moves = getattr(method, "moves", None)
    try:
        herds = run_herds(result.model, MEMBERS, HERDS, sweeps, max_memory, moves=moves)
    except HerdedError:
        return result
    if herds.provenance["interrupted"]:
        return flag_interrupted(result, "a comparison with random starts")
    if not herds.sweeps:
        return result
    worst = different_entry(result.chain_marginals.mean(axis=0), herds.chain_marginals)
    if worst is None:
        return result
    i, k, others = worst
    here = float(result.chain_marginals[:, i, k].mean())
    there = float(herds.chain_marginals[:, i, k].mean())
    remedy = "start from several states, or use Tempered() or exact inference where it fits"
    message = (
        f"the answer depends on the start: variable {called(result.model, i)} is "
        f"{state_name(result.model, i, k)} with probability {here:.2f} in this run and {there:.2f} "
        f"in a short one from random starts{and_others(others, 'differs', 'differ')}; "
        f"{SAME_START}: {remedy}"
    )
    figures = {"probability": here, "from_random_starts": there, "sweeps": float(herds.sweeps)}
    found = Diagnostic(
        START_MATTERS, "warning", message, f"variable {called(result.model, i)}", (i,), figures,
        remedy,
    )  # fmt: skip
    rest = tuple(one for one in result.diagnostics if one.kind != EQUAL_STARTS)
    diagnostics = (*rest, found)
    kept = dict(result.kept)
    if "observables" in kept:
        kept["observables"] = with_doubt(kept["observables"], message)
    return replace(result, diagnostics=diagnostics, warnings=sentences(diagnostics), kept=kept)

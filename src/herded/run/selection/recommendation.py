"""The method for a model and a budget: a herd of some size, or chains that herd in time.

A herd's average is less noisy than as many updates of one chain, but each of its members pays a
burn-in of its own. So a short pilot tells how fast the model mixes (its time is charged), and the
herd has as many members as leaves each of them `SWEEPS_PER_TIME` autocorrelation times. Where that
leaves no herd worth the name, chains herd in time, with the weights that suit the model: their bias
is small against the noise of a run that is short for the model. Where the pilot was too short to
tell a time at all, the result of the run says so (`caveat`): chains that have not mixed can agree.

`python -m benchmarks --only herds` prints what the rule gains over Gibbs sampling, and with
`--others 2` (or any number) what it gains on models that had no part in choosing its constants.
"""

from dataclasses import dataclass

import numpy as np

from herded.errors import MemoryLimitError, MethodError
from herded.methods.default_weights import default_weights
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.models.constraints.start_states import dispersed_starts
from herded.models.factor_graph import has_factors
from herded.models.protocol import Model
from herded.models.validation import check_model
from herded.moves.blocks.move import Blocks
from herded.run.diagnostics.chain_agreement import EXACT_OR_MORE_SWEEPS
from herded.run.diagnostics.confinement import find_confinement
from herded.run.interrupts import interrupt_without_result
from herded.run.selection.pilot import PILOT_MEMBERS, Pilot, run_pilot
from herded.system import memory_limits
from herded.system.argument_checks import is_number_between, is_whole_number
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.memory_limits import Size
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

DEFAULT_UPDATES = 40_000  # of each variable, by default
RECOMMENDED_HERDS = 4  # independent runs: they give intervals
PILOT_DIVISOR = 20  # a pilot takes 1/20 of the budget
MIN_PILOT_SWEEPS = 16  # sweeps that tell something
# With 8 sweeps for each autocorrelation time of a pilot every third run was reported as short, and
# errors were no smaller.
BURN_IN_PER_TIME, SWEEPS_PER_TIME = 2.5, 16
MIN_BURN_IN, MIN_MEMBER_SWEEPS = 12, 40  # of a member, however fast the model mixes
# In a longer run members have more sweeps than the pilot asks for, which costs next to nothing: it
# may have missed what is rare.
SWEEPS_PER_POWER, PILOT_TIME_EXPONENT = 0.09, 2 / 3
MIN_HERD = 20  # members that time leaves; with fewer, herding in time is far more accurate
MIN_HERD_IN_MEMORY = 12  # members that memory leaves
MAX_RECOMMENDED_HERD = 1024
# updates up to which the bias of pooled weights is below their noise
MAX_UNBIASED_UPDATES = 100_000
BLOCK_HERD_MEMBERS = 4  # members of a herd that moves blocks
SITE_UPDATES_PER_BLOCK_UPDATE = 8  # of single sites take about as long as one of a block
BYTES_PER_STATE = 8  # of a member's variable, at most: its state, an earlier one, and in packing


@dataclass(frozen=True)
class Recommendation:
    """A method and a run that suits it; `hd.infer(model, recommendation)` runs it.

    Parameters
    ----------
    method
        A herd of Gibbs chains, or herded Gibbs.
    sweeps, burn_in, chains
        Of the run, as `infer` takes them.
    reason
        What was seen of the model and what is done about it, in a sentence.
    caveat
        Why any run of this length may be wrong, if so; `infer` adds it to the diagnostics of the
        result.

    Examples
    --------
    >>> choice = hd.recommend(hd.ising_grid(np.zeros((10, 10)), 0.2), sweeps=100_000)
    >>> choice.chains, choice.method.herd > 64, choice.caveat
    (4, True, None)
    """

    method: Gibbs | HerdedGibbs
    sweeps: int
    burn_in: int
    chains: int
    reason: str
    caveat: Diagnostic | None = None


@interrupt_without_result()
def recommend(
    model: Model,
    *,
    sweeps: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    max_memory: Size | None = None,
) -> Recommendation:
    """Recommend a method, the size of a herd and a burn-in for a model and a budget.

    A pilot, eight chains that take a twentieth of the budget, sees how fast the model mixes. Where
    that leaves time for herds of 20 members or more, four herds of Gibbs chains run: each member is
    exactly a Gibbs chain, and the four give an interval. Else four chains herd in time, which is
    more accurate in runs that are short for a model. If the pilot was too short to tell, the result
    of the run has a warning. Where hard zeros confine moves of single variables, herds move blocks.

    Parameters
    ----------
    model
        A `FactorGraph`, a `Lattice`, or anything that is made of factors.
    sweeps
        Updates of each variable that the run may take: over all chains and all members of herds,
        with their burn-in and the pilot. 40,000 by default.
    seconds
        The time it may take on one core, instead of `sweeps`.
    seed
        Of the pilot and of the method.
    max_memory
        Most memory for tables, in bytes or as "2G"; by default half of what is free.

    Returns
    -------
    Recommendation

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((10, 10)), 0.2)
    >>> choice = hd.recommend(model, sweeps=100_000)
    >>> choice.method.herd > 64
    True
    >>> result = hd.infer(model, choice)
    >>> result.interval.shape
    (10, 10, 2, 2)
    """
    check_model(model)
    if sweeps is not None and not is_whole_number(sweeps, 1):
        raise MethodError(f"expected sweeps of 1 or more, got {sweeps!r}")
    if seconds is not None and not (is_number_between(seconds, 0, float("inf")) and seconds > 0):
        raise MethodError(f"expected seconds above 0, got {seconds!r}")
    budget = DEFAULT_UPDATES if sweeps is None and seconds is None else sweeps
    if has_walls_of_hard_zeros(model, seed):
        return recommend_blocks(int(budget or DEFAULT_UPDATES), seed)
    return recommend_single_site(model, budget, seconds=seconds, seed=seed, max_memory=max_memory)


def recommend_single_site(
    model: Model,
    budget: int | None = DEFAULT_UPDATES,
    *,
    seconds: float | None = None,
    seed: int = 0,
    max_memory: Size | None = None,
) -> Recommendation:
    """Recommend a method that moves one variable at a time."""
    length = 2**62 if budget is None else budget // (PILOT_DIVISOR * PILOT_MEMBERS)
    if length < MIN_PILOT_SWEEPS:
        observation = f"{budget:,} updates of each variable are too few for a pilot"
        return recommend_herding_in_time(model, int(budget or 1), seed, max_memory, observation)
    share = None if seconds is None else seconds / PILOT_DIVISOR
    try:
        pilot = run_pilot(model, length, seconds=share, seed=seed, max_memory=max_memory)
    except MemoryLimitError:
        observation = "memory is short for herds"
        return recommend_herding_in_time(
            model, int(budget or DEFAULT_UPDATES), seed, max_memory, observation
        )
    if seconds is not None:
        by_clock = int(pilot.updates * seconds / max(pilot.seconds, 1e-9))
        budget = by_clock if budget is None else min(budget, by_clock)
    return recommend_after_pilot(
        model, max(1, int(budget or 1) - pilot.updates), pilot, seed, max_memory
    )


def recommend_after_pilot(
    model: Model, budget: int, pilot: Pilot, seed: int, max_memory: Size | None
) -> Recommendation:
    """Recommend a run for `budget` updates of each variable after a pilot."""
    if not pilot.sweeps:
        return recommend_herding_in_time(
            model, budget, seed, max_memory, "no variable is free to move"
        )
    observation = f"in a pilot of {pilot.sweeps:,} sweeps "
    if not pilot.is_sure:
        observation += "the slowest variable hardly moved on"
        figures = {"sweeps": float(pilot.sweeps)}
        caveat = Diagnostic(DiagnosticKind.PLAN, "warning", (), figures, EXACT_OR_MORE_SWEEPS)
        return recommend_herding_in_time(model, budget, seed, max_memory, observation, caveat)
    observation += f"the slowest variable had an autocorrelation time of {pilot.time:.2g} sweeps"
    least = max(MIN_MEMBER_SWEEPS, round(SWEEPS_PER_POWER * budget**PILOT_TIME_EXPONENT))
    needed = max(least, round(SWEEPS_PER_TIME * pilot.time))
    members = int(min(budget // (RECOMMENDED_HERDS * needed), MAX_RECOMMENDED_HERD))
    if members < MIN_HERD:
        return recommend_herding_in_time(
            model, budget, seed, max_memory, f"{observation}, too long for herds"
        )
    room = memory_limits.memory_limit(max_memory) // (
        BYTES_PER_STATE * RECOMMENDED_HERDS * model.n_variables
    )
    members = min(members, int(room))
    if members < MIN_HERD_IN_MEMORY:
        return recommend_herding_in_time(
            model, budget, seed, max_memory, "memory is short for herds"
        )
    each = budget // (RECOMMENDED_HERDS * members)
    burn_in = max(MIN_BURN_IN, round(BURN_IN_PER_TIME * pilot.time), each // 10)
    return Recommendation(
        Gibbs(herd=members, seed=seed),
        each - burn_in,
        burn_in,
        RECOMMENDED_HERDS,
        f"{observation}: {RECOMMENDED_HERDS} herds of {members} members, which burn in for "
        f"{burn_in:,} sweeps",
    )


def has_walls_of_hard_zeros(model: Model, seed: int) -> bool:
    """Return whether hard zeros provably confine single moves from some starts."""
    if not (model.has_hard_zeros and model.zeros_tie_variables and has_factors(model)):
        return False
    keys = [stream_key(seed, c, StreamPurpose.RECOMMENDATION) for c in range(RECOMMENDED_HERDS)]
    return find_confinement(model, np.stack(dispersed_starts(model, keys))) is not None


def recommend_blocks(budget: int, seed: int) -> Recommendation:
    """Recommend herds that move blocks, each as costly as some updates of single sites."""
    members, updates = BLOCK_HERD_MEMBERS, max(1, budget // SITE_UPDATES_PER_BLOCK_UPDATE)
    each = max(2 * MIN_BURN_IN, updates // (RECOMMENDED_HERDS * members))
    burn_in = max(MIN_BURN_IN, each // 5)
    return Recommendation(
        Gibbs(seed=seed, herd=members, moves=Blocks()),
        each - burn_in,
        burn_in,
        RECOMMENDED_HERDS,
        "hard zeros confine moves of single variables: "
        f"{RECOMMENDED_HERDS} herds of {members} members, which move blocks",
    )


def recommend_herding_in_time(
    model: Model,
    budget: int,
    seed: int,
    max_memory: Size | None,
    observation: str,
    caveat: Diagnostic | None = None,
) -> Recommendation:
    """Recommend chains that herd in time; Gibbs chains if there are no factors.

    Herding in time is biased where many contexts share a weight, badly so where a variable's
    conditional depends on counts of all others, and nobody can look into functions to tell.
    """
    chains = RECOMMENDED_HERDS if budget >= 20 * RECOMMENDED_HERDS else 1
    each = max(2, budget // chains)
    if not has_factors(model):
        what = f"{chains} Gibbs chains" if chains > 1 else "one Gibbs chain"
        return Recommendation(
            Gibbs(seed=seed),
            each - each // 10,
            each // 10,
            chains,
            f"{observation}: {what}",
            caveat,
        )
    method = default_weights(model, seed=seed, max_memory=max_memory)
    if method.slack and budget <= MAX_UNBIASED_UPDATES and int(model.cardinalities.max()) == 2:
        method = HerdedGibbs(method.weights, seed=seed)  # as accurate, in a twentieth of the time
    what = f"{chains} chains that herd" if chains > 1 else "one chain that herds"
    reason = f"{observation}: {what} in time"
    return Recommendation(method, each - each // 10, each // 10, chains, reason, caveat)

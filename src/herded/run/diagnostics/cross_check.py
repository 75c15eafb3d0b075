"""A short run of herds of Gibbs chains, to check results that may be wrong without a sign.

Belief propagation and mean field converge also where they are far off. Herding in time has a bias
on sparse graphs that its chains share, so that their spread does not show it. A herd has neither:
each of its members is a Gibbs chain. It may not mix, which it tells by itself.
"""

from dataclasses import replace

import numpy as np

from herded.errors import HerdedError
from herded.layouts.factor_arrays import compile_factors
from herded.layouts.visit_order import connected_components
from herded.methods.belief_propagation.solver import BeliefPropagation
from herded.methods.gibbs import Gibbs
from herded.methods.mean_field.solver import MeanField
from herded.methods.protocol import sampler_capabilities
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.models.naming import variable_text
from herded.models.protocol import Model
from herded.moves.protocol import Move
from herded.run.diagnostics.chain_agreement import state_text
from herded.run.diagnostics.intervals import UnbiasedMarginals
from herded.run.diagnostics.log_z_check import check_log_z
from herded.run.execute import execute
from herded.run.interrupted_result import flag_interrupted
from herded.run.query import Budget, KeepOptions, Query
from herded.run.recording.recorders import Marginals
from herded.run.result import Result
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import CONFINEMENT_KINDS, DiagnosticKind
from herded.system.diagnostics.phrases import EXACT_WHERE_IT_FITS, Remedy
from herded.system.memory_limits import Size
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

# of the check of a solver: many herds, so that their spread is known
SOLVER_CHECK_HERDS, SOLVER_CHECK_MEMBERS = 8, 8
MAX_CHECK_SWEEPS, MIN_CHECK_SWEEPS = 192, 8  # of it, with its burn-in
MAX_CHECK_UPDATES = 2**25  # of all variables in it
BURN_IN_DIVISOR = 4  # burn-in is 1/4 of the sweeps
MIN_PROBABILITY_GAP = 0.05  # of two probabilities, beyond
GAP_SIGMAS = 6.0  # standard errors of the herds
ANSWER_SIGMAS = 4.0  # of the answer, where it has a noise of its own, which is an upper bound
# updates of a variable in a run that herds in time, from which on it has a control
MIN_UPDATES_TO_CROSS_CHECK = 8_000
CHECK_UPDATES_DIVISOR = 2  # the control has half as many,
CHECK_UPDATES_DIVISOR_IN_BLOCKS = 8  # or in blocks, where an update of a herd takes no less time
CROSS_CHECK_HERDS, CROSS_CHECK_MEMBERS = 8, 16
BP_CHECK_SWEEPS, BP_CHECK_SECONDS, BP_CHECK_DAMPING = 200, 2.0, 0.5
MAX_PRECISE_LOG_POTENTIAL = 1e5  # log-potentials whose square in units of the last digit shows

UNMIXED_KINDS = CONFINEMENT_KINDS | {DiagnosticKind.DISAGREEMENT, DiagnosticKind.IMMOBILITY}

SOLVER_NAMES = {BeliefPropagation: "belief propagation", MeanField: "mean field"}


def run_check_herds(
    model: Model,
    members: int,
    herds: int,
    sweeps: int,
    max_memory: Size | None,
    seconds: float | None = None,
    moves: Move | None = None,
) -> Result:
    """Run some herds for a check, and keep their warnings without issuing them."""
    seed = int(stream_key(0, StreamPurpose.CROSS_CHECK)) >> 1
    method = Gibbs(herd=members, seed=seed, moves=moves)
    burn_in = sweeps // BURN_IN_DIVISOR
    return execute(
        Query(
            model,
            method,
            budget=Budget(sweeps - burn_in, seconds, burn_in, herds),
            keep=KeepOptions(marginals=Marginals(rao_blackwell=True)),
            progress=False,
            max_memory=max_memory,
            threads=1,
            is_cross_check=True,
        )
    )


# -- checks of herding in time ---------------------------------------------------------------------


def add_herd_cross_check(result: Result, seconds: float | None, max_memory: Size | None) -> Result:
    """Return the result of a run that herds in time, with a control where the run was long.

    It takes half of the run's updates, which are much faster in a herd, and at most
    a tenth of `seconds`.
    """
    updates = result.sweeps * len(result.state)
    if updates < MIN_UPDATES_TO_CROSS_CHECK or "chain_marginals" not in result.kept:
        return result
    moves = sampler_capabilities(result.method).moves
    share = CHECK_UPDATES_DIVISOR if moves is None else CHECK_UPDATES_DIVISOR_IN_BLOCKS
    sweeps = updates // (share * CROSS_CHECK_HERDS * CROSS_CHECK_MEMBERS)
    limit = None if seconds is None else seconds / 10
    try:
        control = run_check_herds(
            result.model, CROSS_CHECK_MEMBERS, CROSS_CHECK_HERDS, sweeps, max_memory, limit, moves
        )
    except HerdedError:  # such as too little memory: it goes without
        return result
    if control.provenance["interrupted"]:
        return flag_interrupted(result, "the control that its intervals would account for")
    if not control.sweeps:
        return result
    chains = control.chain_marginals
    spread = chains.std(axis=0, ddof=1) / np.sqrt(len(chains))
    return replace(
        result, kept={**result.kept, "control": UnbiasedMarginals(chains.mean(axis=0), spread)}
    )


# -- checks of an escalation -----------------------------------------------------------------------


def run_belief_propagation_check(model: Model, seconds: float = BP_CHECK_SECONDS) -> Result:
    """Run belief propagation briefly, without a cross-check of its own."""
    method = BeliefPropagation(damping=BP_CHECK_DAMPING)
    budget = Budget(BP_CHECK_SWEEPS, seconds)
    return execute(Query(model, method, budget=budget, progress=False, is_cross_check=True))


# -- checks of a solver ----------------------------------------------------------------------------


def add_solver_diagnostics(result: Result, max_memory: Size | None) -> Result:
    """Return the result of belief propagation or mean field with its diagnostics."""
    name = SOLVER_NAMES.get(type(result.method))
    if name is None or result.provenance["interrupted"]:
        return result
    graph = to_factor_graph(result.model)
    found = [*result.diagnostics, *_precision_diagnostics(result.method, graph)]
    if _is_exact(result.method, graph) and result.converged:
        return replace(result, diagnostics=tuple(found))
    found += _convergence_diagnostics(result, name)
    herds = _run_herds_beside(result, name, max_memory)
    is_interrupted = isinstance(herds, Result) and bool(herds.provenance["interrupted"])
    if isinstance(herds, Diagnostic):
        found.append(herds)
    elif not is_interrupted:
        found += _compare_with_herds(result, name, herds)
    found.append(check_log_z(result.method, graph, result.log_z))
    result = replace(result, diagnostics=tuple(found))
    return flag_interrupted(result, "a comparison with a sampler") if is_interrupted else result


def _precision_diagnostics(method: object, graph: FactorGraph) -> list[Diagnostic]:
    """Warn if log-potentials are so large that Bethe's log Z loses its digits."""
    tables = graph.log_tables
    largest = float(np.abs(tables[np.isfinite(tables)]).max(initial=0.0))
    if not isinstance(method, BeliefPropagation) or largest <= MAX_PRECISE_LOG_POTENTIAL:
        return []
    return [Diagnostic(DiagnosticKind.FEW_DIGITS, "warning", (), {"largest": largest})]


def _is_exact(method: object, graph: FactorGraph) -> bool:
    """Return whether the method is exact here: no loop, or no factor with two free variables."""
    free = graph.evidence < 0
    owner = np.repeat(np.arange(graph.n_factors), np.diff(graph.factor_start))
    arity = np.bincount(owner, free[graph.factor_variables], graph.n_factors)
    links = int(arity[arity > 1].sum())
    if isinstance(method, MeanField):
        return links == 0
    parts = int(connected_components(compile_factors(graph), free).max(initial=-1)) + 1
    nodes = int(free.sum()) + int((arity > 1).sum())
    return links == nodes - parts


def _convergence_diagnostics(result: Result, name: str) -> list[Diagnostic]:
    """Return the diagnostics that need no other run."""
    found = []
    if isinstance(result.method, MeanField) and result.model.has_hard_zeros:
        found.append(Diagnostic(DiagnosticKind.HARD_ZEROS, "warning"))
    if result.converged is False and result.method.tolerance > 0:  # else it was not to converge
        figures, remedy = {"sweeps": float(result.sweeps)}, Remedy("compare it with a sampler")
        names = {"solver": name}
        found.append(
            Diagnostic(DiagnosticKind.NO_CONVERGENCE, "warning", (), figures, remedy, names)
        )
    return found


def _run_herds_beside(result: Result, name: str, max_memory: Size | None) -> Result | Diagnostic:
    """Return a short run of herds on the same model, or why there is none."""
    model, herds, members = result.model, SOLVER_CHECK_HERDS, SOLVER_CHECK_MEMBERS
    most = MAX_CHECK_UPDATES // (herds * members * max(1, model.n_variables))
    if most < MIN_CHECK_SWEEPS:
        return Diagnostic(DiagnosticKind.NOT_CROSS_CHECKED, "info")
    try:
        return run_check_herds(model, members, herds, min(most, MAX_CHECK_SWEEPS), max_memory)
    except HerdedError as error:
        names = {"solver": name, "reason": str(error)}
        return Diagnostic(DiagnosticKind.SAMPLER_FAILED, "warning", names=names)


def _compare_with_herds(result: Result, name: str, herds: Result) -> list[Diagnostic]:
    """Compare the result with a short run of herds; empty where they agree."""
    model = result.model
    worst = different_entry(result.chain_marginals[0], herds.chain_marginals)
    if worst is not None:
        i, k, others = worst
        figures = {
            "probability": float(result.chain_marginals[0, i, k]),
            "by_herds": float(herds.chain_marginals.mean(axis=0)[i, k]),
            "state": float(k),
            "others": float(others),
        }
        remedy = Remedy(EXACT_WHERE_IT_FITS, "a sampler", verb="use")
        names = {
            "solver": name,
            "variable": variable_text(model, i),
            "state": state_text(model, i, k),
        }
        kind = DiagnosticKind.SAMPLER_DIFFERS
        return [Diagnostic(kind, "warning", (i,), figures, remedy, names)]
    if any(one.kind in UNMIXED_KINDS for one in herds.diagnostics):
        return [Diagnostic(DiagnosticKind.SAMPLER_UNMIXED, "warning", names={"solver": name})]
    return []


def different_entry(
    answer: np.ndarray,
    chains: np.ndarray,
    answer_noise: np.ndarray | float = 0.0,
    least_noise: np.ndarray | float = 0.0,
) -> tuple[int, int, int] | None:
    """Return where an answer (N, K) is furthest from chains (C, N, K), beyond the noise of both.

    The noise of the chains' mean follows from their spread, and is at least `least_noise`. Returns
    the variable, the state, and how many other variables differ too; None where they agree.
    """
    gap, noise = _gap_and_noise(answer, chains)
    noise = np.maximum(noise, least_noise)
    excess = gap - np.hypot(GAP_SIGMAS * noise, ANSWER_SIGMAS * answer_noise)
    if excess.max(initial=0.0) <= MIN_PROBABILITY_GAP:
        return None
    i, k = (int(place) for place in np.unravel_index(int(excess.argmax()), excess.shape))
    return i, k, int((excess > MIN_PROBABILITY_GAP).any(axis=1).sum()) - 1


def _gap_and_noise(answer: np.ndarray, chains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of an answer (N, K) from the mean of chains, and its noise.

    Noise is at least that of all entries on average: of few chains some agree by chance.
    """
    noise = chains.std(axis=0, ddof=1) / np.sqrt(len(chains))
    floor = np.sqrt(np.mean(noise**2)) if noise.size else 0.0
    return np.abs(chains.mean(axis=0) - answer), np.maximum(noise, floor)

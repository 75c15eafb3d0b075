"""The result of a run: what was kept, its diagnostics, and its provenance."""

import platform
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from herded.layouts.base import Layout
from herded.methods.options import Options
from herded.methods.protocol import Answer, solver_capabilities
from herded.methods.schedule import is_annealed
from herded.models.protocol import Model
from herded.moves.tempering.ladder_layouts import LadderLayout
from herded.run.diagnostics.chain_agreement import (
    ONE_CHAIN,
    find_disagreement,
    find_stuck_members,
)
from herded.run.diagnostics.confinement import find_confinement
from herded.run.diagnostics.length_diagnostics import (
    few_round_trips,
    length_diagnostics,
)
from herded.run.diagnostics.run_length import RunLength, assess_length
from herded.run.observables.result import build_observable_results, with_diagnostics
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.growing_arrays import join_chains
from herded.run.recording.log_z_estimator import (
    KeepLogZ,
    LogZRecorder,
    estimate_log_z,
    log_z_diagnostics,
)
from herded.run.recording.recorders import Joint, PairMarginals, Samples
from herded.run.recording.trace import Trace, TraceRecorder, start_is_shared
from herded.run.result import (
    BestStateResult,
    ErrorCurveResult,
    PairMarginalTables,
    Result,
    truncate_curve,
)
from herded.run.run_loop import UNLIMITED_SWEEPS
from herded.run.sampler_run import SamplerRun
from herded.run.solver_run import SolverRun
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import CONFINEMENT_KINDS, DiagnosticKind
from herded.version import __version__

MAX_MEMBERS_CHECKED = 16  # members of herds that are looked at for walls of hard zeros
MAX_VARIABLES_CHECKED = 1024  # variables of herds whose states are compared with earlier ones
MAX_UNPACKED_STATES = 2**26  # states of a herd that are unpacked for that
# of one chain: nothing is averaged over the run
KINDS_WITHOUT_MEANS = frozenset({Samples, BestState})

PACKAGE_VERSIONS = {
    "herded": __version__,
    "numpy": np.__version__,
    "python": platform.python_version(),
}


def build_sampler_result(
    run: SamplerRun, reason: str = "", caveat: Diagnostic | None = None
) -> Result:
    """Build the result of a sampler's run so far, with the reason and caveat of its plan."""
    model, recorded = run.layout.model, run.recorded
    facts = {
        "seconds": run.seconds,
        "sweeps": recorded,
        "burn_in": run.burn_in,
        "chains": len(run.chains),
        "members": run.layout.members,
        "interrupted": run.interrupted,
        "compiling": run.compiling,
    }
    if run.memory:
        facts["memory_at_most"] = run.memory  # of the whole run, beyond the model
    if run.saved is not None:
        facts["saved"] = run.saved
    bridged = _log_z_records(run) if run.layout.estimates_log_z and recorded else {}
    kept = _collect_records(run, recorded) | bridged if recorded else {}
    length = _run_length(run, kept) if recorded else None
    if length is not None and length.times is not None and len(run.chains) > 1:
        kept["times"] = length.times  # for intervals, and for a comparison with other starts
    findings = (*_listed(caveat), *_find_diagnostics(run, kept, length)) if recorded else ()
    if "observables" in kept:
        kept["observables"] = with_diagnostics(kept["observables"], findings)
    if run.layout.has_report:
        facts |= run.layout.report([chain.state for chain in run.chains])
    return Result(
        shape=model.shape,
        sweeps=recorded,
        converged=None,
        provenance=provenance(run.layout, run.method, **facts),
        state=tuple(chain.state for chain in run.chains),
        kept=kept,
        diagnostics=findings,
        model=model,
        method=run.method,
        reason=reason,
    )


def build_solver_result(run: SolverRun, reason: str = "") -> Result:
    """Build the result of a solver, with the reason for its choice."""
    model, answer, curve = run.layout.model, run.method.answer(run.layout, run.state), None
    if run.curve:
        left = np.isnan(run.errors)  # where it has converged the error stays what it is
        done = run.done - run.burn_in
        if answer.converged and left.any():
            run.errors[left] = run.error(answer)
            done = run.done if run.sweeps >= UNLIMITED_SWEEPS else run.sweeps
        curve = truncate_curve(run.points, run.errors[None], run.sweeps, done)
    facts = {"seconds": run.seconds, "sweeps": run.done, "interrupted": run.interrupted}
    can_find = solver_capabilities(run.method).computes_on_request
    return Result(
        shape=model.shape,
        sweeps=run.done,
        converged=answer.converged,
        provenance=provenance(run.layout, run.method, **facts),
        kept=_collect_answer(model, answer, curve),
        model=model,
        method=run.method,
        reason=reason,
        later=DeferredAnswers(run.layout) if can_find else None,
    )


@dataclass(frozen=True)
class DeferredAnswers:
    """Answers that a solver computes on demand."""

    layout: Layout

    def __call__(self, name: str) -> dict[str, Any]:
        """Return the record of this name, by name; empty if it is not available."""
        asked = "marginals" if name == "chain_marginals" else name
        answer = self.layout.method.find(self.layout, asked)
        return {} if answer is None else _collect_answer(self.layout.model, answer, None)


def provenance(layout: Layout, method: object, **facts: object) -> dict[str, Any]:
    """Return the model, the method and the tables by name, what the run took, and versions."""
    return {
        "model": layout.model.content_hash,
        "tables": layout.hash,
        "method": full_repr(method),
        "layout": layout.kind,
        "memory": layout.memory,
        **facts,
        "versions": dict(PACKAGE_VERSIONS),
    }


def full_repr(method: object) -> str:
    """Return a method with all of its options: its `repr` leaves out those that are as usual."""
    if not isinstance(method, Options):
        return repr(method)
    text: str | None = vars(method).get("_in_full")
    if text is None:  # once for each, as methods are frozen: it takes as long as some sweeps
        named = (f"{name}={full_repr(value)}" for name, value in method.options().items())
        text = f"{type(method).__name__}({', '.join(named)})"
        if not is_annealed(method):  # a schedule may be changed by its owner
            object.__setattr__(method, "_in_full", text)
    return text


def _collect_records(run: SamplerRun, sweeps: int) -> dict[str, Any]:
    chains, keep = run.chains, run.keep
    kept: dict[str, Any] = {}

    def recorders(kind: type) -> list[Any]:
        return [chain.recorders[kind] for chain in chains]

    if keep.marginals is not None:
        kept["chain_frequencies"] = _estimates(run, False)
        kept["chain_marginals"] = kept["chain_frequencies"]
        if keep.marginals.rao_blackwell:
            kept["chain_marginals"] = _estimates(run, True)
    if keep.best_state is not None and sweeps:
        kept["best"] = _best(run.layout.model, recorders(BestState))
    if keep.samples is not None:
        kept["samples"] = join_chains(run, Samples, "samples")
        kept["sample_sweeps"] = keep.samples.every * np.arange(1, kept["samples"].shape[1] + 1)
    if keep.pair_marginals is not None:
        pairs = recorders(PairMarginals)
        edges, states = pairs[0].edges, run.layout.model.cardinalities
        tables = np.mean([recorder.tables() for recorder in pairs], axis=0)
        sizes = states[edges].tolist()
        tables = [t[:k, :m] for t, (k, m) in zip(tables, sizes, strict=True)]
        kept["pairs"] = PairMarginalTables(edges, tables, run.layout.model)
    if keep.joint is not None:
        kept["joint"] = np.mean([recorder.joint() for recorder in recorders(Joint)], axis=0)
    if keep.observables is not None and sweeps:
        kept["observables"] = build_observable_results(run)
    if keep.error_curve is not None:
        errors = np.stack([chain.errors for chain in chains])
        kept["curve"] = truncate_curve(run.points, errors, run.sweeps, sweeps)
    return kept


def _estimates(run: SamplerRun, rao_blackwell: bool) -> np.ndarray:
    """Return the marginals (chains, N, K), one chain at a time to save memory."""
    layout = run.layout
    found = np.empty((len(run.chains), layout.model.n_variables, layout.width))
    for c, chain in enumerate(run.chains):
        found[c] = chain.estimate(rao_blackwell)
    return found


def _log_z_records(run: SamplerRun) -> dict[str, Any]:
    """Return log Z, its interval and its parts."""
    ladders = [(chain.state, cast(LogZRecorder, chain.recorders[KeepLogZ])) for chain in run.chains]
    found = estimate_log_z(cast(LadderLayout, run.layout), ladders)
    return {} if found is None else {"log_z": found.log_z, "bridged": found}


def _run_length(run: SamplerRun, kept: dict[str, Any]) -> RunLength | None:
    """Assess the run by its traces; None for annealing and where nothing is averaged."""
    if is_annealed(run.method):
        return None
    if len(run.chains) == 1 and run.keep.kinds <= KINDS_WITHOUT_MEANS:
        return None
    traces = [cast(TraceRecorder, chain.recorders[Trace]) for chain in run.chains]
    return assess_length(traces, kept.get("observables"), run.layout.model)


def _find_diagnostics(
    run: SamplerRun, kept: dict[str, Any], length: RunLength | None
) -> list[Diagnostic]:
    """Find the diagnostics of a run. Annealing ends in one mode by design."""
    model, chains, found = run.layout.model, run.chains, list[Diagnostic]()
    if "bridged" in kept:
        trips = run.layout.report([chain.state for chain in chains])["round_trips"]
        found += log_z_diagnostics(kept["bridged"], trips)
    if run.layout.has_report:
        found += run.layout.diagnostics([chain.state for chain in chains])
    if model.has_hard_zeros and not run.layout.crosses_hard_zeros:
        members = run.layout.members
        picked = range(0, len(chains) * members, -(-len(chains) * members // MAX_MEMBERS_CHECKED))
        states = [
            run.layout.some_values(chains[k // members].state, k % members, k % members + 1)
            for k in picked
        ]
        looked_at = np.concatenate(states).astype(np.int64)
        found += _listed(find_confinement(model, looked_at, run.layout.variable_blocks))
    if is_annealed(run.method):
        return found
    if len(chains) > 1:
        frequencies = _estimates(run, False)
        times = None if length is None else length.times
        members = run.layout.members
        found += _listed(find_disagreement(model, frequencies, run.recorded, members, times))
    if run.layout.is_herd:
        found += _listed(_find_stuck_members(run))
    is_confined = any(one.kind in CONFINEMENT_KINDS for one in found)  # more sweeps are no remedy
    if length is not None and not is_confined:
        traces = (cast(TraceRecorder, chain.recorders[Trace]) for chain in chains)
        is_shared = start_is_shared(traces)
        found += length_diagnostics(length, run.recorded, run.burn_in, is_shared, len(chains) > 1)
    is_short = any(one.kind == DiagnosticKind.SHORT_RUN for one in found)
    if run.layout.has_report and not is_short:
        trips = run.layout.report([chain.state for chain in chains]).get("round_trips", [])
        found += _listed(few_round_trips(trips, run.recorded))
    if len(chains) == 1 and not run.keep.kinds <= {BestState}:
        found.append(ONE_CHAIN)
    return found


def _listed(found: Diagnostic | None) -> list[Diagnostic]:
    return [] if found is None else [found]


def _find_stuck_members(run: SamplerRun) -> Diagnostic | None:
    """Apply `find_stuck_members` to some variables; empty where herds are too large."""
    layout, model = run.layout, run.layout.model
    if layout.n_stored * layout.members > MAX_UNPACKED_STATES:
        return None
    step = -(-model.n_variables // MAX_VARIABLES_CHECKED)
    pairs = [layout.states_at_burn_in_end_and_now(chain.state, step) for chain in run.chains]
    then, now = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
    return find_stuck_members(model, np.arange(0, model.n_variables, step), then, now, run.recorded)


def _best(model: Model, recorders: list[Any]) -> BestStateResult:
    """Return the best of each component over all chains, put together."""
    scores = np.stack([recorder.arrays["score"] for recorder in recorders])
    states = np.stack([recorder.arrays["state"] for recorder in recorders])
    winner = scores.argmax(axis=0)[recorders[0].owner]
    state = states[winner, np.arange(model.n_variables)].astype(np.int64)
    return BestStateResult(state.reshape(model.shape), float(model.log_score(state)), model)


def _collect_answer(model: Model, answer: Answer, curve: ErrorCurveResult | None) -> dict[str, Any]:
    kept: dict[str, Any] = {"log_z": answer.log_z, "joint": answer.joint, "curve": curve}
    if answer.marginals is not None:
        kept["chain_marginals"] = answer.marginals[None]
    if answer.state is not None and answer.log_score is not None:
        kept["best"] = BestStateResult(answer.state.reshape(model.shape), answer.log_score, model)
    if answer.pairs is not None:
        edges = np.array(list(answer.pairs), dtype=np.int64).reshape(-1, 2)
        kept["pairs"] = PairMarginalTables(edges, list(answer.pairs.values()), model)
    return kept

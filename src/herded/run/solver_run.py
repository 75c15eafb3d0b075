"""A solver's run: advance to the next point of interest, and get its answer at the end."""

import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.layouts.base import Layout
from herded.methods.exact.elimination_order import MAX_JOINT
from herded.methods.protocol import Answer, Solver, solver_capabilities
from herded.models.constraints.start_states import check_support
from herded.models.protocol import Model
from herded.models.structure_queries import count_joint_states, neighbour_pairs
from herded.run.interrupts import stop_event_on_interrupt
from herded.run.progress import Snapshot
from herded.run.query import KeepOptions, Query
from herded.run.recording.best_state_recorder import BestState
from herded.run.recording.recorders import ErrorCurve, Joint, Marginals, PairMarginals
from herded.run.sampler_run import BRIEF_RUN_UPDATES
from herded.system.argument_checks import edge_array

SOLVER_BLOCK_SWEEPS = 16  # sweeps between two looks at whether somebody wants to stop
MAX_BRIEF_PARTS = 32  # of an elimination: they take a third of a second
ANSWER_PART_OF_KEEP = {  # what of an answer is to be kept
    Marginals: "marginals",
    ErrorCurve: "marginals",
    PairMarginals: "pairs",
    BestState: "best",
    Joint: "joint",
}


@dataclass
class SolverRun:
    """A run of a solver: its progress, and the errors measured on the way."""

    layout: Layout
    method: Solver
    state: Any
    sweeps: int
    burn_in: int
    curve: ErrorCurve | None
    points: np.ndarray  # sweeps at which the error is measured
    errors: np.ndarray
    done: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    saved: bool | None = None  # whether its checkpoint could be written, where it was to be
    most: int = SOLVER_BLOCK_SWEEPS
    least: int = 1
    first: int = 1

    @classmethod
    def prepare(
        cls, layout: Layout, method: Solver, keep: KeepOptions, sweeps: int, burn_in: int
    ) -> "SolverRun":
        """Return a run that has not begun."""
        curve, points = keep.error_curve, np.empty(0, np.int64)
        if curve is not None:
            points = curve.sweeps(sweeps)
            curve.check(layout.model)
        if not solver_capabilities(method).in_one_step:  # which finds out by itself
            check_support(layout.model)
        errors = np.full(len(points), np.nan)
        state = _initial_solver_state(layout, method, keep)
        return cls(layout, method, state, sweeps, burn_in, curve, points, errors)

    @property
    def name(self) -> str:
        return type(self.method).__name__

    @property
    def in_one_step(self) -> bool:
        """Whether sweeps mean nothing to the method."""
        return solver_capabilities(self.method).in_one_step

    @property
    def total(self) -> int:
        if not self.in_one_step:
            return self.burn_in + self.sweeps
        return int(self.state.total) if solver_capabilities(self.method).counts_parts else 1

    @property
    def is_brief(self) -> bool:
        """Whether it is over before anybody could wonder what takes so long."""
        if self.in_one_step and self.total >= MAX_BRIEF_PARTS:
            return False
        return self.total * self.layout.model.n_variables < BRIEF_RUN_UPDATES

    def stopping(self, saves: bool = False) -> AbstractContextManager[threading.Event]:
        """Return where no part of an answer can be kept, nor saved, Ctrl-C raises at once."""
        at_once = self.in_one_step and not saves
        return nullcontext(threading.Event()) if at_once else stop_event_on_interrupt()

    def is_finished(self) -> bool:
        return self.done >= self.total or bool(self.state.converged)

    def advance(self, most: int) -> int:
        """Advance to the next sweep at which the error is measured."""
        later = self.points[self.points + self.burn_in > self.done] + self.burn_in
        goal = min(self.total, self.done + most, int(later[0]) if len(later) else self.total)
        step = goal - self.done
        self.method.advance(self.layout, self.state, step)
        self.done = self.state.sweep
        for p in np.flatnonzero(self.points + self.burn_in == self.done):
            self.errors[p] = self.error(self.method.answer(self.layout, self.state))
        return step

    def snapshot(self) -> Snapshot:
        def marginals() -> np.ndarray | None:
            found = self.method.answer(self.layout, self.state).marginals
            return None if found is None else found[None]

        def best() -> float | None:
            return self.method.answer(self.layout, self.state).log_score

        return Snapshot(self.done, self.seconds, marginals, best, lambda: None)

    def error(self, answer: Answer) -> float:
        """Return the error against the reference of the curve."""
        if answer.marginals is None:
            raise MethodError(
                f"expected a method with marginals for ErrorCurve, got {self.name}: drop "
                "ErrorCurve from keep="
            )
        assert self.curve is not None
        return self.curve.error(self.layout.model, answer.marginals)


def _initial_solver_state(layout: Layout, method: Any, keep: KeepOptions) -> Any:
    """Return the state of a solver; one that computes fields on demand is given their names."""
    if not solver_capabilities(method).computes_on_request:
        return method.init(layout)
    return method.init(layout, {ANSWER_PART_OF_KEEP[kind] for kind in keep.kinds})


def solver_can_keep(model: Model, choice: object) -> bool:
    """Whether a solver gives just what is to be kept: pairs of neighbours, small joints."""
    if isinstance(choice, PairMarginals) and choice.edges is not None:
        pairs = np.sort(edge_array("edges", choice.edges), axis=1)
        known = {tuple(pair) for pair in neighbour_pairs(model).tolist()}
        return all(tuple(pair) in known for pair in pairs.tolist())
    if isinstance(choice, Joint):
        return count_joint_states(model.cardinalities, MAX_JOINT) is not None
    return True


def refuse_sampler_options(method: Solver, query: Query) -> None:
    """Raise where something is asked for that only a sampler can do."""
    keep, saves = query.keep_or_default, solver_capabilities(method).can_save
    asked = (
        ("chains", query.budget.chains not in (None, 1)),
        ("start", query.start is not None),
        ("checkpoint", query.checkpoint.path is not None and not saves),
        ("executor", query.executor is not None),
        ("keep=[Samples()]", keep.samples is not None),
        ("keep=[Observable()]", keep.observables is not None),
    )
    for name, is_asked in asked:
        if is_asked:
            raise MethodError(
                f"expected no {name} for {type(method).__name__}, which is not a sampler"
            )
    if not solver_can_keep(query.model, keep.pair_marginals):
        raise MethodError(
            f"expected pairs that share a factor in keep= for {type(method).__name__}, got "
            f"{keep.pair_marginals!r:.200}: use hd.query, whose targets may be any variables, or a "
            "sampler"
        )

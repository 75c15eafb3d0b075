"""A ladder of temperatures for callback models: pi^beta has beta times their logits."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.draws.protocol import Draw, SweepParameters
from herded.errors import MethodError
from herded.layouts.callback.consistency_checks import diagnose_functions, ranges_between_checks
from herded.layouts.callback.kernel_calls import (
    KernelCaller,
    build_statistics,
    callback_visit_order,
    neighbour_arrays,
)
from herded.layouts.proposal import LayoutRequest, Proposal
from herded.layouts.state import EMPTY_INTEGERS, State
from herded.layouts.visit_order import Scan, ScanArrays
from herded.models.callbacks.conditional_model import ConditionalModel
from herded.models.constraints.start_states import member_starts
from herded.moves.tempering.callback_ladder_sweeps import callback_ladder_sweeps
from herded.moves.tempering.ladder_layouts import LadderLayout, geometric_betas
from herded.moves.tempering.replica_exchange import ExchangeArrays
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.memory_limits import Size
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.stream_purposes import StreamPurpose

NO_FLOATS = np.zeros(0)
NO_FACTORS = ExchangeArrays(*(EMPTY_INTEGERS,) * 6, NO_FLOATS, NO_FLOATS)


@dataclass(frozen=True, eq=False, kw_only=True)
class CallbackLadder(LadderLayout):
    """Replicas as rows; whole states are exchanged, since the factors are unknown."""

    model: ConditionalModel
    scan: ScanArrays

    def tables(self) -> tuple[np.ndarray, ...]:
        return (self.first_betas,)

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        n, key = self.n_stored, stream_key(draw.seed, chain, StreamPurpose.LADDER_STARTS)
        others = member_starts(self.model, self.rungs - 1, key)
        states = np.array(np.concatenate([others, np.reshape(x, (1, n))]), np.int64, order="C")
        scores = np.asarray(self.model.log_score(states))
        if not np.isfinite(scores).all():
            raise MethodError(
                "expected a ConditionalModel without zeros for Tempered, which starts its rungs "
                "at random states, got an impossible one: use Gibbs with start="
            )
        size = n * (1 if self.scalar else self.width)
        gaps = self.rungs - 1
        own = {
            "betas": self.first_betas.copy(),
            "tried": np.zeros(gaps),
            "rejected": np.zeros(gaps),
            "apart": np.zeros(gaps),
            "tags": np.zeros(self.rungs, np.uint8),
            "came": np.zeros(n, np.int64),
            "is_frozen": np.zeros(1, np.int64),
            "lane_at": np.arange(self.rungs),
            "scores": scores,
            **build_statistics(self.model, states),
        }
        sums = np.zeros(size, np.int64) if tally else EMPTY_INTEGERS
        state = State(states.reshape(-1), own, sums, 0, chain, total)
        self.note_states(state)
        return state

    def packed(self, state: State) -> np.ndarray:
        rows = state.x.reshape(self.rungs, -1)[state.method_arrays["lane_at"]]
        return np.ascontiguousarray(rows.T).astype(self.state_type).reshape(-1)

    def replicas(self, state: State) -> np.ndarray:
        rows: np.ndarray = state.x.reshape(self.rungs, -1)[state.method_arrays["lane_at"]]
        return rows

    def diagnostics(self, states: Sequence[State]) -> list[Diagnostic]:
        return super().diagnostics(states) + diagnose_functions(
            self.model, self.replicas(states[0])[-1:]
        )

    def sweep_and_exchange(
        self, draw: Draw, state: State, block: np.ndarray, pool: Executor | None
    ) -> None:
        if not len(self.scan.order):
            state.sweep += len(block)
            return
        x, call = state.x.reshape(self.rungs, -1), KernelCaller(self.model, callback_ladder_sweeps)
        swaps = stream_key(draw.seed, state.chain, StreamPurpose.REPLICA_EXCHANGES)
        scans = stream_key(draw.seed, state.chain, StreamPurpose.LADDER_SCANS)
        keys = np.array([step.key for step in self.steps(draw, state)])
        for first, last in ranges_between_checks(self.model, x, state, len(block)):
            call(
                x,
                state,
                self.arrays_of(state),
                state.method_arrays["lane_at"],
                state.method_arrays["scores"],
                keys,
                self.model.cardinalities,
                self.scan,
                SweepParameters(state.sweep, swaps, scans, False, 0, 0),
                np.zeros(0 if self.scalar else self.width, np.int32),
                state.conditional_sums,
                state.state_counts,
                block[first:last],
            )
            state.sweep += last - first


def propose_callback_ladder(
    model: ConditionalModel,
    method: Any,
    scan: Scan,
    max_memory: Size | None,
) -> Proposal:
    """Return a ladder of `method` (`Tempered`), not built yet."""
    if method.herd > 1 or method.method.moves is not None:
        raise MethodError(
            "expected Tempered(Gibbs()) for a ConditionalModel, one ladder to a chain, which moves "
            f"one variable at a time, got {method.method!r:.200}: drop herd= and moves="
        )
    if method.hottest_beta == 0:
        raise MethodError(
            "expected hottest_beta= above 0 for a ConditionalModel, whose log-scores are known up "
            "to a constant only, so that there is no log Z, got 0"
        )
    rungs, n, width = method.rungs, model.n_variables, int(model.cardinalities.max())
    chain = rungs * (48.0 * n + 8.0 * width + 2 * model.callbacks.bytes_of_member)
    order = callback_visit_order(
        model, "sequential" if scan == "auto" else scan, neighbour_arrays(model)
    )
    task = LayoutRequest(model, method.method.draw, scan, max_memory)
    return task.offer(
        CallbackLadder,
        tables=0.0,
        chain=chain,
        what="the replicas of a ladder",
        make=lambda **facts: CallbackLadder(
            scalar=bool((model.cardinalities[model.evidence < 0] == 2).all()),
            components_of=NO_FACTORS,
            first_betas=geometric_betas(rungs, method.hottest_beta),
            is_whole=True,
            softens_zeros=False,
            scan=order,
            **facts,
        ),
    )

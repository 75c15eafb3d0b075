"""Layout "function": callback models, whose functions are called on each visit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from herded.draws.protocol import Draw, SweepParameters
from herded.layouts.base import SweepCall
from herded.layouts.callback.consistency_checks import diagnose_functions, ranges_between_checks
from herded.layouts.callback.kernel_calls import (
    KernelCaller,
    build_statistics,
    callback_visit_order,
    neighbour_arrays,
    supported_weights,
)
from herded.layouts.callback.sweeps import callback_sweeps
from herded.layouts.general.context_weights import compile_contexts, is_hashed, weight_bytes
from herded.layouts.general.site_base import SiteLayout
from herded.layouts.hashed_weights import grow_tables
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.models.callbacks.conditional_model import ConditionalModel
from herded.system.diagnostics.diagnostic import Diagnostic

NOT_A_CALLBACK_MODEL = Refusal("it is not a ConditionalModel")


@dataclass(frozen=True, eq=False, kw_only=True)
class CallbackLayout(SiteLayout):
    """Nothing but the order of visits and the neighbours; also for falling temperatures."""

    model: ConditionalModel

    kind: ClassVar[str] = "function"
    can_anneal: ClassVar[bool] = True
    has_report: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        model, draw = task.model, task.draw
        if not isinstance(model, ConditionalModel):
            return NOT_A_CALLBACK_MODEL
        near, free = neighbour_arrays(model), model.evidence < 0
        weights = supported_weights(model, draw, near)
        scalar = bool((model.cardinalities[free] == 2).all()) and not draw.vector
        width = np.ones_like(model.cardinalities) if scalar else model.cardinalities
        order = callback_visit_order(model, task.scan, near)
        hashed = is_hashed(weights, cls.kind)
        owed = (
            weight_bytes(weights, cls.kind, 0.0, width, order.segments) if len(order.order) else 0
        )
        return task.offer(
            cls,
            tables=0.0,
            chain=float(owed) + 32.0 * len(free) + 2 * model.callbacks.bytes_of_member,
            what="weights and statistics",
            make=lambda **facts: cls(
                scalar=scalar,
                factors=near,
                scan=order,
                contexts=compile_contexts(weights, None, width),
                hashed=hashed,
                **facts,
            ),
            has_growing_memory=hashed,
        )

    @property
    def n_parallel_parts(self) -> int:
        return 1

    def components(self) -> np.ndarray | None:
        return None

    def store(self, states: np.ndarray) -> np.ndarray:
        return np.array(states, np.int64)  # functions would not expect bytes to overflow

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        state = super().start(draw, x, chain=chain, tally=tally, total=total)
        state.method_arrays.update(build_statistics(self.model, state.x[None]))
        return state

    def diagnostics(self, states: Sequence[State]) -> list[Diagnostic]:
        return diagnose_functions(self.model, states[0].x[None])

    def sweep(self, call: SweepCall) -> None:
        state, block, inverse = call.state, call.block, call.inverse_temperatures
        if not len(self.scan.order):
            return
        kernel = KernelCaller(self.model, callback_sweeps)
        for first, last in ranges_between_checks(self.model, state.x[None], state, len(block)):
            part = call.step._replace(sweep=state.sweep)
            self._sweep(kernel, state, block[first:last], part, inverse[first:last])
            state.sweep += last - first

    def _sweep(
        self,
        kernel: KernelCaller,
        state: State,
        block: np.ndarray,
        step: SweepParameters,
        betas: np.ndarray,
    ) -> None:
        """Run sweeps between two checks, and grow tables of hashed weights where needed."""
        room = None if self.scalar else np.empty(self.width, np.int32)
        done, whole = np.zeros(1, np.int64), np.zeros(1, np.uint64)
        while done[0] < len(block):
            kernel(
                state.x[None], state, self.contexts, self.factors, self.scan, step, betas,
                self.chain_arrays(state), room, whole, block, done,
            )  # fmt: skip
            if done[0] < len(block):
                state.method_arrays.update(grow_tables(state.method_arrays, np.zeros(1, np.int64)))

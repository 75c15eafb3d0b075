"""Herds of callback models: members are rows, and visit a variable at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from herded.draws.protocol import Draw
from herded.draws.systematic import member_orders, start_kept_phases
from herded.layouts.base import SweepCall
from herded.layouts.callback.consistency_checks import diagnose_functions, ranges_between_checks
from herded.layouts.callback.herd_sweeps import SystematicDrawArrays, callback_herd_sweeps
from herded.layouts.callback.kernel_calls import (
    KernelCaller,
    build_statistics,
    callback_visit_order,
    neighbour_arrays,
)
from herded.layouts.callback.layout import NOT_A_CALLBACK_MODEL
from herded.layouts.herd_base import NO_PHASES, HerdLayout
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.layouts.visit_order import ScanArrays
from herded.models.callbacks.conditional_model import ConditionalModel
from herded.system.diagnostics.diagnostic import Diagnostic


@dataclass(frozen=True, eq=False, kw_only=True)
class CallbackHerdLayout(HerdLayout):
    """The states of members one after another, as functions see them: x[member, variable]."""

    model: ConditionalModel
    scan: ScanArrays

    kind: ClassVar[str] = "function"
    can_anneal: ClassVar[bool] = True
    has_report: ClassVar[bool] = True
    any_size: ClassVar[bool] = True

    @classmethod
    def propose(cls, task: LayoutRequest, forced: bool) -> Proposal | Refusal:
        model = task.model
        if not isinstance(model, ConditionalModel):
            return NOT_A_CALLBACK_MODEL
        order = callback_visit_order(model, task.scan, neighbour_arrays(model))
        width = int(model.cardinalities.max())
        member = model.n_variables * 32.0 + 24.0 * width + 2 * model.callbacks.bytes_of_member
        return task.offer(
            cls,
            tables=0.0,
            chain=task.herd.members * member + 8.0 * width * model.n_variables,
            what="the states of a herd",
            make=lambda **facts: cls(
                scalar=bool((model.cardinalities[model.evidence < 0] == 2).all()),
                scan=order,
                **facts,
            ),
        )

    @cached_property
    def sample_size(self) -> int:
        return self.n_stored * self.members

    def pack(self, states: np.ndarray) -> np.ndarray:
        return np.array(states, np.int64, order="C").reshape(-1)

    def members_of(self, block: np.ndarray) -> np.ndarray:
        return block.reshape(len(block), self.members, self.n_stored)

    def start_weights(self, random: bool, key: np.uint64) -> dict[str, np.ndarray]:
        phases = np.empty(self.n_stored * (1 if self.scalar else self.width), np.uint32)
        start_kept_phases(phases, key)
        return {"phases": phases}

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        state = super().start(draw, x, chain=chain, tally=tally, total=total)
        state.method_arrays.update(build_statistics(self.model, self._rows(state)))
        return state

    def diagnostics(self, states: Sequence[State]) -> list[Diagnostic]:
        return diagnose_functions(self.model, self._rows(states[0]))

    def _rows(self, state: State) -> np.ndarray:
        """Return the states (members, N) of a herd, which may be written."""
        rows: np.ndarray = state.x.reshape(self.members, self.n_stored)
        return rows

    def sweep(self, call: SweepCall) -> None:
        state, block, inverse = call.state, call.block, call.inverse_temperatures
        if not len(self.scan.order):
            return
        x, kernel = self._rows(state), KernelCaller(self.model, callback_herd_sweeps)
        for first, last in ranges_between_checks(self.model, x, state, len(block)):
            kernel(
                x,
                state,
                self._draw_arrays(state),
                self.scan,
                call.step._replace(sweep=state.sweep),
                inverse[first:last],
                block[first:last],
            )
            state.sweep += last - first

    def _draw_arrays(self, state: State) -> SystematicDrawArrays:
        n, width = self.members, self.width
        return SystematicDrawArrays(
            cardinalities=self.model.cardinalities,
            orders=member_orders(n),
            phases=state.method_arrays.get("phases", NO_PHASES),
            tally=state.conditional_sums,
            ones=state.state_counts,
            new=np.zeros(n, np.int64),
            p=np.zeros(n, np.uint32),
            upto=np.zeros(0 if self.scalar else n * (width + 1), np.int64),
        )

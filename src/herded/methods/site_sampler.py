"""The base of `Gibbs` and `HerdedGibbs`: a move, a draw, and a temperature that may fall."""

from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from herded.draws.protocol import Draw
from herded.errors import MethodError
from herded.layouts.base import SweepableLayout, SweepCall
from herded.layouts.proposal import Proposal
from herded.layouts.state import State
from herded.layouts.visit_order import Scan
from herded.methods.options import Options
from herded.methods.protocol import SamplerCapabilities
from herded.methods.schedule import Schedule, constant_beta, inverse_temperatures
from herded.models.protocol import Model
from herded.moves.protocol import Move
from herded.moves.sites import Sites
from herded.system.argument_checks import short_repr
from herded.system.memory_limits import Size


class SiteSampler(Options):
    """A sampler made of a move and a draw."""

    seed: int
    scan: Scan
    schedule: Schedule | None
    herd: int
    moves: Move | None

    @cached_property
    def move(self) -> Move:
        """What changes at once."""
        return Sites(self.scan) if self.moves is None else self.moves

    def check_moves(self) -> None:
        """Raise where `moves` is no move, or comes with a scan of single variables."""
        if self.moves is not None and (
            isinstance(self.moves, type) or not isinstance(self.moves, Move)
        ):
            raise MethodError(f"expected moves=None or hd.Blocks(), got {short_repr(self.moves)}")
        if self.moves is not None and self.scan != "auto":
            raise MethodError(
                f"expected no scan with moves, which have an order of their own, got {self.scan!r}"
                ": drop it"
            )

    @cached_property
    def capabilities(self) -> SamplerCapabilities:
        """What it can do, with these options."""
        return self.declare()

    def declare(self, **own: Any) -> SamplerCapabilities:
        """Return the capabilities of this kind of sampler, changed by `own` ones."""
        return SamplerCapabilities(
            members=self.herd,
            is_annealed=self.schedule is not None,
            moves=self.moves,
            proposes_layouts=True,
            layout_key=self.layout_key,
            **own,
        )

    @property
    def layout_key(self) -> tuple[Any, ...]:
        """What its layouts depend on: not the seed, nor the number of members."""
        return self.herd > 1, self.scan, self.moves, self.schedule

    @cached_property
    def draw(self) -> Draw:
        """How new values are chosen."""
        raise NotImplementedError

    def check_annealed(self, model: Model) -> None:
        """Raise if a model does not suit this method under a schedule."""

    def propose(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Proposal:
        """Return the layout that `compile` would build, and what it would take."""
        can_anneal = self.schedule is not None
        if can_anneal:
            self.check_annealed(model)
        beta = partial(constant_beta, self.schedule)
        return self.move.propose(
            model, self.draw, kind=kind, can_anneal=can_anneal, beta=beta, max_memory=max_memory
        )

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> SweepableLayout:
        """Lay the model out for this method."""
        return replace(self.propose(model, kind=kind, max_memory=max_memory).build(), method=self)

    def init(
        self,
        layout: SweepableLayout,
        x: np.ndarray,
        *,
        chain: int = 0,
        tally: bool = False,
        total: int = 0,
    ) -> State:
        """Return the state of chain number `chain` at sweep 0, started at `x`."""
        return layout.start(self.draw, x, chain=chain, tally=tally, total=total)

    def advance(
        self, layout: SweepableLayout, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        """Run len(block) sweeps; block[s] is the s-th sample, as the layout stores it."""
        betas = None
        if self.schedule is not None:
            betas = inverse_temperatures(self.schedule, state, len(block))
        end = state.sweep + len(block)
        step = self.draw.step(state.sweep, state.chain)
        layout.sweep(SweepCall(state, block, step, betas, pool))
        state.sweep = end

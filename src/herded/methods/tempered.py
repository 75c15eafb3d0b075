"""Replicas at several temperatures that exchange states: tempering, for models with many modes.

(Swendsen and Wang 1986; Geyer, "Markov chain Monte Carlo maximum likelihood", 1991.) What is walled
in at the model's own temperature moves freely on hotter rungs and comes down by exchanges.

    step                               runs in
    space the rungs                    moves.tempering.ladder_layouts.geometric_betas
    start the hotter rungs             moves.tempering.ladder_layouts.LadderLayout.start
    sweep all rungs                    moves.tempering.ladder_sweeps.scalar_ladder
                                       moves.tempering.ladder_sweeps.vector_ladder
    sweep rungs of binary pairs        moves.tempering.binary_pairs_ladder_sweeps.sweep_fields
    exchange their components          moves.tempering.binary_pairs_exchange.exchange_binary_pairs
    sweep rungs with herds or blocks   moves.tempering.ladder_layouts.MoveLadder.sweep_and_exchange
    exchange components of states      moves.tempering.replica_exchange.exchange_replicas
    space the rungs again in burn-in   moves.tempering.replica_exchange.respace_if_due
    flip blocks met during burn-in     moves.tempering.learned_block_moves.propose_block_flips
    callback models                    moves.tempering.callback_ladder_sweeps.callback_ladder_sweeps
"""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from herded.errors import MethodError
from herded.layouts.binary_pairs.arrays import FIELD_ONE, Couplings, find_couplings
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.layouts.state import State
from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.options import Options
from herded.methods.protocol import SamplerCapabilities
from herded.models.callbacks.conditional_model import ConditionalModel
from herded.models.factor_graph import to_factor_graph
from herded.models.protocol import Model
from herded.moves.sites import Sites
from herded.moves.tempering.binary_pairs_exchange import compile_coupling_arrays
from herded.moves.tempering.callback_ladder import propose_callback_ladder
from herded.moves.tempering.ladder_layouts import (
    BinaryPairsLadder,
    LadderLayout,
    MoveLadder,
    SiteLadder,
    check_scan,
    geometric_betas,
    soften_hard_zeros,
)
from herded.moves.tempering.learned_block_moves import MAX_BLOCKS
from herded.moves.tempering.replica_exchange import compile_exchange_arrays
from herded.system import memory_limits
from herded.system.argument_checks import is_number_between, is_whole_number, short_repr
from herded.system.memory_limits import Size

MAX_RUNGS = 256
RUNG_BLOCK_BYTES = 2.0**20  # bytes of the samples of one rung
SWAP_KINDS = ("components", "whole")
SINGLE_SITE_GIBBS = Gibbs()


@dataclass(frozen=True)
class Tempered(Options):
    """Gibbs sampling on a ladder of temperatures, for models with many modes.

    Parameters
    ----------
    method
        How each rung is swept: `Gibbs()` of any moves; of a herd, as many ladders draw together.
    rungs
        Replicas, from the hottest to the model itself.
    hottest_beta
        The inverse temperature of the hottest rung; hotter where binary variables have so many
        strong couplings that they would be ordered there, too. With 0, where all states are alike,
        the run also gives log Z (`result.log_z`): take 16 rungs.
    swaps
        What neighbouring rungs exchange: "components" of the variables on which they differ, each
        by itself, or "whole" states; of a `ConditionalModel` always these.

    Examples
    --------
    >>> strong = hd.ising_grid(np.zeros((4, 4)), 2.0)
    >>> result = hd.infer(strong, hd.Tempered(), sweeps=4000, burn_in=500)
    >>> result.marginals[..., 1].mean().round(1)
    np.float64(0.5)
    """

    method: Gibbs = SINGLE_SITE_GIBBS
    rungs: int = 8
    hottest_beta: float = 0.1
    swaps: str = "components"

    def __post_init__(self) -> None:
        check_method(self.method)
        if not is_whole_number(self.rungs, 2) or self.rungs > MAX_RUNGS:
            raise MethodError(f"expected 2 to {MAX_RUNGS} rungs, got {self.rungs!r}")
        if not is_number_between(self.hottest_beta, 0.0, 1.0) or self.hottest_beta == 1:
            raise MethodError(
                "expected the inverse temperature of the hottest rung from 0 to below 1, got "
                f"{self.hottest_beta!r}"
            )
        if self.swaps not in SWAP_KINDS:
            raise MethodError(f'expected swaps="components" or "whole", got {self.swaps!r}')

    @cached_property
    def capabilities(self) -> SamplerCapabilities:
        """The capabilities with these options."""
        return SamplerCapabilities(
            members=self.method.herd,
            rungs=self.rungs,
            moves=self.method.moves,
            proposes_layouts=True,
            layout_key=(self.method, self.rungs, self.hottest_beta, self.swaps),
        )

    @property
    def seed(self) -> int:
        """The seed of the method on the rungs."""
        return self.method.seed

    @property
    def herd(self) -> int:
        """The number of ladders that draw together."""
        return self.method.herd

    def propose(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Proposal:
        """Return the layout that `compile` would build, with its memory."""
        if isinstance(model, ConditionalModel):
            return propose_callback_ladder(model, self, self.method.scan, max_memory)
        inner = self.method.move.propose(
            model, self.method.draw, kind=kind, can_anneal=True, max_memory=max_memory
        )
        graph, members, rungs = to_factor_graph(model), self.method.herd, self.rungs
        width = int(graph.cardinalities.max())
        states = (1.0 if width <= 256 else 2.0 if width <= 65536 else 8.0) * graph.n_variables
        chain = rungs * members * (4 * states + graph.n_variables) + MAX_BLOCKS * graph.n_variables
        block = RUNG_BLOCK_BYTES * rungs
        tables = 16.0 * len(graph.log_tables) + 40.0 * len(graph.factor_variables)
        need = 2 * inner.memory + chain + tables + block
        return Proposal(
            kind=LadderLayout.kind,
            memory=need,
            chain_memory=chain + block,
            check=lambda: memory_limits.check_memory(need, max_memory, "the replicas of a ladder"),
            make=lambda: self._build(model, inner, kind, need, chain + block),
        )

    def compile(
        self, model: Model, *, kind: str | None = None, max_memory: Size | None = None
    ) -> Any:
        """Lay the model out for all rungs."""
        return replace(self.propose(model, kind=kind, max_memory=max_memory).build(), method=self)

    def _build(
        self, model: Model, inner: Proposal, kind: str | None, need: float, chain: float
    ) -> LadderLayout:
        graph = to_factor_graph(model)
        melts = graph.has_hard_zeros
        soft = soften_hard_zeros(graph) if melts else graph
        couplings = find_couplings(graph)
        hottest_beta = (
            self.hottest_beta
            if isinstance(couplings, Refusal)
            else min(self.hottest_beta, disorder_beta(couplings))
        )
        betas = geometric_betas(self.rungs - melts, hottest_beta)
        facts: dict[str, Any] = {
            "model": model,
            "memory": need,
            "chain_memory": chain,
            "members": self.method.herd,
            "components_of": compile_exchange_arrays(graph, soft.log_tables, melts),
            "first_betas": np.append(betas, 1.0) if melts else betas,
            "is_whole": self.swaps == "whole",
            "softens_zeros": melts,
        }
        move, draw = self.method.move, self.method.draw
        if isinstance(move, Sites) and self.method.herd == 1 and kind in (None, inner.kind):
            task = LayoutRequest(model, draw, move.scan, None)
            check_scan(task.order)
            if isinstance(couplings, Couplings) and kind is None:
                links = compile_coupling_arrays(couplings)
                return BinaryPairsLadder(
                    links=links, factors=task.factors, scan=task.order, **facts
                )
            return SiteLadder(
                scalar=task.scalar,
                factors=task.factors._replace(log_tables=soft.log_tables),
                hard=task.factors if melts else None,
                scan=task.order,
                **facts,
            )
        coldest = others = inner.build()
        if melts:
            others = move.propose(soft, draw, kind=kind, can_anneal=True).build()
        return MoveLadder(scalar=coldest.scalar, coldest=coldest, others=others, **facts)

    def init(
        self, layout: LadderLayout, x: np.ndarray, *, chain: int, tally: bool, total: int
    ) -> State:
        """Return a ladder with its coldest rung at `x` (members, N)."""
        return layout.start(self.method.draw, x, chain=chain, tally=tally, total=total)

    def advance(
        self, layout: LadderLayout, state: State, block: np.ndarray, pool: Executor | None = None
    ) -> None:
        """Run len(block) sweeps of all rungs; block[s] has all states after the s-th."""
        layout.sweep_and_exchange(self.method.draw, state, block, pool)


def disorder_beta(couplings: Couplings) -> float:
    """Return the inverse temperature where a model's mean field becomes disordered.

    Where neighbours are many their couplings make up one field, and modes part at once: a hottest
    rung that is colder stays in the mode that it started in. With spins of +-1 couplings are a
    quarter of what they are here.
    """
    per_variable = np.abs(couplings.coupling).sum() / FIELD_ONE / max(len(couplings.alone), 1)
    return float(4.0 / max(per_variable, 4.0))


def check_method(method: object) -> None:
    """Refuse methods other than random or systematic draws with fresh phases."""
    if isinstance(method, HerdedGibbs):
        raise MethodError(
            "expected Gibbs(...) to temper, got HerdedGibbs: its weights belong to one state, but "
            "would be applied to another after an exchange, so errors would stop falling; "
            "use Gibbs(), or Gibbs(herd=64) for ladders that draw together"
        )
    if not isinstance(method, Gibbs):
        raise MethodError(f"expected Gibbs(...) to temper, got {short_repr(method)}")
    if method.schedule is not None:
        raise MethodError(
            "expected Gibbs(...) without a schedule to temper, whose rungs have temperatures of "
            f"their own, got {method!r:.200}: drop schedule="
        )

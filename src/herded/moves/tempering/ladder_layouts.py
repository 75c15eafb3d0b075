"""A ladder: replicas of a model at rising temperatures, which exchange states after every sweep.

Its coldest rung is the model, and what is recorded. Hard zeros are *melted*: on all other rungs a
zero is a factor of exp(-SOFT_ZERO_PENALTY beta), so that moves of one variable pass through states
that are impossible, and what hard zeros wall in is reached from above. A hottest rung at beta = 0
is then uniform over all states, whose number is known: the path from there to the model gives log
Z.
"""

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from herded.draws.protocol import Draw, SweepParameters
from herded.errors import MethodError
from herded.layouts.base import SweepableLayout, SweepCall
from herded.layouts.factor_arrays import FactorArrays
from herded.layouts.herd_base import HerdLayout
from herded.layouts.state import EMPTY_INTEGERS, State
from herded.layouts.visit_order import JACOBI, ScanArrays, connected_components
from herded.models.constraints.start_states import member_starts, possible_states
from herded.models.factor_graph import FactorGraph, to_factor_graph
from herded.moves.tempering.binary_pairs_exchange import CouplingArrays
from herded.moves.tempering.binary_pairs_ladder_sweeps import binary_pairs_ladder_sweeps
from herded.moves.tempering.ladder_sweeps import record_sweep, scalar_ladder, vector_ladder
from herded.moves.tempering.learned_block_moves import MAX_BLOCKS, learn_blocks
from herded.moves.tempering.replica_exchange import ExchangeArrays, LadderArrays, exchange_replicas
from herded.system.diagnostics.diagnostic import Diagnostic
from herded.system.diagnostics.kinds import DiagnosticKind
from herded.system.diagnostics.phrases import MORE_RUNGS, MORE_SWEEPS, Remedy, Term
from herded.system.last_value_cache import cache_last
from herded.system.numerics.counter_rng import stream_key
from herded.system.numerics.exp_log import exp_array, log_array
from herded.system.numerics.stream_purposes import StreamPurpose

# of a melted zero: with 4 the last step is too high, with 20 the path too steep
SOFT_ZERO_PENALTY = 8.0
BETTER_LADDER = Remedy(
    MORE_RUNGS, MORE_SWEEPS, Term("a larger hottest_beta=", "a larger {hottest_beta}"), verb="use"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class LadderLayout(HerdLayout):
    """The replicas of all rungs side by side: lanes, by variable, then rung, then member."""

    components_of: ExchangeArrays
    first_betas: np.ndarray  # (rungs,)
    is_whole: bool
    softens_zeros: bool
    kept: bool = False

    kind: ClassVar[str] = "ladder"
    can_anneal: ClassVar[bool] = True
    has_report: ClassVar[bool] = True
    crosses_hard_zeros: ClassVar[bool] = True

    @property
    def rungs(self) -> int:
        return len(self.first_betas)

    @property
    def estimates_log_z(self) -> bool:
        return bool(self.first_betas[0] == 0.0)

    @cached_property
    def lanes(self) -> int:
        return self.rungs * self.members

    @cached_property
    def sample_size(self) -> int:
        return self.n_stored * self.lanes

    @property
    def signature(self) -> tuple[Any, ...]:
        return type(self), self.scalar, self.width, self.softens_zeros

    def tables(self) -> tuple[np.ndarray, ...]:
        return self.first_betas, self.components_of.log_tables

    def pack(self, states: np.ndarray) -> np.ndarray:
        """Pack states (lanes, N) as kernels keep them."""
        return np.ascontiguousarray(states.T).astype(self.state_type).reshape(-1)

    def replicas_of(self, block: np.ndarray) -> np.ndarray:
        return block.reshape(len(block), self.n_stored, self.lanes).transpose(0, 2, 1)

    @property
    def n_replicas(self) -> int:
        return self.lanes

    def some_replicas_of(self, block: np.ndarray, first: int, last: int) -> np.ndarray:
        return self.replicas_of(block)[:, first:last]

    def members_of(self, block: np.ndarray) -> np.ndarray:
        return self.replicas_of(block)[:, -self.members :]

    # -- one chain ---------------------------------------------------------------------------

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        """Start a ladder with its coldest rung at `x` (members, N), the others anywhere."""
        rungs, n = self.rungs, self.n_stored
        key = stream_key(draw.seed, chain, StreamPurpose.LADDER_STARTS)
        others = member_starts(self.melted(), (rungs - 1) * self.members, key)
        states = np.concatenate([others, np.reshape(x, (self.members, n))])
        size = n * (1 if self.scalar else self.width)
        own = {
            "betas": self.first_betas.copy(),
            "tried": np.zeros(rungs - 1),
            "rejected": np.zeros(rungs - 1),
            "apart": np.zeros(rungs - 1),
            "tags": np.zeros(n * self.lanes, np.uint8),
            "came": np.zeros(n, np.int64),
            "is_frozen": np.zeros(1, np.int64),
        }
        sums = np.zeros(size, np.int64) if tally else EMPTY_INTEGERS
        state = State(self.pack(states), own, sums, 0, chain, total)
        self.note_states(state)
        return state

    def melted(self) -> FactorGraph:
        """Return the model of all rungs but the coldest."""
        graph = to_factor_graph(self.model)
        return soften_hard_zeros(graph) if self.softens_zeros else graph

    def end_burn_in(self, state: State) -> None:
        """Freeze the temperatures, and start the counts."""
        super().end_burn_in(state)
        state.method_arrays["is_frozen"][:] = 1
        for name in ("tried", "rejected", "apart", "came"):
            state.method_arrays[name][:] = 0

    def replicas(self, state: State) -> np.ndarray:
        states: np.ndarray = self.replicas_of(state.x[None])[0].astype(np.int64)
        return states

    def report(self, states: Sequence[State]) -> dict[str, Any]:
        """Return temperatures, rejections, distances of rungs, and round trips of every ladder."""
        owns = [state.method_arrays for state in states]
        free = np.maximum((self.model.evidence < 0).sum() * self.members, 1)
        return {
            "betas": [own["betas"].tolist() for own in owns],
            "rejections": [(o["rejected"] / np.maximum(o["tried"], 1)).tolist() for o in owns],
            "apart": [(o["apart"] / np.maximum(o["tried"], 1)).tolist() for o in owns],
            "round_trips": [float(own["came"].sum() / free) for own in owns],
        }

    def diagnostics(self, states: Sequence[State]) -> list[Diagnostic]:
        stuck = [
            s
            for s in states
            if not s.method_arrays["came"].any() and s.method_arrays["rejected"].any()
        ]
        if not stuck:
            return []
        figures = {"stuck": float(len(stuck)), "ladders": float(len(states))}
        return [Diagnostic(DiagnosticKind.LADDER, "warning", (), figures, BETTER_LADDER)]

    def arrays_of(self, state: State) -> LadderArrays:
        """Return the arrays that kernels change."""
        own = state.method_arrays
        return LadderArrays(
            x=state.x,
            betas=own["betas"],
            tried=own["tried"],
            rejected=own["rejected"],
            apart=own["apart"],
            tags=own["tags"],
            came=own["came"],
            is_frozen=own["is_frozen"],
            spaced=self.rungs - (2 if self.softens_zeros else 1),
            members=self.members,
            is_whole=self.is_whole,
            bridges=self.estimates_log_z,
        )

    def steps(self, draw: Draw, state: State) -> list[SweepParameters]:
        """Return the parameters of each rung's kernel, with a random stream for each."""
        first = state.chain * self.rungs
        return [draw.step(state.sweep, first + r) for r in range(self.rungs)]

    def sweep_and_exchange(
        self, draw: Draw, state: State, block: np.ndarray, pool: Executor | None
    ) -> None:
        """Sweep all rungs and exchange between them, len(block) times."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteLadder(LadderLayout):
    """A ladder of single variables, drawn at random by one kernel."""

    factors: FactorArrays  # of all rungs but the coldest, if that is another
    hard: FactorArrays | None
    scan: ScanArrays

    def components(self) -> np.ndarray | None:
        found: np.ndarray | None = connected_components(self.factors, self.model.evidence < 0)
        return found

    def sweep_and_exchange(
        self, draw: Draw, state: State, block: np.ndarray, pool: Executor | None
    ) -> None:
        keys = np.array([step.key for step in self.steps(draw, state)])
        swaps = stream_key(draw.seed, state.chain, StreamPurpose.REPLICA_EXCHANGES)
        scans = stream_key(draw.seed, state.chain, StreamPurpose.LADDER_SCANS)
        kernel: Callable[..., None] = scalar_ladder if self.scalar else vector_ladder
        kernel(
            self.factors, self.hard, self.components_of, self.scan,
            SweepParameters(state.sweep, swaps, scans, False, 0, 0), keys,
            self.arrays_of(state), state.conditional_sums, state.state_counts, self.width, block,
        )  # fmt: skip
        state.sweep += len(block)


@dataclass(frozen=True, eq=False, kw_only=True)
class BinaryPairsLadder(LadderLayout):
    """A ladder of binary variables with pair interactions, which also leap."""

    links: CouplingArrays
    factors: FactorArrays
    scan: ScanArrays
    scalar: bool = True

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        state = super().start(draw, x, chain=chain, tally=tally, total=total)
        # states in the burn-in
        state.method_arrays["leaps"] = np.zeros(MAX_BLOCKS * self.n_stored, np.uint8)
        return state

    def end_burn_in(self, state: State) -> None:
        if not state.method_arrays["is_frozen"][0]:
            learn_blocks(self.links, state.method_arrays["leaps"], state.sweep)
        super().end_burn_in(state)

    def components(self) -> np.ndarray | None:
        found: np.ndarray | None = connected_components(self.factors, self.model.evidence < 0)
        return found

    def tables(self) -> tuple[np.ndarray, ...]:
        return self.first_betas, *self.links

    def sweep_and_exchange(
        self, draw: Draw, state: State, block: np.ndarray, pool: Executor | None
    ) -> None:
        key = self.steps(draw, state)[0].key
        swaps = stream_key(draw.seed, state.chain, StreamPurpose.REPLICA_EXCHANGES)
        scans = stream_key(draw.seed, state.chain, StreamPurpose.LADDER_SCANS)
        leaps = stream_key(draw.seed, state.chain, StreamPurpose.LEARNED_BLOCK_MOVES)
        binary_pairs_ladder_sweeps(
            self.links, self.scan, SweepParameters(state.sweep, swaps, scans, False, 0, 0), key,
            leaps,
            self.arrays_of(state), state.method_arrays["leaps"], state.conditional_sums,
            state.state_counts, self.width, block,
        )  # fmt: skip
        state.sweep += len(block)


@dataclass(frozen=True, eq=False, kw_only=True)
class MoveLadder(LadderLayout):
    """A ladder of any moves and draws whose layout can follow a temperature."""

    coldest: SweepableLayout
    others: SweepableLayout  # the same layout, but where zeros are melted

    def components(self) -> np.ndarray | None:
        return self.coldest.components()

    def sweep_and_exchange(
        self, draw: Draw, state: State, block: np.ndarray, pool: Executor | None
    ) -> None:
        rungs, n, m = self.rungs, self.members, self.arrays_of(state)
        layouts = [self.others] * (rungs - 1) + [self.coldest]
        lanes = state.x.reshape(self.n_stored, self.lanes)
        places = [lanes[:, r * n : (r + 1) * n] for r in range(rungs)]
        states = [self._rung(layouts[r], draw, places[r], state, r) for r in range(rungs)]
        key = stream_key(draw.seed, state.chain, StreamPurpose.REPLICA_EXCHANGES)
        for s in range(len(block)):
            for r, rung in enumerate(states):
                rung.sweep = state.sweep
                rung.x[...] = _store_members(layouts[r], places[r].T)
                row = np.zeros((1, layouts[r].sample_size), layouts[r].sample_type)
                step = draw.step(state.sweep, state.chain * rungs + r)
                layouts[r].sweep(SweepCall(rung, row, step, m.betas[r : r + 1].copy(), pool))
                places[r][...] = layouts[r].values(rung).T
            record_sweep(m, state.state_counts, self.width, block, s)
            exchange_replicas(self.components_of, m, key, state.sweep)
            state.sweep += 1
        if len(state.conditional_sums):
            state.conditional_sums += self._unstored(states[-1].conditional_sums)

    def _rung(
        self, layout: SweepableLayout, draw: Draw, place: np.ndarray, state: State, r: int
    ) -> State:
        """Return the chain of rung r; the coldest one sums conditionals if asked to."""
        first = place.T.astype(np.int64)
        tally = r == self.rungs - 1 and len(state.conditional_sums) > 0
        start = first if layout.is_herd else first[0]
        chain = state.chain * self.rungs + r
        return layout.start(draw, start, chain=chain, tally=tally, total=state.total)

    def _unstored(self, tally: np.ndarray) -> np.ndarray:
        """Return sums of conditionals in the model's order."""
        if self.scalar:
            return self.coldest.unstore(tally)
        sums = self.coldest.unstore(tally.reshape(-1, self.width).T)
        return np.ascontiguousarray(sums.T).reshape(-1)


def _store_members(layout: SweepableLayout, states: np.ndarray) -> np.ndarray:
    """Return states (members, N) as a layout keeps them."""
    return layout.pack(states) if isinstance(layout, HerdLayout) else layout.store(states[0])


@cache_last
def soften_hard_zeros(graph: FactorGraph) -> FactorGraph:
    """Return the same model with penalties instead of zeros.

    A zero lies SOFT_ZERO_PENALTY below what its factor gives to some possible state at best, and
    nothing lies above that: what arc consistency forbids would else be preferred to all that is
    possible.
    """
    possible, tables = possible_states(graph), graph.log_tables.copy()
    for f in range(graph.n_factors):
        scope, logs = graph.factor(f)
        own = (possible[i, :states] for i, states in zip(scope, logs.shape, strict=True))
        fits = (logs > -np.inf) & functools.reduce(np.logical_and.outer, own)
        if fits.any() and not fits.all():
            top = logs[fits].max()
            soft = np.where(np.isneginf(logs), top - SOFT_ZERO_PENALTY, np.minimum(logs, top))
            tables[graph.table_start[f] : graph.table_start[f + 1]] = soft.reshape(-1)
    soft_graph = FactorGraph.from_arrays(
        graph.cardinalities, graph.factor_start, graph.factor_variables, tables
    )
    known = np.flatnonzero(graph.evidence >= 0)
    return soft_graph.given(dict(zip(known.tolist(), graph.evidence[known].tolist(), strict=True)))


def geometric_betas(rungs: int, hottest_beta: float) -> np.ndarray:
    """Return inverse temperatures from `hottest_beta` to 1 in equal ratios; from 0 as squares."""
    places = np.arange(rungs) / (rungs - 1)
    if hottest_beta == 0:
        return places * places
    betas: np.ndarray = exp_array((1.0 - places) * log_array([hottest_beta])[0])
    betas[0], betas[-1] = hottest_beta, 1.0
    return betas


def check_scan(scan: ScanArrays) -> None:
    if scan.policy[0] == JACOBI:
        raise MethodError(
            'expected a scan of one variable at a time under tempering, got "jacobi", which '
            'samples from another distribution: use scan="sequential"'
        )

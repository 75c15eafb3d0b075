"""The base of layouts of herds: n members are one chain of a run, and are moved together."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from herded.draws.protocol import Draw
from herded.layouts.base import Layout, SweepableLayout
from herded.layouts.packing.member_bits import WORD_BITS, unpack_states
from herded.layouts.state import EMPTY_INTEGERS, State

NO_PHASES = np.zeros(0, np.uint32)  # of herds with fresh phases


@dataclass(frozen=True, eq=False, kw_only=True)
class HerdLayout(SweepableLayout):
    """A layout whose states are those of all members of a herd.

    Arrays of one entry per variable (`State.conditional_sums`, `State.state_counts`) sum over the
    members.
    """

    kept: bool  # whether phases are kept from sweep to sweep

    is_herd: ClassVar[bool] = True
    counts_states: ClassVar[bool] = True
    any_size: ClassVar[bool] = False  # whether arrays are the same for any number of members

    def for_method(self, method: object, members: int) -> Layout | None:
        if not self.any_size or members == self.members:
            return super().for_method(method, members)
        chain = self.chain_memory * max(1.0, members / self.members)
        need = self.memory - self.chain_memory + chain
        return replace(self, method=method, members=members, memory=need, chain_memory=chain)

    def pack(self, states: np.ndarray) -> np.ndarray:
        """Pack states (members, N) in the model's order as kernels keep them."""
        raise NotImplementedError

    def words_of(self, block: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
        assert self.bit_places is not None
        return self.bit_places.words_of(block, self.members, first, last)

    def members_of(self, block: np.ndarray) -> np.ndarray:
        return unpack_states(self.words_of(block), self.members)

    def some_members_of(self, block: np.ndarray, first: int, last: int) -> np.ndarray:
        if self.bit_places is None:
            return super().some_members_of(block, first, last)
        words = self.words_of(block, first // WORD_BITS, -(-last // WORD_BITS))
        if first % WORD_BITS:
            words >>= np.uint64(first % WORD_BITS)
        return unpack_states(words, last - first)

    def some_values(self, state: State, first: int, last: int) -> np.ndarray:
        states: np.ndarray = self.some_members_of(self.packed(state)[None], first, last)[0]
        return states

    def packed(self, state: State) -> np.ndarray:
        """Return the states of the members, as a row of a block of samples."""
        return state.x.reshape(-1)

    def fill(self, block: np.ndarray, state: State) -> None:
        if block.shape[1]:
            block[:] = self.packed(state)

    def values(self, state: State) -> np.ndarray:
        states: np.ndarray = self.members_of(self.packed(state)[None])[0].astype(np.int64)
        return states

    def start(self, draw: Draw, x: np.ndarray, *, chain: int, tally: bool, total: int) -> State:
        size = self.n_stored * (1 if self.scalar else self.width)
        sums = np.zeros(size, np.int64) if tally else EMPTY_INTEGERS
        state = State(self.pack(x), draw.start(self, chain), sums, 0, chain, total)
        self.note_states(state)
        return state

    def end_burn_in(self, state: State) -> None:
        self.note_states(state)

    def note_states(self, state: State) -> None:
        """Note where the members are, to see later whether they have left
        (`states_at_burn_in_end_and_now`).
        """
        state.method_arrays["earlier"] = self.packed(state).copy()

    def states_at_burn_in_end_and_now(
        self, state: State, step: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        block = np.stack([state.method_arrays["earlier"], self.packed(state)])
        if self.bit_places is None:
            then, now = self.members_of(block)[..., ::step]
        else:  # only those bits become bytes
            words = np.ascontiguousarray(self.words_of(block)[..., ::step])
            then, now = unpack_states(words, self.members)
        return then, now

    def new_counts(self) -> np.ndarray:
        return np.zeros(self.n_stored * (1 if self.width == 2 else self.width), np.int64)

    @cached_property
    def signature(self) -> tuple[Any, ...]:
        return self.kind, self.is_herd, self.scalar, self.width, self.kept


class MemberLanesLayout(HerdLayout):
    """A herd with adjacent members: member k's state of variable i is x[i n + k]."""

    @cached_property
    def sample_size(self) -> int:
        return self.n_stored * self.members

    def pack(self, states: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(states.T).astype(self.state_type).reshape(-1)

    def members_of(self, block: np.ndarray) -> np.ndarray:
        return block.reshape(len(block), self.n_stored, self.members).transpose(0, 2, 1)

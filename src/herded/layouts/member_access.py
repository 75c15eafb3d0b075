"""The members of a herd, as recorders and observables read them.

A layout of single chains has one member, the chain itself, so that the code that reads samples need
not ask which kind it has. Members that are bits can be read as whole words (`bit_places`), which
`run.observables` counts without unpacking them. `herd_base.HerdLayout` has the answers of herds.
"""

from typing import ClassVar

import numpy as np

from herded.layouts.packing.member_bits import BitPlaces
from herded.layouts.state import State


class MemberAccess:
    """States of single members; the defaults are those of one chain that draws alone."""

    members: int

    is_herd: ClassVar[bool] = False

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        """Return stored states in the model's order."""
        raise NotImplementedError

    def values(self, state: State) -> np.ndarray:
        """Return the current states (members, N) of a chain, in the model's order."""
        raise NotImplementedError

    def members_of(self, block: np.ndarray) -> np.ndarray:
        """Return the samples in a block (rows, sample_size) as states (rows, members, N)."""
        return self.unstore(block)[:, None]

    def some_members_of(self, block: np.ndarray, first: int, last: int) -> np.ndarray:
        """Return the samples (rows, last - first, N) of the members `first` to `last` - 1 alone.

        Members that are bits must be whole words of 64, or lie within one word.
        """
        return self.members_of(block)[:, first:last]

    def some_values(self, state: State, first: int, last: int) -> np.ndarray:
        """Return states (last - first, N) of some members, of any whole-number type."""
        return self.values(state)[first:last]

    @property
    def bit_places(self) -> BitPlaces | None:
        """Where the members of a herd are, if they are bits."""
        return None

    def words_of(self, block: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
        """Return samples of a block as words (rows, words, planes, N), if members are bits.

        Only the words `first` to `last` - 1, if given.
        """
        raise NotImplementedError

    def states_at_burn_in_end_and_now(
        self, state: State, step: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a herd's states (members, V) after burn-in, and now.

        Uses every `step`-th variable.
        """
        raise NotImplementedError

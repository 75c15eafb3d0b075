"""The replicas of a ladder of temperatures, and layouts that adapt, as runs use them.

A layout without a ladder has no replicas but its members. `moves.tempering.LadderLayout` has the
answers of ladders: `run.recording` estimates log Z from all rungs, and `run.diagnostics` reads
their report. Callback models use `diagnostics` to tell that their functions contradict each other.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from herded.layouts.member_access import MemberAccess
from herded.layouts.state import State
from herded.system.diagnostics.diagnostic import Diagnostic


class ReplicaAccess(MemberAccess):
    """States of all replicas; the defaults are those of layouts without a ladder."""

    has_report: ClassVar[bool] = False  # whether `report` or `diagnostics` say something
    crosses_hard_zeros: ClassVar[bool] = False  # whether moves pass through impossible states

    @property
    def estimates_log_z(self) -> bool:
        """Whether the hottest rung has a known normalising constant, from which log Z follows."""
        return False

    @property
    def n_replicas(self) -> int:
        """How many states `replicas_of` gives for a sweep."""
        return self.members

    def replicas_of(self, block: np.ndarray) -> np.ndarray:
        """Do the same as `members_of`, with the hotter rungs of a ladder."""
        return self.members_of(block)

    def some_replicas_of(self, block: np.ndarray, first: int, last: int) -> np.ndarray:
        """Do the same as `some_members_of`, for all replicas."""
        return self.some_members_of(block, first, last)

    def replicas(self, state: State) -> np.ndarray:
        """Do the same as `values`, with the hotter rungs of a ladder."""
        return self.values(state)

    def end_burn_in(self, state: State) -> None:
        """Stop adapting: called when samples begin to be recorded."""

    def report(self, states: Sequence[State]) -> dict[str, Any]:
        """Return provenance facts of chains that ended at `states`."""
        return {}

    def diagnostics(self, states: Sequence[State]) -> list[Diagnostic]:
        """Return diagnostics of chains that ended at `states`."""
        return []

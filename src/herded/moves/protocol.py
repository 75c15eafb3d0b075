"""The protocol of moves: sets of variables that change at once, by their joint conditional.

A move lays the model out for itself: the layout it gives knows the conditionals of what moves, and
its `sweep` moves everything once, each time by a draw.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from herded.draws.protocol import Draw
from herded.layouts.proposal import Proposal
from herded.models.protocol import Model
from herded.system.memory_limits import Size


@runtime_checkable
class Move(Protocol):
    """A set of variables that change at once."""

    def propose(
        self,
        model: Model,
        draw: Draw,
        *,
        kind: str | None = None,
        can_anneal: bool = False,
        beta: Callable[[], float] | None = None,
        max_memory: Size | None = None,
    ) -> Proposal:
        """Return a layout for this move and this draw, not built yet.

        It `can_anneal` if there is a schedule; `beta()` is its inverse temperature if that is
        constant.
        """

"""One variable at a time, in the order of a scan: the move of Algorithm 1."""

from collections.abc import Callable
from dataclasses import dataclass

from herded.draws.protocol import Draw
from herded.layouts.choose import propose_layout
from herded.layouts.proposal import Proposal
from herded.layouts.visit_order import Scan
from herded.models.protocol import Model
from herded.system.memory_limits import Size


@dataclass(frozen=True)
class Sites:
    """Single variables, visited in the order that `scan` names."""

    scan: Scan = "auto"

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
        return propose_layout(
            model,
            draw,
            scan=self.scan,
            kind=kind,
            can_anneal=can_anneal,
            beta=beta,
            max_memory=max_memory,
        )

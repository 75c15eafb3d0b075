"""The choice of a layout: each kind is tried in turn, and the first that suits the model is used.

A new layout is a file with a class that has `propose` (`proposal.ProposesLayout`), and a line in
`LAYOUTS`.
"""

from collections.abc import Callable

from herded.draws.protocol import Draw
from herded.errors import MethodError
from herded.layouts.binary_pairs.dense_herd import DenseHerdLayout
from herded.layouts.binary_pairs.herd import BinaryPairsHerdLayout
from herded.layouts.binary_pairs.layout import BinaryPairsLayout
from herded.layouts.callback.herd import CallbackHerdLayout
from herded.layouts.callback.layout import CallbackLayout
from herded.layouts.general.factor_layout import FactorLayout
from herded.layouts.general.site_herd import FactorHerdLayout, TableHerdLayout
from herded.layouts.general.table_layout import TableLayout
from herded.layouts.grid.herd import GridHerdLayout
from herded.layouts.grid.layout import GridLayout
from herded.layouts.grid_nd.herd import GridNDHerdLayout
from herded.layouts.grid_nd.layout import GridNDLayout
from herded.layouts.pairs.herd import PairsHerdLayout
from herded.layouts.pairs.layout import PairsLayout
from herded.layouts.potts.herd import PottsHerdLayout
from herded.layouts.potts.layout import PottsLayout
from herded.layouts.proposal import LayoutRequest, Proposal, ProposesLayout
from herded.layouts.visit_order import Scan
from herded.models.factor_graph import has_factors
from herded.models.protocol import Model
from herded.system.memory_limits import Size
from herded.system.suggestions import did_you_mean

LAYOUTS: tuple[type[ProposesLayout], ...] = (
    GridLayout,  # 4-neighbour grids of two states
    GridNDLayout,  # grids of two states and any dimension, equal couplings
    PottsLayout,  # 4-neighbour grids of more states
    CallbackLayout,  # callback models, which only this layout can take
    TableLayout,  # small blankets: every conditional tabulated
    BinaryPairsLayout,  # binary variables with pair interactions
    PairsLayout,  # any variables with pair interactions
    FactorLayout,  # any model
    GridHerdLayout,  # herds: 4-neighbour grids of two states
    GridNDHerdLayout,  # grids of two states and any dimension, equal couplings
    PottsHerdLayout,  # grids of more states and any dimension
    CallbackHerdLayout,  # callback models
    BinaryPairsHerdLayout,  # many binary variables with few pair interactions each
    PairsHerdLayout,  # any variables with pair interactions
    TableHerdLayout,  # small blankets
    DenseHerdLayout,  # binary variables with pair interactions
    FactorHerdLayout,  # any model
)
LAYOUT_KINDS = tuple(dict.fromkeys(layout.kind for layout in LAYOUTS))


def propose_layout(
    model: Model,
    draw: Draw,
    *,
    scan: Scan = "auto",
    kind: str | None = None,
    can_anneal: bool = False,
    beta: Callable[[], float] | None = None,
    max_memory: Size | None = None,
) -> Proposal:
    """Propose a layout for `model` and `draw`, of the requested kind; do not build it.

    `can_anneal` asks for one whose conditionals can change with the temperature; `beta()` is the
    inverse temperature of a schedule that keeps it.
    """
    if kind is not None and (not isinstance(kind, str) or kind not in LAYOUT_KINDS):
        hint = did_you_mean(kind, LAYOUT_KINDS)
        raise MethodError(f"expected a layout out of {', '.join(LAYOUT_KINDS)}, got {kind!r}{hint}")
    task, reason, herd = LayoutRequest(model, draw, scan, max_memory, beta), "", draw.members > 1
    able = [c for c in LAYOUTS if c.is_herd == herd and c.can_anneal >= can_anneal]
    candidates = [layout for layout in able if kind in (None, layout.kind)]
    if not candidates:
        of_factors = has_factors(model)
        fitting = [layout for layout in able if (layout.kind != "function") == of_factors]
        kinds = " or ".join(dict.fromkeys(layout.kind for layout in fitting))
        what = (" with a schedule" if can_anneal else "") + (" for a herd" if herd else "")
        raise MethodError(f"expected a {kinds} layout{what}, got {kind!r}: drop layout=")
    for layout in candidates:
        found = layout.propose(task, kind is not None)
        if isinstance(found, Proposal):
            return found
        if not found.is_secondary:
            reason = found.reason
    raise MethodError(f"expected a model for the {kind} layout, but {reason}: drop layout=")

"""What the layouts of pair interactions share: links between neighbours."""

from collections.abc import Callable
from typing import Any

from herded.layouts.general.site_base import SiteLayout, estimate_weight_bytes
from herded.layouts.proposal import LayoutRequest, Proposal
from herded.models.factor_graph import FactorGraph
from herded.system import memory_limits

ALWAYS_AFFORDABLE_BYTES = 2**26  # bytes of links and rows that never are too many


def propose_pairwise(
    layout: type[SiteLayout],
    task: LayoutRequest,
    forced: bool,
    find_links: Callable[[FactorGraph], tuple[Any, str]],
    compile_links: Callable[[Any], tuple[Any, ...]],
) -> Proposal | str:
    """An offer to lay out links that `find_links` finds, or why there is none.

    Where one variable is wide, rows that are all as wide could be mostly air: they must be lean.
    """
    if task.draw.weights not in (None, "pooled"):
        return f"weights={task.draw.weights!r} is not for it"
    links, reason = find_links(task.graph)
    if links is None:
        return reason
    most = max(ALWAYS_AFFORDABLE_BYTES, 8 * task.graph.log_tables.nbytes)
    if not forced and not (
        memory_limits.fits_in_memory(links.bytes, task.max_memory) and links.bytes <= most
    ):
        return "its links would be large"
    chain = estimate_weight_bytes(task, layout.kind)
    need = chain + links.bytes
    return Proposal(
        kind=layout.kind,
        memory=need,
        chain_memory=chain,
        has_growing_memory=False,
        min_block_sweeps=1,
        check=task.limit(need, "couplings and weights"),
        make=lambda: layout.of(
            task, compile_links(links), memory=need, chain_memory=chain, hashed=False
        ),
    )

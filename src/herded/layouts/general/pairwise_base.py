"""The base of layouts of pair interactions: links between neighbours."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from herded.layouts.general.site_base import SiteLayout, estimate_weight_bytes
from herded.layouts.proposal import LayoutRequest, Proposal, Refusal
from herded.models.factor_graph import FactorGraph
from herded.system import memory_limits

ALWAYS_AFFORDABLE_BYTES = 2**26  # links and rows may always take as much


class SizedLinks(Protocol):
    """Links between neighbours, before they are laid out."""

    @property
    def bytes(self) -> float:
        """Memory of their arrays."""


Links = TypeVar("Links", bound=SizedLinks)


def propose_pairwise(
    layout: type[SiteLayout],
    task: LayoutRequest,
    forced: bool,
    find_links: Callable[[FactorGraph], Links | Refusal],
    compile_links: Callable[[Links], tuple[Any, ...]],
) -> Proposal | Refusal:
    """Propose to lay out the links that `find_links` finds.

    Rows are all as wide as the widest variable, so that their size is limited unless `forced`.
    """
    if task.draw.weights not in (None, "pooled"):
        return Refusal(f"weights={task.draw.weights!r} does not run on it")
    links = find_links(task.graph)
    if isinstance(links, Refusal):
        return links
    if not forced and not is_affordable(links.bytes, task):
        return Refusal("its links would be large")
    return task.offer(
        layout,
        tables=links.bytes,
        chain=estimate_weight_bytes(task, layout.kind),
        what="couplings and weights",
        make=lambda **facts: layout.build(task, compile_links(links), **facts),
    )


def is_affordable(links: float, task: LayoutRequest) -> bool:
    """Return whether `links` bytes fit in memory and are not far more than the factors take."""
    most = max(ALWAYS_AFFORDABLE_BYTES, 8 * task.graph.log_tables.nbytes)
    return memory_limits.fits_in_memory(links, task.max_memory) and links <= most

"""Blocks of variables that are moved at once, exactly, given the rest.

Single moves cannot pass hard zeros, and hardly pass strong couplings. A block's joint conditional
is found by elimination: its variables are summed out one after another, and drawn in opposite
order.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from herded.draws.protocol import Draw
from herded.errors import MethodError
from herded.layouts.blocks.layout import BLOCKS_KIND, propose_blocks
from herded.layouts.proposal import LayoutRequest, Proposal
from herded.models.factor_graph import to_factor_graph
from herded.models.naming import variable_index, variable_text
from herded.models.protocol import Model
from herded.moves.blocks.block_selection import BlockChoice, choose_blocks, elimination_order_within
from herded.system.argument_checks import as_integer, short_repr
from herded.system.memory_limits import Size


@dataclass(frozen=True)
class Blocks:
    """Moves of whole blocks of variables at once: `Gibbs(moves=hd.Blocks())`.

    A block is drawn exactly from its joint conditional given the rest, so that hard zeros and
    strong couplings within it are no obstacle. A sweep moves as many blocks, in turn, as move a
    variable about once on average: often a single one.

    Parameters
    ----------
    entries
        Entries that a table may have in the computation of a block's conditional. More make larger
        blocks, and each move dearer.
    count
        How many blocks are chosen, each cut out of the model at other places. One is enough where
        it holds the whole model: then sweeps are independent, exact samples.
    blocks
        Blocks of your own instead: lists of variables, by number, name or pixel. Known variables
        among them are left out; every other variable must be in one.

    Examples
    --------
    Two variables that are always equal never change one at a time:

    >>> pair = hd.FactorGraph([2, 2], [((0, 1), np.log([[0.3, 1e-300], [1e-300, 0.7]]))])
    >>> method = hd.Gibbs(moves=hd.Blocks())
    >>> hd.infer(pair, method, sweeps=10_000).marginals[:, 1].round(1)
    array([0.7, 0.7])
    """

    entries: int = 256
    count: int = 16
    blocks: Sequence[Sequence[Hashable]] | None = None

    def __post_init__(self) -> None:
        for name, value, least in (("entries", self.entries, 2), ("count", self.count, 1)):
            try:
                number = as_integer(name, value)
            except ValueError:
                number = 0
            if number < least:
                raise MethodError(
                    f"expected {name} of Blocks as a whole number of {least} or more, got "
                    f"{short_repr(value)}"
                )
        if self.blocks is not None:
            object.__setattr__(self, "blocks", _freeze_blocks(self.blocks))

    def to_dict(self) -> dict[str, Any]:
        """Return the options as JSON can write them."""
        blocks = None if self.blocks is None else [_to_lists(block) for block in self.blocks]
        return {"type": "Blocks", "entries": self.entries, "count": self.count, "blocks": blocks}

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
        """Propose the layout of blocks."""
        if kind not in (None, BLOCKS_KIND):
            raise MethodError(f"expected no layout= with moves=Blocks(..), got {kind!r}: drop it")
        task = LayoutRequest(model, draw, "sequential", max_memory)
        return propose_blocks(task, *self.choose(model))

    def choose(self, model: Model) -> BlockChoice:
        """Return the blocks for a model, each in its order of elimination."""
        graph = to_factor_graph(model)
        if self.blocks is None:
            return choose_blocks(graph, self.entries, self.count)
        movable = (graph.evidence < 0) & (graph.cardinalities > 1)
        left, blocks, most = movable.copy(), [], 0.0
        for b, given in enumerate(self.blocks):
            inside = np.array([variable_index(model, key) for key in given], np.int64)
            if len(np.unique(inside)) < len(inside):
                raise MethodError(
                    f"expected every variable once in block {b}, got {short_repr(given)}"
                )
            inside = inside[movable[inside]]
            if not len(inside):
                continue
            order, largest, entries = elimination_order_within(graph, inside)
            if largest > max(self.entries, graph.cardinalities[inside].max()):
                raise MethodError(
                    f"expected blocks whose tables have at most {self.entries:,} entries, but "
                    f"block {b} takes one of {round(largest):,}: split it, or pass "
                    f"Blocks(entries={round(largest)}, ..)"
                )
            left[inside] = False
            blocks.append(order)
            most = max(most, entries)
        if left.any():
            first = variable_text(model, int(np.flatnonzero(left)[0]))
            raise MethodError(
                f"expected every variable that is not known in a block, but {first} is in none"
                f"{f', nor are {left.sum() - 1} others' if left.sum() > 1 else ''}: add them, in "
                "separate blocks if necessary"
            )
        return BlockChoice(blocks, most)


def _freeze_blocks(blocks: object) -> tuple[tuple[Hashable, ...], ...]:
    """Return lists of variables as tuples, which can be compared and have a full `repr`."""
    rule = "expected blocks= as lists of variables, such as [[0, 1], [1, 2]]"

    def listed(value: object) -> list[Any]:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise MethodError(f"{rule}, got {short_repr(value)}")
        return value.tolist() if isinstance(value, np.ndarray) else list(value)

    found = tuple(tuple(_plain_key(key) for key in listed(block)) for block in listed(blocks))
    if not found:
        raise MethodError(f"{rule}, got none")
    return found


def _to_lists(key: object) -> object:
    """Return a block, or a variable in it, with lists in place of tuples."""
    return [_to_lists(part) for part in key] if isinstance(key, tuple) else key


def _plain_key(key: Hashable) -> Hashable:
    """Return a variable as Python writes it: a number, a name or a pixel."""
    if isinstance(key, (list, tuple)):
        return tuple(_plain_key(part) for part in key)
    return int(key) if isinstance(key, np.integer) else key

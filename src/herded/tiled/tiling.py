"""The division of a lattice into tiles, and which tiles are neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass

from herded.errors import MethodError
from herded.system.argument_checks import is_whole_number
from herded.tiled.tile import TilePosition

SIDES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


@dataclass(frozen=True)
class Tiling:
    """Tiles of `tile` (rows, columns) sites, smaller at the lower and right border if need be."""

    shape: tuple[int, ...]
    tile: tuple[int, int]
    periodic: bool = False

    @property
    def grid(self) -> tuple[int, int]:
        """The numbers of rows and columns of tiles."""
        (height, width), (rows, columns) = self.shape, self.tile
        return -(-height // rows), -(-width // columns)

    @property
    def places(self) -> list[TilePosition]:
        """The places of all tiles, row by row."""
        height, width = self.shape
        rows, columns = self.tile
        return [
            TilePosition(top, left, min(top + rows, height), min(left + columns, width))
            for top in range(0, height, rows)
            for left in range(0, width, columns)
        ]

    def neighbours(self, number: int) -> dict[str, int]:
        """Return the numbers of the tiles around tile `number`, by side."""
        down, across = self.grid
        r, c = divmod(number, across)
        around = {side: (r + a, c + b) for side, (a, b) in SIDES.items()}
        return {
            side: a % down * across + b % across
            for side, (a, b) in around.items()
            if self.periodic or (0 <= a < down and 0 <= b < across)
        }

    @property
    def ranks(self) -> list[tuple[int, ...]]:
        """Return bands in ranks, so that neighbours are at most one rank apart.

        A periodic lattice is a ring of bands, which is folded: the first band pairs with the last.
        """
        bands = self.grid[0]
        if not self.periodic:
            return [(band,) for band in range(bands)]
        return [tuple(sorted({k, bands - 1 - k})) for k in range((bands + 1) // 2)]


def check_tile(tile: int | Sequence[int], shape: tuple[int, ...]) -> tuple[int, int]:
    """Check `tile=` and return rows and columns; one number means rows of full width."""
    sides: object = (tile, shape[1] + shape[1] % 2) if is_whole_number(tile, 1) else tile
    if not (
        isinstance(sides, Sequence)
        and len(sides) == 2
        and all(is_whole_number(s, 2) for s in sides)
    ):
        raise MethodError(
            f"expected tile= as rows, or as a pair of rows and columns, of 2 or more, got {tile!r}"
        )
    rows, columns = (
        min(int(side), most + most % 2) for side, most in zip(sides, shape, strict=True)
    )
    if rows % 2 or columns % 2:
        raise MethodError(
            "expected even sides of tiles, so that colours have the same pattern in all tiles, got "
            f"{tile!r}"
        )
    return rows, columns

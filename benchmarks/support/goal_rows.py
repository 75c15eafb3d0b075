"""A goal, what was measured for it, and whether it is met."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

HEAD = ("| work | goal | ours | peer | ratio | met |", "|---|---|---|---|---|---|")


@dataclass(frozen=True)
class GoalRow:
    """Ours over the peer's is to be at most `most`, which `goal` says in words."""

    work: str
    goal: str
    most: float
    ours: float
    peer: float
    unit: str = ""
    whose: str = ""  # of several peers, the best

    @property
    def ratio(self) -> float:
        return self.ours / self.peer if self.peer else float("inf")  # too short to be timed

    def line(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        whose = f" ({self.whose})" if self.whose else ""
        return (
            f"| {self.work} | {self.goal} | {self.ours:.3g}{unit} | {self.peer:.3g}{unit}{whose} "
            f"| {self.ratio:.3f} | {'yes' if self.ratio <= self.most else 'no'} |"
        )


def table(rows: Iterable[GoalRow]) -> Iterator[str]:
    """Row after row, as they are measured."""
    yield from HEAD
    for row in rows:
        yield row.line()

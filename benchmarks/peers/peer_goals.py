"""The goals that were set for speed, and whether this run meets them."""

from collections.abc import Callable, Iterator

from benchmarks.accuracy.time_to_accuracy import GIVEN, is_ours
from benchmarks.peers.protocol import LAST, VISITS
from benchmarks.speed.update_cost import is_herding
from benchmarks.support.results_store import Book

# Work, most ns per update, and the least ratio of every peer's ns to ours, if one was set.
SPEED = (
    ("Ising 512x512", 1.0, 3.0),
    ("Ising 4096x4096", 1.5, None),
    ("10,000 spins, degree 6", 10.0, None),
    ("Potts 128x128, K = 8", 30.0, None),
)
REACH = (("Ising 10x10, J and h to 0.3", 1e-3, 10.0), ("Ising 10x10, J and h to 1", 1e-3, 10.0))


def lines(book: Book) -> Iterator[str]:
    yield "## Goals"
    yield ""
    yield "Ours is the fastest herded Gibbs; the peer is the fastest that is not ours."
    yield ""
    yield "| work | goal | ours | best peer | ratio | met |"
    yield "|---|---|---|---|---|---|"
    for work, most, ratio in SPEED:
        for keep in (LAST, VISITS):
            yield speed_row(work, keep, most, ratio, book)
    for work, error, ratio in REACH:
        yield reach_row(work, error, ratio, book)


def reach_row(work: str, error: float, ratio: float, book: Book) -> str:
    """In at most a share of every peer's time; one that was given up on has taken at least that."""
    ours, peers = split(book.find(work, f"ms to {error:g}", "time-to-accuracy"), is_ours)
    goal = f"error {error:g} in at most 1/{ratio:g} of the best peer's time"
    over = ""
    if peers is None:
        over, peers = "over ", book.find(work, GIVEN, "time-to-accuracy").get("a run")
    return row(work, goal, "ms", ours, peers, lambda a, b: b / a >= ratio, over)


def speed_row(work: str, keep: str, most: float, ratio: float | None, book: Book) -> str:
    """At most so many nanoseconds, and perhaps a share of every peer's."""
    ours, peers = split(book.find(work, f"ns, {keep}", "speed"), is_herding)
    share = f" and 1/{ratio:g} of every peer's" if ratio else ""
    return row(
        f"{work}, {keep}",
        f"at most {most:g} ns{share}",
        "ns",
        ours,
        peers,
        lambda a, b: a <= most and (ratio is None or b / a >= ratio),
    )


def split(
    found: dict[str, float], mine: Callable[[str], bool]
) -> tuple[float | None, float | None]:
    """The least of ours and the least of the others, without our plain Gibbs."""
    ours = [value for name, value in found.items() if mine(name)]
    peers = [value for name, value in found.items() if not name.startswith("herded")]
    return min(ours, default=None), min(peers, default=None)


def row(
    work: str,
    goal: str,
    unit: str,
    ours: float | None,
    peers: float | None,
    met: Callable[[float, float], bool],
    over: str = "",
) -> str:
    """One line of the table; `over` goes before what is known of the peers."""
    if ours is None or peers is None:
        return f"| {work} | {goal} | - | - | - | not measured in this run |"
    verdict = "yes" if met(ours, peers) else "no"
    return (
        f"| {work} | {goal} | {ours:.2f} {unit} | {over}{peers:.2f} {unit} "
        f"| {over}{peers / ours:.2f} | {verdict} |"
    )

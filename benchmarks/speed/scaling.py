"""How cost grows with the number of sites, the degree, the number of states and of models."""

from collections.abc import Iterable, Iterator

from benchmarks.peers.distribution_check import obstacle
from benchmarks.peers.handwritten.grid import Checkerboard, Raster
from benchmarks.peers.handwritten.potts import Potts
from benchmarks.peers.handwritten.spin_graph import Flips, Sums
from benchmarks.peers.herded_contender import METHODS
from benchmarks.peers.protocol import LAST, Peer
from benchmarks.speed import many_models
from benchmarks.support.results_store import Book
from benchmarks.support.timing import costs
from benchmarks.support.workloads import Work, ising_grid, potts_grid, random_graph

SHARED, BLANKET, POOLED, _ = METHODS


def lines(quick: bool, peers: tuple[Peer, ...], book: Book) -> Iterator[str]:
    yield "## How cost grows"
    yield ""
    yield "CPU ns per update of runs that give their last state, beside the expert's by hand."
    yield "Layouts may take 256 MiB."
    sides = (64, 256, 1024) if quick else (64, 256, 1024, 2048, 4096, 8192)
    grid_peers = (SHARED, Raster(), Checkerboard())
    yield from table("sites", map(ising_grid, sides), grid_peers, quick, book)
    degrees = (2, 6, 20) if quick else (2, 4, 6, 10, 20, 50, 100, 200)
    graphs = (random_graph(10_000 if degree <= 20 else 2_000, degree) for degree in degrees)
    yield from table("degree", graphs, (BLANKET, POOLED, Sums(), Flips()), quick, book)
    states = (2, 8) if quick else (2, 4, 8, 16, 32, 64)
    grids = (potts_grid(32 if quick else 128, k) for k in states)
    yield from table("states", grids, (POOLED, Potts()), quick, book)
    yield from models((1, 10, 100) if quick else (1, 10, 100, 1_000, 10_000), book)


def table(
    what: str, works: Iterable[Work], peers: tuple[Peer, ...], quick: bool, book: Book
) -> Iterator[str]:
    """One row for each work, one column for each peer."""
    yield ""
    yield f"| {what} | " + " | ".join(peer.name for peer in peers) + " |"
    yield "|---|" + "---|" * len(peers)
    for work in works:
        able = [peer for peer in peers if obstacle(peer, work, LAST) is None]
        runs = {peer.name: peer.prepare(work, LAST) for peer in able}
        found = costs(runs, seconds=0.05 if quick else 0.2, repeats=3 if quick else 5)
        nanoseconds = {name: one.sweep / work.n_variables * 1e9 for name, one in found.items()}
        for name, value in nanoseconds.items():
            book.note("scaling", work.name, name, "ns", value)
        cells = (f"{nanoseconds[p.name]:.2f}" if p.name in nanoseconds else "-" for p in peers)
        yield f"| {work.name} | " + " | ".join(cells) + " |"


def models(counts: Iterable[int], book: Book) -> Iterator[str]:
    """Microseconds for each of many small models."""
    solvers = {
        "herded, blanket": many_models.OURS["herded, blanket"],
        Sums.name: many_models.one_by_one(Sums()),
    }
    yield ""
    yield "| models | " + " | ".join(f"{name}, us each" for name in solvers) + " |"
    yield "|---|" + "---|" * len(solvers)
    for count in counts:
        work = f"{count:,} models"
        many_models.measure(solvers, count, 1 if count > 1_000 else 3, work, book, "scaling")
        taken = book.find(work, "us per model", "scaling")
        yield f"| {count:,} | " + " | ".join(f"{taken[name]:,.0f}" for name in solvers) + " |"

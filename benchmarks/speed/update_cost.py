"""CPU nanoseconds per update, `herded` beside its peers on the same work."""

from collections.abc import Iterable, Iterator

from benchmarks.peers.distribution_check import obstacle
from benchmarks.peers.protocol import LAST, VISITS, Peer, Run
from benchmarks.support.results_store import Book
from benchmarks.support.timing import costs
from benchmarks.support.workloads import (
    Work,
    constant_grid,
    ising_grid,
    potts_grid,
    random_graph,
    uneven_grid,
)


def works(quick: bool) -> Iterator[Work]:
    yield ising_grid(128 if quick else 512)
    yield constant_grid(128 if quick else 512)
    if not quick:
        yield ising_grid(4096)
    yield uneven_grid(10, 0.3)
    yield random_graph(10_000, 6)
    yield potts_grid(32 if quick else 128, 8)


def lines(quick: bool, peers: tuple[Peer, ...], book: Book) -> Iterator[str]:
    yield "## Speed beside peers"
    yield ""
    yield "CPU ns per update of one variable, all threads counted, without the cost of a call and"
    yield "without the system's part: for a run that gives its last state only, and for one that"
    yield "also counts visits (marginals). Runs are long: pooled weights have many bins by then."
    yield "Ratios are to the fastest herded Gibbs in the same column."
    for work in works(quick):
        yield ""
        yield f"### {work.name}"
        yield ""
        yield from table(work, peers, quick, book)


def table(work: Work, peers: Iterable[Peer], quick: bool, book: Book) -> Iterator[str]:
    """Who took how long, and who did not run and why."""
    reasons: dict[str, str] = {}
    for keep in (LAST, VISITS):
        runs: dict[str, Run] = {}
        for peer in peers:
            reason = obstacle(peer, work, keep)
            if reason is None:
                runs[peer.name] = peer.prepare(work, keep)
            elif keep == LAST:
                reasons[peer.name] = reason
        found = costs(runs, seconds=0.05 if quick else 0.2, repeats=3 if quick else 7)
        for name, cost in found.items():
            book.note("speed", work.name, name, f"ns, {keep}", cost.sweep / work.n_variables * 1e9)
            book.note("speed", work.name, name, f"ms per call, {keep}", cost.call * 1e3)
    yield "| sampler | last state | ratio | with marginals | ratio |"
    yield "|---|---|---|---|---|"
    last, visits = (book.find(work.name, f"ns, {keep}", "speed") for keep in (LAST, VISITS))
    for name in sorted(last, key=lambda name: last[name]):
        yield f"| {name} | {_cells(last, name)} | {_cells(visits, name)} |"
    if reasons:
        yield ""
        yield "Not run: " + "; ".join(f"{name} ({why})" for name, why in reasons.items()) + "."


def _cells(found: dict[str, float], name: str) -> str:
    if name not in found:
        return "- | -"
    ours = [ns for other, ns in found.items() if is_herding(other)]
    ratio = f"{found[name] / min(ours):.1f}" if ours else "-"
    return f"{found[name]:.2f} | {ratio}"


def is_herding(name: str) -> bool:
    """Herded Gibbs, not our plain Gibbs."""
    return name.startswith("herded") and not name.endswith("Gibbs")

"""Many small models, each met once: from arrays to marginals, whatever that takes."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

import herded as hd
from benchmarks.peers import registry
from benchmarks.peers.annealers import Dwave
from benchmarks.peers.exact_engines import Pgmpy, PyAgrum
from benchmarks.peers.handwritten.spin_graph import Sums
from benchmarks.peers.protocol import VISITS, Peer
from benchmarks.support.results_store import Book
from benchmarks.support.timing import cpu_seconds
from benchmarks.support.workloads import IsingGraph, random_graph

VARIABLES, DEGREE, SWEEPS = 12, 3, 1_000
Solve = Callable[[list[IsingGraph]], list[np.ndarray]]


def herded(method: object) -> Solve:
    """Through `infer_many`."""

    def solve(works: list[IsingGraph]) -> list[np.ndarray]:
        models = [work.model for work in works]
        return [found.marginals for found in hd.infer_many(models, method, sweeps=SWEEPS)]

    return solve


def one_by_one(peer: Peer) -> Solve:
    def solve(works: list[IsingGraph]) -> list[np.ndarray]:
        return [peer.prepare(work, VISITS)(SWEEPS, 0) for work in works]

    return solve


OURS: dict[str, Solve] = {
    "herded, blanket": herded(hd.HerdedGibbs()),
    "herded, exact": herded(hd.Exact()),
}
# Not the samplers that compile for every model, which takes seconds.
INSTALLED: tuple[Peer, ...] = (Dwave("Gibbs"), PyAgrum(), Pgmpy())
SLOW = {Pgmpy.name: 20}  # models, of which each takes the better part of a second


def small_models(count: int) -> list[IsingGraph]:
    return [random_graph(VARIABLES, DEGREE, seed) for seed in range(count)]


def lines(quick: bool, peers: tuple[Peer, ...], book: Book) -> Iterator[str]:
    yield "## Many small models"
    yield ""
    count = 100 if quick else 1_000
    yield f"{count:,} models of {VARIABLES} spins, degree {DEGREE}: CPU microseconds per model from"
    yield f"arrays to marginals, {SWEEPS:,} sweeps where it samples; and the mean marginal error."
    yield ""
    solvers, reasons = dict(OURS), {}
    packages = any(peer in registry.INSTALLED for peer in peers)
    for peer in (Sums(), *(INSTALLED if packages else ())):
        reason = peer.obstacle(small_models(1)[0], VISITS)
        if reason:
            reasons[peer.name] = reason
        else:
            solvers[peer.name] = one_by_one(peer)
    work = f"{count:,} models"
    measure(solvers, count, 1 if quick else 3, work, book)
    taken, errors = (
        book.find(work, quantity, "many-models") for quantity in ("us per model", "mean error")
    )
    base = taken["herded, blanket"]
    yield "| solver | us per model | ratio | mean error |"
    yield "|---|---|---|---|"
    for name in sorted(taken, key=lambda name: taken[name]):
        yield f"| {name} | {taken[name]:,.0f} | {taken[name] / base:.2f} | {errors[name]:.1e} |"
    if reasons:
        yield ""
        yield "Not run: " + "; ".join(f"{name} ({why})" for name, why in reasons.items()) + "."


def measure(
    solvers: dict[str, Solve],
    count: int,
    repeats: int,
    work: str,
    book: Book,
    part: str = "many-models",
) -> None:
    """Note what each takes; they take turns, on fresh copies that remember nothing."""
    drawn = small_models(count)
    truth = [hd.infer(one.model, hd.Exact()).marginals for one in drawn]
    seconds: dict[str, list[float]] = {name: [] for name in solvers}
    errors: dict[str, float] = {}
    for solve in solvers.values():
        solve([replace(one) for one in drawn[:2]])  # compiles
    for _ in range(repeats):
        for name, solve in solvers.items():
            mine = [replace(one) for one in drawn[: SLOW.get(name, count)]]
            answers: list[np.ndarray] = []
            taken = cpu_seconds(lambda s=solve, m=mine, a=answers: a.extend(s(m)))
            seconds[name].append(taken / len(mine))
            errors[name] = float(
                np.mean([np.abs(a - b).mean() for a, b in zip(answers, truth, strict=False)])
            )
    for name, each in seconds.items():
        book.note(part, work, name, "us per model", np.median(each) * 1e6)
        book.note(part, work, name, "mean error", errors[name])

"""The page that sets `herded` beside its peers."""

from collections.abc import Iterator

from benchmarks.accuracy import time_to_accuracy
from benchmarks.peers import peer_goals
from benchmarks.peers.registry import EVERYONE, WITHOUT_PACKAGES
from benchmarks.speed import many_models, scaling, update_cost
from benchmarks.support import machine
from benchmarks.support.results_store import Book

SECTIONS = {
    "speed": update_cost,
    "many-models": many_models,
    "time-to-accuracy": time_to_accuracy,
    "scaling": scaling,
}


def lines(quick: bool, packages: bool, book: Book, only: str | None = None) -> Iterator[str]:
    """All sections, or one of them; then the goals, as far as they were measured."""
    peers = EVERYONE if packages else WITHOUT_PACKAGES
    yield "## Beside other packages"
    yield ""
    flags = f"--only {only or 'peers'}{' --peers' if packages else ''}{' --quick' if quick else ''}"
    yield machine.sentence(f"python -m benchmarks {flags}")
    yield "Every sampler has first shown that it samples from the right distribution, on a small"
    yield "model of the same kind. Times are CPU times, medians of repeats that take turns."
    yield ""
    for name, section in SECTIONS.items():
        if only in (None, name):
            book.forget(name)
            yield from section.lines(quick, peers, book)
            yield ""
    yield from peer_goals.lines(book)

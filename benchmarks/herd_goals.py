"""The goals that were set for herds: how much more accurate, and how much faster."""

from collections.abc import Iterator
from itertools import chain
from textwrap import wrap

from benchmarks import goal_rows, herd_accuracy, herd_speed, machine


def lines(quick: bool) -> Iterator[str]:
    yield "## Herds: goals"
    yield ""
    yield machine.sentence("python -m benchmarks --only herd-goals" + " --quick" * quick)
    yield herd_speed.target()
    yield ""
    words = f"{herd_accuracy.words(quick)} {herd_speed.WORDS}"
    yield from wrap(words, 100, break_on_hyphens=False)
    yield ""
    yield from goal_rows.table(chain(herd_accuracy.rows(quick), herd_speed.rows(quick)))

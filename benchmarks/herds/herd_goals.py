"""The goals that were set for herds: how much more accurate, and how much faster."""

from collections.abc import Iterator
from itertools import chain
from textwrap import wrap

from benchmarks.herds import herd_accuracy_goals, herd_speed_goals
from benchmarks.support import goal_rows, machine


def lines(quick: bool) -> Iterator[str]:
    yield "## Herds: goals"
    yield ""
    yield machine.sentence("python -m benchmarks --only herd-goals" + " --quick" * quick)
    yield herd_speed_goals.target()
    yield ""
    words = f"{herd_accuracy_goals.words(quick)} {herd_speed_goals.WORDS}"
    yield from wrap(words, 100, break_on_hyphens=False)
    yield ""
    yield from goal_rows.table(chain(herd_accuracy_goals.rows(quick), herd_speed_goals.rows(quick)))

"""A progress bar, shown on a terminal and in a notebook."""

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from herded.system.compilation.jit import is_compiling

BAR_DELAY_SECONDS = 0.5  # seconds before a bar appears, so that short runs show none
COMPILING_TEXT = "compiling, once"
UPDATE_SECONDS = 0.2  # seconds between two updates: each is a message


@dataclass(frozen=True)
class Snapshot:
    """The current state of a run, as the function of `infer(callback=...)` gets it.

    Attributes
    ----------
    sweeps : int
        Recorded so far, in each chain.
    seconds : float
        Since the run began.
    chain_marginals : callable
        Gives the marginals of each chain, (chains, N, K), or None where there are none yet. They
        are computed when it is called.
    best : callable
        Gives the best log-score so far, or None where it is not kept.
    states : callable
        Gives the states of all chains now, (chains, N) or (chains, H, W), where the members of a
        herd count as chains; None of a solver, which has no states.

    Examples
    --------
    >>> seen = []
    >>> def look(snapshot):
    ...     seen.append((snapshot.sweeps, snapshot.states().shape))
    >>> model = hd.ising_grid(np.zeros((4, 4)), 0.5)
    >>> result = hd.infer(model, hd.Gibbs(herd=8), sweeps=100, callback=look)
    >>> seen[-1]
    (100, (8, 4, 4))
    """

    sweeps: int  # recorded, per chain
    seconds: float
    chain_marginals: Callable[[], Any]  # (chains, N, K), or None where there are none yet
    best: Callable[[], float | None]  # the best log-score, where it is kept
    states: Callable[[], Any]  # (chains, *shape) as they are now, or None


SnapshotCallback = Callable[[Snapshot], str | None]


class Progress:
    """A progress bar, shown if somebody can see it and the run takes a while."""

    def __init__(
        self, wanted: bool | None, total: int | None, what: str, units: str = "sweeps"
    ) -> None:
        seen = is_notebook() or (sys.stderr is not None and sys.stderr.isatty())
        self.watched = seen and (wanted is None or bool(wanted))
        self.total, self.what, self.units = total, what, units
        self.began = time.perf_counter()
        self.bar: Any = None
        self.task: Any = None
        self.opening = threading.Lock()
        self.begun: threading.Event | None = None  # set at the first update

    @classmethod
    def of_run(
        cls, wanted: bool | None, what: str, sweeps: int, seconds: float | None, *, brief: bool
    ) -> "Progress":
        """Return a bar over sweeps, or over seconds for a run with a time limit."""
        units = "sweeps" if seconds is None else "seconds"
        bar = cls(wanted, sweeps if seconds is None else int(seconds), what, units)
        if not brief:
            bar.expect_compilers()
        return bar

    def expect_compilers(self) -> None:
        """Show the bar also before the first update, if kernels are being compiled then.

        This needs a thread, so very short runs do not use it.
        """
        if self.watched:
            self.begun = threading.Event()
            threading.Thread(target=self._look, args=(self.begun,), daemon=True).start()

    def _look(self, begun: threading.Event) -> None:
        while not begun.wait(BAR_DELAY_SECONDS):
            if is_compiling():
                with self.opening:
                    if not begun.is_set():
                        self._open(0, "")
                return

    def update(self, done: int, note: str = "") -> None:
        if not self.watched:
            return
        self._begin()
        with self.opening:
            if self.bar is not None:
                self.bar.update(self.task, completed=done, note=note)
            elif time.perf_counter() - self.began > BAR_DELAY_SECONDS:
                self._open(done, note)

    def _open(self, done: int, note: str) -> None:
        if is_notebook():
            self.bar = NotebookBar(self.what, self.total, self.units)
            self.bar.update(self.task, completed=done, note=note)
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Task,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import (
            Progress as Bar,
        )
        from rich.text import Text

        class Note(TextColumn):
            """The text next to the bar: a note of the run, or that kernels are being compiled."""

            def render(self, task: Task) -> Text:
                return Text(COMPILING_TEXT) if is_compiling() else super().render(task)

        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(self.units),
            TimeRemainingColumn(),
            Note("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task(self.what, total=self.total, completed=done, note=note)
        self.bar.start()

    def _begin(self) -> None:
        if self.begun is not None:
            self.begun.set()

    def close(self) -> None:
        self._begin()
        with self.opening:
            if self.bar is not None:
                self.bar.stop()


def is_notebook() -> bool:
    """Return whether this runs in the kernel of a notebook; imports nothing."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class NotebookBar:
    """The progress bar in a notebook."""

    def __init__(self, what: str, total: int | None, units: str) -> None:
        from IPython.display import HTML, display

        self.what, self.total, self.units = what, total, units
        self.html = HTML
        self.began, self.shown = time.perf_counter(), -UPDATE_SECONDS
        self.handle: Any = display(HTML(""), display_id=True)

    def update(self, task: None, *, completed: int, note: str) -> None:
        """Show how far it is, not too often."""
        now = time.perf_counter()
        if now - self.shown >= UPDATE_SECONDS:
            self.shown = now
            words = "compiling, once" if is_compiling() else note
            self.handle.update(self.html(self._text(completed, words, now - self.began)))

    def _text(self, done: int, note: str, seconds: float) -> str:
        most = f' max="{self.total}" value="{done}"' if self.total else ""
        length = f"{done:,} of {self.total:,}" if self.total else f"{done:,}"
        left = ""
        if self.total and done:
            left = f", {seconds * (self.total - done) / done:.0f} s left"
        words = f"{self.what} {length} {self.units}{left} {note}"
        return f'<progress style="width:20em"{most}></progress> {escape(words)}'

    def stop(self) -> None:
        """Take the bar away, as on a terminal."""
        self.handle.update(self.html(""))

"""A progress bar in a notebook: a piece of HTML that the kernel updates, and takes away."""

import sys
import time
from html import escape
from typing import Any

PACE = 0.2  # seconds between two updates: each is a message


def is_notebook() -> bool:
    """Whether this runs in the kernel of a notebook; imports nothing."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class NotebookBar:
    """What `Progress` shows in a notebook."""

    def __init__(self, what: str, total: int | None, units: str) -> None:
        from IPython.display import HTML, display

        self.what, self.total, self.units = what, total, units
        self.html = HTML
        self.began, self.shown = time.perf_counter(), -PACE
        self.handle: Any = display(HTML(""), display_id=True)

    def update(self, task: None, *, completed: int, note: str) -> None:
        """Show how far it is, not too often."""
        from herded.system.compilation.jit import is_compiling

        now = time.perf_counter()
        if now - self.shown >= PACE:
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

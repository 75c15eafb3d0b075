"""A progress bar on a terminal, nothing in a pipe; and Ctrl-C that waits for the sweep."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

PATIENCE = 0.5  # seconds before a bar appears: short runs stay silent and quick


class Progress:
    """Shows how far a run is, if anybody is watching and it takes a while."""

    def __init__(self, wanted: bool | None, total: int, what: str, units: str = "sweeps") -> None:
        seen = sys.stderr is not None and sys.stderr.isatty()
        self.watched = seen and (wanted is None or bool(wanted))
        self.total, self.what, self.units = total, what, units
        self.began = time.perf_counter()
        self.bar: Any = None
        self.task: Any = None

    def update(self, done: int, note: str = "") -> None:
        if not self.watched:
            return
        if self.bar is None and time.perf_counter() - self.began > PATIENCE:
            self._open()
        if self.bar is not None:
            self.bar.update(self.task, completed=done, note=note)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(self.units),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task(self.what, total=self.total, note="")
        self.bar.start()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


_halt: threading.Event | None = None


@contextlib.contextmanager
def interrupted_together() -> Iterator[None]:
    """Within it Ctrl-C ends all runs, also those in threads, with a KeyboardInterrupt.

    For work of many runs, of which a part is no use. The signal sets an event that every run looks
    at: an exception raised by the handler itself could get lost in a callback of a compiler.
    """
    global _halt
    _halt = halt = threading.Event()

    def handle(number: int, frame: Any) -> None:
        halt.set()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
        _raise_if(halt)
    finally:
        signal.signal(signal.SIGINT, before)
        _halt = None


def _raise_if(event: threading.Event) -> None:
    if event.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets instead of raising; a second Ctrl-C raises as usual."""
    stop = threading.Event()
    if _halt is not None:
        yield _halt
        _raise_if(_halt)
        return
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: Any) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    if before is not None:
        signal.signal(signal.SIGINT, handle)
    try:
        yield stop
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)

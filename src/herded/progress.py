"""A progress bar on a terminal, nothing in a pipe; and Ctrl-C that waits for the sweep."""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

PATIENCE = 0.5  # seconds before a bar appears: short runs stay silent and quick
COMPILING = "compiling, once"


@dataclass(frozen=True)
class Moment:
    """A run as it is now, for whoever watches it; what takes time is computed when asked for."""

    sweeps: int  # recorded, per chain
    seconds: float
    chain_marginals: Callable[[], Any]  # (chains, N, K), or None where there are none yet
    best: Callable[[], float | None]  # the best log-score, where it is kept


Watch = Callable[[Moment], str | None]


class Progress:
    """Shows how far a run is, if anybody is watching and it takes a while."""

    def __init__(
        self, wanted: bool | None, total: int | None, what: str, units: str = "sweeps"
    ) -> None:
        seen = sys.stderr is not None and sys.stderr.isatty()
        self.watched = seen and (wanted is None or bool(wanted))
        self.total, self.what, self.units = total, what, units
        self.began = time.perf_counter()
        self.bar: Any = None
        self.task: Any = None
        self.opening = threading.Lock()
        self.begun: threading.Event | None = None  # for who waits for the first update

    @classmethod
    def of_run(
        cls, wanted: bool | None, what: str, sweeps: int, seconds: float | None, *, brief: bool
    ) -> "Progress":
        """Over sweeps, or over the seconds of a run that the clock ends."""
        units = "sweeps" if seconds is None else "seconds"
        bar = cls(wanted, sweeps if seconds is None else int(seconds), what, units)
        if not brief:
            bar.expect_compilers()
        return bar

    def expect_compilers(self) -> None:
        """Show the bar also before the first update, if kernels are being compiled then.

        It takes a thread to look, so a run that is over at once does without.
        """
        if self.watched:
            self.begun = threading.Event()
            threading.Thread(target=self._look, args=(self.begun,), daemon=True).start()

    def _look(self, begun: threading.Event) -> None:
        from herded.jit import is_compiling

        while not begun.wait(PATIENCE):
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
            elif time.perf_counter() - self.began > PATIENCE:
                self._open(done, note)

    def _open(self, done: int, note: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.text import Text

        from herded.jit import is_compiling

        class Note(TextColumn):
            """What the run says of itself, unless its compilers have the word."""

            def render(self, task: Any) -> Any:
                return Text(COMPILING) if is_compiling() else super().render(task)

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


# -- Ctrl-C, and SIGTERM where the program handles it ------------------------------------------

_halt: threading.Event | None = None
_stop: threading.Event | None = None


@contextlib.contextmanager
def interrupted_together() -> Iterator[None]:
    """Within it Ctrl-C ends all runs, also those in threads, with a KeyboardInterrupt.

    For work of many runs, of which a part is no use. The signal sets an event that every run looks
    at: an exception raised by the handler itself could get lost in a callback of a compiler. One
    within another shares its event; in a thread that is not the main one there are no signals.
    """
    global _halt
    if _halt is not None or threading.current_thread() is not threading.main_thread():
        yield
        raise_if_halted()
        return
    _halt = halt = threading.Event()
    try:
        with _setting(halt, once=False):
            yield
            _raise_if(halt)
    finally:
        _halt = None


def raise_if_halted() -> None:
    """What a loop over many runs calls now and then."""
    if _halt is not None:
        _raise_if(_halt)


def _raise_if(event: threading.Event) -> None:
    if event.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible(*, brief: bool = False) -> Iterator[threading.Event]:
    """An event that Ctrl-C sets instead of raising; a second Ctrl-C raises as usual.

    One within another shares its event. A `brief` one of its own sets no handlers: they would take
    longer than what they wait for, and in a loop of such runs Ctrl-C should end the loop.
    """
    global _stop
    if _halt is not None:
        yield _halt
        _raise_if(_halt)
    elif threading.current_thread() is not threading.main_thread():
        yield threading.Event()
    elif _stop is not None:
        yield _stop
    elif brief:
        yield threading.Event()
    else:
        _stop = stop = threading.Event()
        try:
            with _setting(stop, once=True):
                yield stop
        finally:
            _stop = None


@contextlib.contextmanager
def interrupted_afterwards() -> Iterator[threading.Event]:
    """Let Ctrl-C raise its KeyboardInterrupt at the end of the block, not within it.

    For imports and compilers, which may lose an exception or turn it into another one, and make
    Python forget that it was handled. Within an `interruptible` it is up to that.
    """
    within = _stop is not None
    with interruptible() as stop:
        yield stop
    if not within:
        _raise_if(stop)


@contextlib.contextmanager
def _setting(event: threading.Event, *, once: bool) -> Iterator[None]:
    """Let SIGINT set `event`, and SIGTERM too where the program's handler of it interrupts.

    What is ignored stays so: that is how a shell starts what it runs in the background.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def interrupt(number: int, frame: Any) -> None:
        event.set()
        if once:
            signal.signal(number, before[signal.Signals(number)])

    def terminate(number: int, frame: Any) -> None:
        try:
            before[signal.SIGTERM](number, frame)  # type: ignore[operator, misc]
        except KeyboardInterrupt:
            interrupt(number, frame)

    handlers: dict[signal.Signals, Any] = {}
    if before[signal.SIGINT] not in (None, signal.SIG_IGN):
        handlers[signal.SIGINT] = interrupt
    if callable(before[signal.SIGTERM]):
        handlers[signal.SIGTERM] = terminate
    for number, handler in handlers.items():
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in handlers:
            signal.signal(number, before[number])

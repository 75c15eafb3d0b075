"""Holding Ctrl-C back during work that an exception would leave half done.

An interrupted import leaves modules that stay broken in this process: Numba and the libraries it
loads then fail at every later use. Compilers may also lose an exception.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from herded.errors import Interrupted

NO_PART = "interrupted before the end: there is no partial result"
SAME_PRESS_SECONDS = 1.0  # wrappers such as `uv run` repeat a signal within this time


class HeldInterrupts:
    """Ctrl-C held back from `begin` to `end` in the main thread; elsewhere nothing happens."""

    def __init__(self) -> None:
        self.before: Callable[[int, FrameType | None], Any] | None = None
        self.pressed: float | None = None

    def begin(self) -> None:
        """Note signals from now on, if the program has a handler for them."""
        self.before = self.pressed = None
        if threading.current_thread() is not threading.main_thread():
            return
        before = signal.getsignal(signal.SIGINT)
        if callable(before):
            self.before = before
            signal.signal(signal.SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        """Note the first signal; deliver one that comes a second later or more at once."""
        if self.pressed is None:
            self.pressed = time.monotonic()
        elif time.monotonic() - self.pressed > SAME_PRESS_SECONDS:
            self.end()

    def end(self) -> None:
        """Restore the handler, and deliver the noted signal to it."""
        before, self.before = self.before, None
        if before is None:
            return
        signal.signal(signal.SIGINT, before)
        if self.pressed is not None:
            self.pressed = None
            try:
                signal.raise_signal(signal.SIGINT)
            except Interrupted:
                raise
            except KeyboardInterrupt as error:
                raise Interrupted(NO_PART) from error


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Deliver Ctrl-C at the end of the block, as `Interrupted`, not within it."""
    held = HeldInterrupts()
    held.begin()
    try:
        yield
    finally:
        held.end()

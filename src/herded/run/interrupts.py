"""Ctrl-C, and SIGTERM where the program handles it: a run ends after its block of sweeps."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

_halt: threading.Event | None = None
_stop: threading.Event | None = None


@contextlib.contextmanager
def interrupted_together() -> Iterator[None]:
    """Within it Ctrl-C ends all runs, also those in threads, with a KeyboardInterrupt.

    For work that consists of many runs and is of no use in part. The signal sets an event that
    every run checks, since an exception raised by the handler itself could get lost in a callback
    of a compiler. Nested uses share one event. Other threads than the main one get no signals.
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
    """Raise KeyboardInterrupt if Ctrl-C was pressed; loops over many runs call it."""
    if _halt is not None:
        _raise_if(_halt)


def _raise_if(event: threading.Event) -> None:
    if event.is_set():
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible(*, brief: bool = False) -> Iterator[threading.Event]:
    """An event that Ctrl-C sets instead of raising; a second Ctrl-C raises as usual.

    Nested uses share one event. With `brief`, no handlers are set unless it is nested: setting
    them would take longer than the run, and in a loop of such runs Ctrl-C should end the loop.
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

    For imports and compilers, which may lose an exception or turn it into another one. Inside
    `interruptible` that decides what Ctrl-C does.
    """
    within = _stop is not None
    with interruptible() as stop:
        yield stop
    if not within:
        _raise_if(stop)


@contextlib.contextmanager
def _setting(event: threading.Event, *, once: bool) -> Iterator[None]:
    """Let SIGINT set `event`, and SIGTERM too where the program's handler of it interrupts.

    A signal that is ignored stays ignored, as in programs that a shell starts in the background.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def interrupt(number: int, frame: FrameType | None) -> None:
        event.set()
        if once:
            signal.signal(number, before[signal.Signals(number)])

    theirs: Any = before[signal.SIGTERM]

    def terminate(number: int, frame: FrameType | None) -> None:
        try:
            theirs(number, frame)
        except KeyboardInterrupt:
            interrupt(number, frame)

    handlers: dict[signal.Signals, Any] = {}
    if before[signal.SIGINT] not in (None, signal.SIG_IGN):
        handlers[signal.SIGINT] = interrupt
    if callable(theirs):
        handlers[signal.SIGTERM] = terminate
    for number, handler in handlers.items():
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in handlers:
            signal.signal(number, before[number])

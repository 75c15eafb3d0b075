"""Ctrl-C during runs: it sets an event, and a run ends after its current block.

SIGTERM does the same where the program handles it. The code that runs the loop looks at the event
and raises `Interrupted` with the partial result. A second Ctrl-C raises at once.
"""

import contextlib
import functools
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar, cast

from herded.errors import Interrupted
from herded.system.interrupts import NO_PART, SAME_PRESS_SECONDS

Function = TypeVar("Function", bound=Callable[..., Any])

_halt: threading.Event | None = None  # of `stop_all_runs_on_interrupt`, in all threads


class _OfThread(threading.local):
    """The event that nested uses of `stop_event_on_interrupt` share."""

    stop: threading.Event | None = None


_of_thread = _OfThread()


@contextlib.contextmanager
def stop_all_runs_on_interrupt() -> Iterator[None]:
    """Make Ctrl-C end all runs, also in threads, with `Interrupted` and no result.

    For work that consists of many runs and is of no use in part. The signal sets an event that
    every run checks, since an exception raised by the handler itself could get lost in a callback
    of a compiler. A second Ctrl-C raises at once, as in `stop_event_on_interrupt`. Nested uses
    share one event. Other threads than the main one get no signals.
    """
    global _halt
    try:
        if _halt is not None or not _in_main_thread():
            yield
            raise_if_interrupted()
            return
        _halt = threading.Event()
        try:
            with _set_by_signals(_halt):
                yield
                raise_if_interrupted()
        finally:
            _halt = None
    except Interrupted:  # its result is of one run, not of the whole work
        raise Interrupted(NO_PART) from None


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed; loops over many runs call it."""
    if _halt is not None:
        _raise_if(_halt)


def _raise_if(event: threading.Event) -> None:
    if event.is_set():
        raise Interrupted(NO_PART)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def interrupt_without_result() -> Iterator[None]:
    """Turn a KeyboardInterrupt that carries no partial result into an `Interrupted` that says so.

    Such as that of a second Ctrl-C, or of one that came while tables were filled.
    """
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt as error:
        raise Interrupted(NO_PART) from error


def raises_interrupted(function: Function) -> Function:
    """Decorate a function so that Ctrl-C raises `Interrupted` anywhere inside it."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        with interrupt_without_result():
            return function(*args, **options)

    return cast(Function, call)


def stop_event_on_interrupt(
    *, brief: bool = False
) -> contextlib.AbstractContextManager[threading.Event]:
    """Set an event on Ctrl-C instead of raising; the caller raises `Interrupted`.

    A second Ctrl-C raises at once, unless it comes so soon (`SAME_PRESS_SECONDS`) that it is the
    same one. Nested uses share one event. With `brief`, no handlers are set unless it is nested:
    setting them would take longer than the run, and in a loop of such runs Ctrl-C should end the
    loop.
    """
    if _halt is not None:
        return _halted_by(_halt)
    if _of_thread.stop is not None:
        return contextlib.nullcontext(_of_thread.stop)
    return contextlib.nullcontext(threading.Event()) if brief else _shared_in_thread()


@contextlib.contextmanager
def _halted_by(event: threading.Event) -> Iterator[threading.Event]:
    yield event
    _raise_if(event)


@contextlib.contextmanager
def _shared_in_thread() -> Iterator[threading.Event]:
    """Share one event among all runs within; signals set it in the main thread."""
    _of_thread.stop = stop = threading.Event()
    try:
        with _set_by_signals(stop) if _in_main_thread() else contextlib.nullcontext():
            yield stop
    finally:
        _of_thread.stop = None


@contextlib.contextmanager
def defer_interrupt() -> Iterator[threading.Event]:
    """Let Ctrl-C raise its KeyboardInterrupt at the end of the block, not within it.

    For imports and compilers, which may lose an exception or turn it into another one. Inside
    `stop_event_on_interrupt` that decides what Ctrl-C does.
    """
    within = _of_thread.stop is not None
    with stop_event_on_interrupt() as stop:
        yield stop
    if not within:
        _raise_if(stop)


@contextlib.contextmanager
def _set_by_signals(event: threading.Event) -> Iterator[None]:
    """Let SIGINT set `event`, and SIGTERM too where the program's handler of it interrupts.

    A signal that is ignored stays ignored, as in programs that a shell starts in the background.
    Where an error comes after the signal, the signal ends the program: an error can be caught.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    pressed = math.inf  # when the first signal came

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed == math.inf:
            pressed = time.monotonic()
            event.set()
        elif time.monotonic() - pressed > SAME_PRESS_SECONDS:
            signal.signal(number, before[signal.Signals(number)])
            signal.raise_signal(number)

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
    with contextlib.ExitStack() as given_back:  # all of them, also where the first one raises
        for number, handler in handlers.items():
            given_back.callback(signal.signal, number, before[number])
            signal.signal(number, handler)
        try:
            yield
        except Exception as error:
            if event.is_set():
                raise Interrupted(NO_PART) from error
            raise

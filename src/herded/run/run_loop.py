"""The loop of every run: advance by a block of sweeps, look up, go on; and what Ctrl-C does to it.

The bits of a run depend neither on the size of its blocks nor on threads nor on interruptions.
Only where a run is given seconds does the clock decide how many sweeps there are. Ctrl-C, and
SIGTERM where the program handles it, end a run after its block; so does a callback that raises
KeyboardInterrupt. Whoever runs the loop then raises `Interrupted` with what was found.
"""

import contextlib
import functools
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Protocol, TypeVar, cast

from herded.errors import Interrupted
from herded.run.progress import Callback, Progress, Snapshot
from herded.system.interrupts import NO_PART, SAME_PRESS

Function = TypeVar("Function", bound=Callable[..., Any])

ENDLESS = 2**60  # sweeps of a run that only the clock ends
LONGEST = 0.1  # seconds of a block of a run with a time limit
SHARE = 0.5  # of the time so far: early blocks are short, for callbacks
PROMPT = 0.5  # seconds of a block of any other run: Ctrl-C, checkpoints and bars wait for its end


class BlockDropped(KeyboardInterrupt):
    """An interruption of a block that has left its run as it was before."""


class Run(Protocol):
    """What is run: by a sampler (`run.sampler_run`) or by a solver (`run.solver_run`)."""

    done: int  # sweeps, those of the burn-in included
    seconds: float  # since its first start, without pauses
    interrupted: bool

    @property
    def name(self) -> str:
        """What a progress bar calls it."""

    @property
    def total(self) -> int:
        """Sweeps at most."""

    @property
    def most(self) -> int:
        """Sweeps of a block at most."""

    @property
    def least(self) -> int:
        """Sweeps of a block that shorter ones would be slower than."""

    @property
    def first(self) -> int:
        """Sweeps of the first block, before it is known how long one takes."""

    def is_finished(self) -> bool:
        """Whether there is nothing left to do."""

    def advance(self, most: int) -> int:
        """Run a block of at most `most` sweeps, and give how many it had."""

    def snapshot(self) -> Snapshot:
        """The run as it is now."""


def run_all(
    run: Run,
    stopping: contextlib.AbstractContextManager[threading.Event],
    *,
    seconds: float | None = None,
    progress: bool | None = None,
    callback: Callback | None = None,
    save: Callable[[], None] | None = None,
    save_every: float = 30.0,
    is_brief: bool = False,
) -> bool:
    """Advance `run` until it is finished, its time is up, or the event of `stopping` is set.

    Returns whether somebody asked it to stop: also where it had come to its end by then, since
    whoever presses Ctrl-C means the program, not the block that happened to run.
    """
    before, rows = run.seconds, run.first if seconds is None else 1
    with stopping as stop:
        bar = _bar(run, seconds, progress, is_brief)
        began = saved = time.perf_counter()
        try:
            while not (run.is_finished() or stop.is_set() or _is_over(run, seconds)):
                try:
                    step = run.advance(min(rows, run.most))
                except BlockDropped:
                    stop.set()
                    break
                now = time.perf_counter()
                took, run.seconds = before + now - began - run.seconds, before + now - began
                rows = _rows(run, step, took, seconds)
                try:
                    note = callback(run.snapshot()) if callback else None
                except KeyboardInterrupt:  # the block is whole, so that nothing is lost
                    note = None
                    stop.set()
                if bar is not None:
                    bar.update(run.done if seconds is None else int(run.seconds), note or "")
                if save is not None and now - saved > save_every:
                    save()
                    saved = now
        finally:
            if bar is not None:
                bar.close()
    run.interrupted = not (run.is_finished() or _is_over(run, seconds))
    return stop.is_set()


def _rows(run: Run, step: int, took: float, seconds: float | None) -> int:
    """Sweeps of the next block, after one of `step` sweeps that `took` so many seconds."""
    if seconds is None:
        least, time_left = run.least, PROMPT
    else:
        least, time_left = 1, min(LONGEST, SHARE * run.seconds, seconds - run.seconds)
    return max(least, int(step * time_left / max(took, 1e-9)))


def _is_over(run: Run, seconds: float | None) -> bool:
    return seconds is not None and run.seconds >= seconds


def _bar(run: Run, seconds: float | None, progress: bool | None, is_brief: bool) -> Progress | None:
    """A bar, if there is a terminal or a notebook to show it in."""
    if progress is False or not (
        "ipykernel.kernelapp" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    ):
        return None
    return Progress.of_run(progress, run.name, run.total, seconds, brief=is_brief)


# -- Ctrl-C ----------------------------------------------------------------------------------------

_halt: threading.Event | None = None  # of `interrupted_together`, in all threads


class _OfThread(threading.local):
    """The event that nested uses of `interruptible` share."""

    stop: threading.Event | None = None


_of_thread = _OfThread()


@contextlib.contextmanager
def interrupted_together() -> Iterator[None]:
    """Within it Ctrl-C ends all runs, also those in threads, with `Interrupted`, without a result.

    For work that consists of many runs and is of no use in part. The signal sets an event that
    every run checks, since an exception raised by the handler itself could get lost in a callback
    of a compiler. A second Ctrl-C raises at once, as in `interruptible`. Nested uses share one
    event. Other threads than the main one get no signals.
    """
    global _halt
    try:
        if _halt is not None or not _in_main_thread():
            yield
            raise_if_halted()
            return
        _halt = threading.Event()
        try:
            with _set_by_signals(_halt):
                yield
                raise_if_halted()
        finally:
            _halt = None
    except Interrupted:  # its result is of one run, not of the whole work
        raise Interrupted(NO_PART) from None


def raise_if_halted() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed; loops over many runs call it."""
    if _halt is not None:
        _raise_if(_halt)


def _raise_if(event: threading.Event) -> None:
    if event.is_set():
        raise Interrupted(NO_PART)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def without_part() -> Iterator[None]:
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
    """The function, whose `KeyboardInterrupt` is an `Interrupted` wherever Ctrl-C comes in it."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        with without_part():
            return function(*args, **options)

    return cast(Function, call)


def interruptible(*, brief: bool = False) -> contextlib.AbstractContextManager[threading.Event]:
    """An event that Ctrl-C sets instead of raising; whoever uses it raises `Interrupted` later.

    A second Ctrl-C raises at once, unless it comes so soon (`SAME_PRESS`) that it is the same one.
    Nested uses share one event. With `brief`, no handlers are set unless it is nested: setting
    them would take longer than the run, and in a loop of such runs Ctrl-C should end the loop.
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
    """An event for all runs within, which signals set where this is the main thread."""
    _of_thread.stop = stop = threading.Event()
    try:
        with _set_by_signals(stop) if _in_main_thread() else contextlib.nullcontext():
            yield stop
    finally:
        _of_thread.stop = None


@contextlib.contextmanager
def interrupted_afterwards() -> Iterator[threading.Event]:
    """Let Ctrl-C raise its KeyboardInterrupt at the end of the block, not within it.

    For imports and compilers, which may lose an exception or turn it into another one. Inside
    `interruptible` that decides what Ctrl-C does.
    """
    within = _of_thread.stop is not None
    with interruptible() as stop:
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
        elif time.monotonic() - pressed > SAME_PRESS:
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

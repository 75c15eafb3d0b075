"""Time in tests: what need not end is given up, and clocks go on by themselves.

No test says how fast a machine must be. What is too slow by a power of its size does not end in a
hundred times the processor's time that it should take; that is no matter of machines.
"""

import itertools
import signal
import threading
import time
from contextlib import contextmanager

import pytest

ENDLESS = 60  # seconds of the processor, whoever else is at work, for what takes less than one
HANGS = 1200  # seconds by the wall after which a child process will not end, on any machine


@contextmanager
def ending():
    """Fail where the block does not end."""
    if not hasattr(signal, "SIGVTALRM"):  # not a Unix
        yield
        return

    def give_up(number, frame):
        pytest.fail(f"{ENDLESS} seconds of the processor were not enough")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, ENDLESS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def wait_until(condition, child):
    """Until a child process has come so far, however long it takes."""
    end = time.monotonic() + HANGS
    while not condition():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def ticking(monkeypatch, step):
    """Let every look at the clock find `step` seconds more, and no machine be faster than another.

    The number of looks is given back by the function that this gives.
    """
    count, turn = itertools.count(), threading.Lock()

    def look():
        with turn:
            return step * next(count)

    monkeypatch.setattr(time, "perf_counter", look)
    return look

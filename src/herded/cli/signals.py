"""SIGINT and SIGTERM while a command runs: both end it in order, and the exit code tells which."""

import signal
import threading
from types import FrameType
from typing import Any

ENDINGS = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """Within it either signal raises KeyboardInterrupt.

    `herded.run.loop` takes over where that would do harm, and while samples are drawn. One
    that is ignored stays so: that is how a shell starts what it runs in the background.
    """

    def __init__(self) -> None:
        self.seen = signal.SIGINT  # what a KeyboardInterrupt from elsewhere means
        self._before: dict[signal.Signals, Any] = {}

    @property
    def code(self) -> int:
        """The exit code of a command that a signal has ended."""
        return 128 + self.seen

    @property
    def word(self) -> str:
        return "terminated" if self.seen == signal.SIGTERM else "interrupted"

    def __enter__(self) -> "Signals":
        if threading.current_thread() is threading.main_thread():
            before = {number: signal.getsignal(number) for number in ENDINGS}
            self._before = {n: old for n, old in before.items() if old is not signal.SIG_IGN}
            for number in self._before:
                signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.seen = signal.Signals(number)
        raise KeyboardInterrupt

    def ignore(self) -> None:
        """From now on until the process ends: one was enough."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)
        self._before = {}

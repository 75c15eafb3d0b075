"""Things that kill the process in which they arrive: for tests of workers that die."""

import os
import signal
from pathlib import Path


class Deadly:
    """Something that kills the first `times` workers to which it is sent, and then becomes itself.

    The process that made it is spared, so that a scheduler there may look at what it hands out.
    """

    def __init__(self, inside, folder, times=1):
        self.inside, self.folder, self.times, self.maker = inside, str(folder), times, os.getpid()

    def __reduce__(self):
        return arrive, (self.inside, self.folder, self.times, self.maker)


def arrive(inside, folder, times, maker):
    """On a worker: die, or give what is inside."""
    if os.getpid() == maker:
        return Deadly(inside, folder, times)
    died = len(list(Path(folder).glob("died-*")))
    if died < times:
        (Path(folder) / f"died-{os.getpid()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return inside

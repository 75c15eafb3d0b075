"""Workers: processes, what kills those in which it arrives, and runs that must be the same."""

import contextlib
import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

NEEDED = ["numba", "herded.methods.registry", "herded.run.infer", "herded.run.distributed.batch"]


def quick_context():
    """For processes that share nothing with this one, but need not import all anew.

    They are forked from one that did nothing but that; `herded` itself starts them by "spawn", as
    the page scale.md of the docs does.
    """
    multiprocessing.set_forkserver_preload(NEEDED)
    return multiprocessing.get_context("forkserver")


def processes(count=2):
    """An executor whose processes share nothing with this one."""
    return ProcessPoolExecutor(count, mp_context=quick_context())


class Deadly:
    """Something that kills the first `times` workers to which it is sent, and then becomes itself.

    The process that made it is spared, so that a scheduler there may look at what it hands out.
    """

    def __init__(self, inside, folder, times=1):
        self.inside, self.folder, self.times, self.maker = inside, str(folder), times, os.getpid()

    def __reduce__(self):
        return arrive, (self.inside, self.folder, self.times, self.maker)


def arrive(inside, folder, times, maker):
    """On a worker: die, or give what is inside. Of two at the same moment one makes each file."""
    if os.getpid() == maker:
        return Deadly(inside, folder, times)
    for number in range(times):
        with contextlib.suppress(FileExistsError):
            (Path(folder) / f"died-{number}").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
    return inside


def same(a, b):
    """Whether two runs gave the same bits."""
    return (
        np.array_equal(a.chain_marginals, b.chain_marginals)
        and a.sweeps == b.sweeps
        and all(
            kept(one) == kept(other) and one.sweep == other.sweep
            for one, other in zip(a.state, b.state, strict=True)
        )
    )


def kept(state):
    """The arrays of a chain; for how many sweeps it was started is no matter."""
    arrays = state.arrays().items()
    return {name: array.tolist() for name, array in arrays if name != "numbers"}

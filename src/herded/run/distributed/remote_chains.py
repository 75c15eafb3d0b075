"""Advance the chains of one run on the workers of an executor, round by round.

A job gets a layout, a state and what is recorded so far, and returns the state and the records
after the round, so that a worker that dies costs one round and nothing else. The layout is sent
with its tables, which takes less time than filling them again. Rounds are long compared with the
time that it takes to send a job and its result.
"""

import time
from concurrent.futures import Executor

import numpy as np

from herded.errors import Interrupted
from herded.layouts.base import Layout
from herded.layouts.state import State
from herded.methods.protocol import Sampler
from herded.run.distributed.worker_pool import WorkerPool
from herded.run.query import KeepOptions
from herded.run.run_loop import BlockDropped
from herded.run.sampler_run import Chain, SamplerRun

MIN_ROUND_SECONDS = 1.0  # seconds at least, once the pace is known
MIN_WORK_PER_SENDING = 10.0  # times as long as sending takes


class RemoteChains:
    """The chains of a run, advanced on the workers of an executor."""

    def __init__(self, executor: Executor) -> None:
        self.workers = WorkerPool(executor)
        self.most = 1

    def __call__(self, run: SamplerRun, step: int) -> None:
        began = time.perf_counter()
        common = run.layout, run.method, run.keep, run.burn_in, run.done, step
        jobs = [
            (c, *common, chain.state, recorder_arrays(chain)) for c, chain in enumerate(run.chains)
        ]
        worked, received = 0.0, []
        try:
            for (c, *_), (state, arrays, seconds) in self.workers.completed(run_remote_round, jobs):
                received.append((c, state, arrays))
                worked += seconds
        except Interrupted:
            raise
        except KeyboardInterrupt as error:  # a terminal sends Ctrl-C to workers, too
            raise BlockDropped from error
        for c, state, arrays in received:  # all of them or none, so that chains stay abreast
            apply_remote_result(run.chains[c], state, arrays)
        self._learn(step, worked / len(jobs), time.perf_counter() - began)

    def _learn(self, step: int, worked: float, took: float) -> None:
        """Make the next round as long as it should be, at most eight times this one."""
        wanted = max(MIN_ROUND_SECONDS, MIN_WORK_PER_SENDING * max(0.0, took - worked))
        longer = min(8.0, wanted / max(worked, 1e-9))
        self.most = max(1, int(step * longer))

    def close(self) -> None:
        self.workers.close()


def recorder_arrays(chain: Chain) -> dict[type, dict[str, np.ndarray]]:
    """Return the recorders' arrays that a worker adds to, without those that only grow."""
    return {
        kind: {
            name: array[:0] if recorder.is_pile(name) else array
            for name, array in recorder.arrays.items()
        }
        for kind, recorder in chain.recorders.items()
    }


def apply_remote_result(
    chain: Chain, state: State, arrays: dict[type, dict[str, np.ndarray]]
) -> None:
    """Put a chain where a worker has brought it."""
    chain.state = state
    for kind, new in arrays.items():
        recorder = chain.recorders[kind]
        for name, array in new.items():
            if recorder.is_pile(name):
                recorder.pile(name, array)
            else:
                recorder.arrays[name] = array


def run_remote_round(
    number: int,
    layout: Layout,
    method: Sampler,
    keep: KeepOptions,
    burn_in: int,
    done: int,
    step: int,
    state: State,
    arrays: dict[type, dict[str, np.ndarray]],
) -> tuple[State, dict[type, dict[str, np.ndarray]], float]:
    """Run `step` sweeps of chain `number` after the first `done`, on a worker."""
    began = time.perf_counter()
    # Copied: where workers are threads, a job that is done again must find what the first one did.
    run = SamplerRun.prepare(layout, method, keep, [state.copy()], step, burn_in)
    chain = run.chains[0]
    for kind, recorder in chain.recorders.items():
        recorder.arrays = {name: array.copy() for name, array in arrays[kind].items()}
    run.done = done
    while run.done < done + step:
        rows = min(len(chain.block), done + step - run.done)
        run.advance_chain(chain, rows)
        run.done += rows
    for recorder in chain.recorders.values():
        recorder.gather()
    records = {kind: recorder.arrays for kind, recorder in chain.recorders.items()}
    return chain.state, records, time.perf_counter() - began

"""Arrays that grow with a run, for samples and series, and their final form in results."""

import numpy as np

from herded.run.recording.recorder_base import Recorder
from herded.run.run_loop import UNLIMITED_SWEEPS
from herded.run.sampler_run import SamplerRun


def reserve_room(run: SamplerRun) -> None:
    """Make room for all samples and series, so that they are never copied.

    It lies as in results: by sweep in herds, else by chain. Where the clock decides how many sweeps
    there are, recorders pile up parts instead.
    """
    if run.most_recorded is not None or run.sweeps >= UNLIMITED_SWEEPS:
        return
    by_sweep, chains = run.layout.members > 1, run.chains
    for kind, recorder in chains[0].recorders.items():
        for name, every in recorder.reservable():
            array, draws = recorder.arrays[name], run.sweeps // every
            shape = (draws, len(chains)) if by_sweep else (len(chains), draws)
            room = np.empty((*shape, *array.shape[1:]), array.dtype)
            run.rooms[kind, name] = room
            for c, chain in enumerate(chains):
                mine = room[:, c] if by_sweep else room[c]
                chain.recorders[kind].rooms[name] = mine
                chain.recorders[kind].arrays[name] = mine[:0]


def join_chains(run: SamplerRun, kind: type, name: str) -> np.ndarray:
    """Join the growing arrays of all chains, (chains * members, draws, ...)."""
    recorders, rooms = [chain.recorders[kind] for chain in run.chains], run.rooms
    if (kind, name) not in rooms:
        rooms[kind, name] = _joined_parts(recorders, name, run.layout.members > 1)
    draws, room = len(recorders[0].arrays[name]), rooms[kind, name]
    if run.layout.members == 1:
        alone: np.ndarray = room[:, :draws, 0]
        return alone
    members = room.shape[1] * room.shape[2]
    found: np.ndarray = room[:draws].reshape(draws, members, *room.shape[3:])
    return found.swapaxes(0, 1)


def _joined_parts(recorders: list[Recorder], name: str, by_sweep: bool) -> np.ndarray:
    """Return the parts of all chains as one array, laid out as by `reserve_room`.

    Parts are let go as they are copied, so that nothing is held three times.
    """
    parts = [[one.arrays[name], *one.piled.pop(name, ())] for one in recorders]
    draws, chains = sum(len(part) for part in parts[0]), len(recorders)
    shape = (draws, chains) if by_sweep else (chains, draws)
    room = np.empty((*shape, *parts[0][0].shape[1:]), parts[0][0].dtype)
    for c, recorder in enumerate(recorders):
        mine, done = room[:, c] if by_sweep else room[c], 0
        recorder.arrays[name] = mine
        mine_parts = parts[c][::-1]
        parts[c] = []
        while mine_parts:
            part = mine_parts.pop()
            mine[done : done + len(part)] = part
            done += len(part)
    return room

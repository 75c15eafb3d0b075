"""Room for what grows with a run, samples and series, and its arrays as results have them."""

import numpy as np

from herded.run.loop import ENDLESS
from herded.run.sampling import SamplerRun


def reserve(run: SamplerRun) -> None:
    """Make room for all samples and series, so that they are never copied.

    It lies as in results: by sweep in herds, else by chain. Where the clock decides how many sweeps
    there are, recorders pile up parts instead.
    """
    if run.most_recorded is not None or run.sweeps >= ENDLESS:
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


def joined(run: SamplerRun, kind: type, name: str) -> np.ndarray:
    """What grew in all chains, (chains * members, draws, ...): members count as chains."""
    recorders = [chain.recorders[kind] for chain in run.chains]
    for recorder in recorders:
        recorder.gather()
    draws, room = len(recorders[0].arrays[name]), run.rooms.get((kind, name))
    if room is None:
        return np.concatenate([one.arrays[name].swapaxes(0, 1) for one in recorders])
    if run.layout.members == 1:
        alone: np.ndarray = room[:, :draws, 0]
        return alone
    members = room.shape[1] * room.shape[2]
    found: np.ndarray = room[:draws].reshape(draws, members, *room.shape[3:])
    return found.swapaxes(0, 1)

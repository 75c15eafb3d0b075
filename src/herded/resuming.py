"""A sampler's run on disk: who it is, all that changes in it, and how it goes on.

`run` is a `herded.sampling.Run`; what is saved is the states of its chains and what their
recorders know.
"""

import hashlib
import re
from typing import Any

import numpy as np

from herded import checkpoint as checkpoints
from herded.errors import CheckpointError, MethodError


def identity(run: Any) -> dict[str, Any]:
    """What must be equal for a run to be resumed."""
    return {
        "model": run.plan.model.content_hash,
        "method": re.sub(r" at 0x\w+", "", repr(run.method)),  # of a function, in this process
        "plan": run.plan.kind,
        "tables": run.plan.table_hash,
        "burn_in": run.burn_in,
        "chains": len(run.chains),
        "keep": sorted(_describe(choice) for choice in run.keep.values()),
        "schedule of": run.total if hasattr(run.method, "schedule") else "any sweeps",
    }


def _describe(choice: Any) -> str:
    """Everything that decides what is recorded; arrays by their hashes."""
    options = {name: value for name, value in vars(choice).items() if name != "at"}
    for name, value in options.items():
        if not (value is None or isinstance(value, int)):
            text = np.asarray(value, np.float64).tobytes()
            options[name] = hashlib.sha256(text).hexdigest()[:16]
    return f"{type(choice).__name__}({options})"


def save(run: Any, path: Any) -> None:
    """Write the run as it is now."""
    header = {**identity(run), "done": run.done, "seconds": run.seconds}
    checkpoints.write(path, header, _arrays(run))


def _arrays(run: Any) -> dict[str, np.ndarray]:
    """All that changes in a run, by name."""
    arrays = {"points": run.points}
    for c, chain in enumerate(run.chains):
        for name, array in chain.state.arrays().items():
            arrays[f"{c}/state/{name}"] = array
        arrays[f"{c}/errors"] = chain.errors
        for kind, recorder in chain.recorders.items():
            if hasattr(recorder, "gather"):
                recorder.gather()
            for name, array in recorder.arrays.items():
                arrays[f"{c}/{kind.__name__}/{name}"] = array
    return arrays


def resume(run: Any, path: Any) -> None:
    """Let a run that is about to start go on where its checkpoint, if there is one, stopped."""
    found = checkpoints.read(path)
    if found is None:
        return
    header, arrays = found
    checkpoints.check_same_run(path, header, identity(run))
    missing = _arrays(run).keys() - arrays.keys()
    if missing or not {"done", "seconds"} <= header.keys():
        raise CheckpointError(
            f"expected a whole checkpoint at {path}, got one without some of its arrays: move it "
            "away to start anew"
        )
    if header["done"] > run.total:
        raise MethodError(
            f"expected sweeps of at least {header['done'] - run.burn_in}, which the checkpoint at "
            f"{path} has already done, got {run.sweeps}"
        )
    run.done, run.seconds = int(header["done"]), float(header["seconds"])
    known = _known_points(run, path, arrays["points"])
    for c, chain in enumerate(run.chains):
        total = chain.state.total
        prefix = f"{c}/state/"
        chain.state.restore(
            {name[len(prefix) :]: a for name, a in arrays.items() if name.startswith(prefix)}
        )
        chain.state.total = total
        chain.errors[: len(known)] = arrays[f"{c}/errors"][known]
        for kind, recorder in chain.recorders.items():
            for name in recorder.arrays:
                recorder.arrays[name] = arrays[f"{c}/{kind.__name__}/{name}"]
        if run.plan.lattice is None:
            chain.block[:] = chain.state.memory.x


def _known_points(run: Any, path: Any, saved: np.ndarray) -> np.ndarray:
    """Where among `saved` are the points of the error curve that the run has passed."""
    passed = run.points[run.points <= run.recorded]
    if not np.isin(passed, saved).all():
        missing = passed[~np.isin(passed, saved)]
        raise CheckpointError(
            f"expected a checkpoint at {path} that measured the error after sweep {missing[0]}, "
            "got one that did not: give another file, or move this one away to start anew"
        )
    return np.searchsorted(saved, passed)

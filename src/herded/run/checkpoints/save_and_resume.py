"""Save a sampler's run and resume it.

What is saved is what the run is, the states of its chains and what their recorders know.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from herded.errors import CheckpointError, MethodError
from herded.layouts.base import Layout
from herded.layouts.hashed_weights import has_hash_tables
from herded.layouts.packing.member_bits import member_ranges
from herded.layouts.state import State
from herded.methods.schedule import is_annealed
from herded.methods.serialization import method_to_dict
from herded.models.protocol import Model
from herded.run.checkpoints import checkpoint_file
from herded.run.observables.recorder import Observables
from herded.run.recording.recorder_base import STATES_PER_PASS, Recorder
from herded.run.recording.trace import TraceRecorder
from herded.run.run_loop import UNLIMITED_SWEEPS
from herded.run.sampler_run import Chain, SamplerRun
from herded.run.solver_run import SolverRun
from herded.system.atomic_files import FilePath
from herded.system.memory_limits import Size
from herded.system.npz_reader import Place


def run_identity(run: SamplerRun) -> dict[str, Any]:
    """Return what must be equal for a run to be resumed."""
    return {
        "model": run.layout.model.content_hash,
        "method": method_to_dict(run.method),
        "layout": run.layout.kind,
        "tables": run.layout.hash,
        "burn_in": run.burn_in,
        "chains": len(run.chains),
        "keep": sorted(_keep_identity(choice) for choice in run.keep.choices),
        "schedule of": run.total if is_annealed(run.method) else "any sweeps",
    }


def _keep_identity(choice: object) -> str:
    """Return everything that decides what is recorded; arrays by their hashes."""
    if isinstance(choice, Observables):
        return choice.described()
    options = {name: value for name, value in vars(choice).items() if name != "at"}
    for name, value in options.items():
        if not (value is None or isinstance(value, int)):
            text = np.asarray(value, np.float64).tobytes()
            options[name] = hashlib.sha256(text).hexdigest()[:16]
    return f"{type(choice).__name__}({options})"


def save_sampler_run(run: SamplerRun, path: FilePath) -> None:
    """Write the run as it is now."""
    header = {**run_identity(run), "done": run.done, "seconds": run.seconds}
    checkpoint_file.write_checkpoint(path, header, _arrays(run))


def _arrays(run: SamplerRun) -> dict[str, np.ndarray]:
    """Return all arrays that change in a run, by name."""
    arrays = {"points": run.points}
    for c, chain in enumerate(run.chains):
        for name, array in chain.state.arrays().items():
            arrays[f"{c}/state/{name}"] = array
        arrays[f"{c}/errors"] = chain.errors
        for kind, recorder in chain.recorders.items():
            recorder.gather()
            for name, array in recorder.arrays.items():
                arrays[f"{c}/{kind.__name__}/{name}"] = array
    return arrays


def resume_sampler_run(run: SamplerRun, path: FilePath, max_memory: Size | None = None) -> None:
    """Let a run that is about to start resume where its checkpoint, if there is one, stopped.

    Samples and series are read into the rooms that the run has reserved for them, and other arrays
    into those of the run, so that a run that fits within a limit can also be resumed within it.
    """
    header = checkpoint_file.read_header(path)
    if header is None:
        return
    checkpoint_file.check_same_run(path, header, run_identity(run))
    found = checkpoint_file.read_checkpoint(path, max_memory, run.fixed_memory, _places(run))
    if found is None:
        return
    header, arrays = found
    checkpoint_file.check_same_run(path, header, run_identity(run))
    if not (_is_count(header.get("done")) and _is_time(header.get("seconds"))):
        raise _broken_checkpoint_error(path, "its number of sweeps or seconds")
    _check_arrays(run, path, arrays)
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
        _check_states(run, path, chain)
        chain.errors[: len(known)] = arrays[f"{c}/errors"][known]
        for kind, recorder in chain.recorders.items():
            for name in recorder.arrays:
                array = arrays.pop(f"{c}/{kind.__name__}/{name}")
                if name in recorder.rooms and len(array) > len(recorder.rooms[name]):
                    raise _broken_checkpoint_error(path, name)
                recorder.restore(name, array)
            _check_record(run, path, recorder)
            if isinstance(recorder, TraceRecorder) and run.sweeps < UNLIMITED_SWEEPS:
                recorder.expect(run.sweeps)
        run.layout.fill(chain.block, chain.state)


def _places(run: SamplerRun) -> Place:
    """Return the arrays that a checkpoint is read into: growing ones, and those of the run."""
    rooms, others = dict[str, np.ndarray](), dict[str, np.ndarray]()
    for c, chain in enumerate(run.chains):
        state = chain.state
        # hashed tables are compared with what is read
        own = {} if has_hash_tables(state.method_arrays) else state.method_arrays
        for name, array in {"x": state.x, "tally": state.conditional_sums, **own}.items():
            others[f"{c}/state/{name}"] = array
        for kind, recorder in chain.recorders.items():
            for name, array in recorder.arrays.items():
                if name in recorder.rooms:
                    rooms[f"{c}/{kind.__name__}/{name}"] = recorder.rooms[name]
                else:
                    others[f"{c}/{kind.__name__}/{name}"] = array

    def place(name: str, shape: tuple[int, ...], kind: "np.dtype[Any]") -> np.ndarray | None:
        room, other = rooms.get(name), others.get(name)
        if room is not None and (room.dtype, room.shape[1:]) == (kind, shape[1:]):
            return room[: shape[0]] if shape and shape[0] <= len(room) else None
        if other is not None and (other.dtype, other.shape) == (kind, shape) and shape:
            return other if other.flags.writeable else None
        return None

    return place


# -- of a solver that takes long -------------------------------------------------------------------


def save_solver(run: SolverRun, path: FilePath) -> None:
    """Write how far a solver is, whose state can be written."""
    header = {**_identity_of_solver(run), "seconds": run.seconds}
    checkpoint_file.write_checkpoint(path, header, run.state.arrays())


def resume_solver(run: SolverRun, path: FilePath) -> None:
    """Let a solver that is about to start go on where its checkpoint, if there is one, stopped."""
    found = checkpoint_file.read_checkpoint(path)
    if found is None:
        return
    header, arrays = found
    checkpoint_file.check_same_run(path, header, _identity_of_solver(run))
    if not _is_time(header.get("seconds")):
        raise _broken_checkpoint_error(path, "its seconds")
    try:
        run.state.restore(arrays)
    except (ValueError, KeyError, IndexError, TypeError, OverflowError) as error:
        raise _broken_checkpoint_error(path, "its arrays") from error
    run.done, run.seconds = run.state.sweep, float(header["seconds"])


def _identity_of_solver(run: SolverRun) -> dict[str, Any]:
    return {
        "model": run.layout.model.content_hash,
        "method": method_to_dict(run.method),
        "plan": run.layout.hash,
        "asked": sorted(run.state.asked),
    }


# -- what a file may not say: kernels believe their arrays ----------------------------------------


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < np.inf


def _broken_checkpoint_error(path: FilePath, what: str) -> CheckpointError:
    return CheckpointError(
        f"expected a whole checkpoint at {path}, got one that is broken in {what}: move it away to "
        "start again"
    )


def _check_arrays(run: SamplerRun, path: FilePath, arrays: dict[str, np.ndarray]) -> None:
    """Raise unless every array is there, of the right type, and as large as it must be."""
    for name, fresh in _arrays(run).items():
        found = arrays.get(name)
        if found is None or found.dtype != fresh.dtype or found.ndim != fresh.ndim:
            raise _broken_checkpoint_error(path, name)
        part = name.split("/")
        grows = part[-1].startswith(("samples", "series", "errors", "points"))  # with the run
        if found.shape[1:] != fresh.shape[1:] or (
            part[1:2] != ["state"] and not grows and found.shape != fresh.shape
        ):
            raise _broken_checkpoint_error(path, name)
        if part[-1] == "numbers" and (found.shape != (3,) or (found < 0).any()):
            raise _broken_checkpoint_error(path, name)
    if any(len(arrays[f"{c}/errors"]) != len(arrays["points"]) for c in range(len(run.chains))):
        raise _broken_checkpoint_error(path, "errors")


def _check_states(run: SamplerRun, path: FilePath, chain: Chain) -> None:
    """Raise unless a chain is at a state of the model, and its sums could be."""
    model, state = run.layout.model, chain.state
    most = max(run.layout.width - 1, 1)
    wrong = False
    for values in _values_of(run.layout, state):
        unlike = (model.evidence >= 0) & (values != model.evidence)
        wrong |= bool((unlike | (values >= model.cardinalities)).any())
    # The words of a herd have the bits of all members, and no other.
    stored = () if run.layout.is_herd else (state.x, state.method_arrays.get("y", state.x))
    if wrong or any(int(x.max(initial=0)) > most for x in stored):
        raise _broken_checkpoint_error(path, "the state of a chain")
    visits = run.done * run.layout.members * run.layout.visits  # also of the burn-in
    if ((state.conditional_sums < 0) | (state.conditional_sums > visits * 2.0**31)).any():
        raise _broken_checkpoint_error(path, "the sums of a chain")


def _values_of(layout: Layout, state: State) -> Iterator[np.ndarray]:
    """Yield the states (members, N) of some members at a time, or of all replicas of a ladder."""
    if layout.n_replicas != layout.members:
        yield layout.replicas(state)
        return
    at_once = STATES_PER_PASS // max(layout.model.n_variables, 1)
    for some in member_ranges(layout.members, at_once):
        yield layout.some_values(state, *some)


def _check_record(run: SamplerRun, path: FilePath, recorder: Recorder) -> None:
    """Raise unless the records can be those of this many sweeps."""
    samples = run.recorded * run.layout.members
    for name, array in recorder.arrays.items():
        if name == "counts" and ((array < 0) | (array > samples)).any():
            raise _broken_checkpoint_error(path, "counts")
        expected = {"sweeps": samples, "seen": run.recorded}
        if name in expected and array[0] != expected[name]:
            raise _broken_checkpoint_error(path, "the number of recorded sweeps")
        if name == "every" and array[0] < 1:
            raise _broken_checkpoint_error(path, "how often it was looked at")
        if name == "series sweeps" and len(array) != len(_looks(recorder)):
            raise _broken_checkpoint_error(path, "what was looked at")
        if name in ("samples", "state") and _has_unknown_states(array, run.layout.model):
            raise _broken_checkpoint_error(path, "recorded states")


def _has_unknown_states(array: np.ndarray, model: Model) -> bool:
    """Return whether a state (..., N) is none of its variable; compared some rows at a time."""
    if array.ndim == 1:
        return bool((array >= model.cardinalities).any())
    rows = max(1, STATES_PER_PASS // max(array[:1].size, 1))
    parts = (array[first : first + rows] for first in range(0, len(array), rows))
    return any(bool((part >= model.cardinalities).any()) for part in parts)


def _looks(recorder: Recorder) -> np.ndarray:
    """Return the rows of a series, one for each recorded sweep: states, or scores of a ladder."""
    arrays = recorder.arrays
    return arrays["series looks"] if "series looks" in arrays else arrays["series scores"]


def _known_points(run: SamplerRun, path: FilePath, saved: np.ndarray) -> np.ndarray:
    """Return where among `saved` are the points of the error curve that the run has passed."""
    passed = run.points[run.points <= run.recorded]
    if not np.isin(passed, saved).all():
        missing = passed[~np.isin(passed, saved)]
        raise CheckpointError(
            f"expected a checkpoint at {path} that measured the error after sweep {missing[0]}, "
            "got one that did not: use another file, or move this one away to start again"
        )
    return np.searchsorted(saved, passed)

"""The way of a call through the package: which files it passes, and how often it changes files.

    python -m tests.repository.call_trace

What a reader follows is Python: compiled kernels are where the way ends.
"""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import herded

ROOT = str(Path(herded.__file__).parent)


class Walk(NamedTuple):
    """What was counted on the way."""

    files: list[str]  # of the package
    functions: int
    crossings: int  # calls from one file of the package into another
    frames: int  # of the package, from the first to whoever calls a kernel


def walk(function: Callable[[], Any], kernel: str = "") -> Walk:
    """Call `function` and count; `kernel` is the compiled function whose callers are looked at."""
    files: set[str] = set()
    functions: set[tuple[str, str]] = set()
    crossings, deepest = 0, 0

    def look(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal crossings, deepest
        name = frame.f_code.co_filename
        if event == "c_call" or not name.startswith(ROOT):
            return
        if event == "call" and not _is_part(frame):
            files.add(name[len(ROOT) + 1 :])
            functions.add((name, frame.f_code.co_qualname))
            caller = _caller(frame)
            if caller is not None and caller.f_code.co_filename != name:
                crossings += 1

    def depth() -> None:
        nonlocal deepest
        frame, found = sys._getframe(2), 0
        while frame is not None:
            found += frame.f_code.co_filename.startswith(ROOT)
            frame = frame.f_back  # type: ignore[assignment]
        deepest = max(deepest, found)

    before = sys.getprofile()
    with _watched(kernel, depth):
        sys.setprofile(look)
        try:
            function()
        finally:
            sys.setprofile(before)
    return Walk(sorted(files), len(functions), crossings, deepest)


def _is_part(frame: FrameType) -> bool:
    """Whether a frame is a part of a function, such as a comprehension, or a compiled kernel."""
    name, file = frame.f_code.co_name, frame.f_code.co_filename
    module = "herded." + file[len(ROOT) + 1 : -3].replace("/", ".")
    compiled = getattr(sys.modules.get(module), name, None)
    return name.startswith("<") or hasattr(compiled, "py_func")


def _caller(frame: FrameType) -> FrameType | None:
    """The nearest frame of the package below this one."""
    caller = frame.f_back
    while caller is not None and not caller.f_code.co_filename.startswith(ROOT):
        caller = caller.f_back
    return caller


class _watched:  # noqa: N801
    """Within it every call of a module's kernel, named "module:function", calls `look` first."""

    def __init__(self, kernel: str, look: Callable[[], None]) -> None:
        self.kernel, self.look = kernel, look

    def __enter__(self) -> None:
        if not self.kernel:
            return
        name, function = self.kernel.split(":")
        self.module = sys.modules[name]
        self.true = getattr(self.module, function)
        look, true = self.look, self.true

        def called(*arguments: Any) -> Any:
            look()
            return true(*arguments)

        setattr(self.module, function, called)

    def __exit__(self, *_: object) -> None:
        if self.kernel:
            setattr(self.module, self.kernel.split(":")[1], self.true)


def infer_on_a_grid() -> Walk:
    """`hd.infer` on a 10 x 10 grid that it has not seen, with compiled kernels."""
    field = np.random.default_rng(0).normal(size=(10, 10))
    method = herded.HerdedGibbs()
    herded.infer(herded.ising_grid(field, 0.3), method)
    model = herded.ising_grid(field, 0.2)
    return walk(lambda: herded.infer(model, method), "herded.layouts.grid.layout:grid_sweeps")


def infer_by_itself() -> Walk:
    """`hd.infer(model)`, which chooses, on the same grid."""
    model = herded.ising_grid(np.random.default_rng(0).normal(size=(10, 10)), 0.2)
    herded.infer(model)
    return walk(lambda: herded.infer(model))


def command(arguments: list[str]) -> Walk:
    """A command of the command line in this process."""
    from herded.cli.main import main

    return walk(lambda: main(arguments))


def shown(name: str, found: Walk) -> str:
    return (
        f"{name}: {len(found.files)} files, {found.functions} functions, {found.crossings} "
        f"crossings, {found.frames} frames to the kernel"
    )


if __name__ == "__main__":
    assert threading.current_thread() is threading.main_thread()
    grid = infer_on_a_grid()
    print(shown("hd.infer on a grid", grid), *grid.files, sep="\n  ")
    chosen = infer_by_itself()
    print(shown("hd.infer without a method", chosen), *chosen.files, sep="\n  ")

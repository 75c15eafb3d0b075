"""Ctrl-C in the first call of a process, while modules are imported and kernels are compiled."""

import importlib
import threading
import time

import numpy as np
import pytest

import herded as hd
import herded.run.diagnostics.start_check
from herded.run.interrupts import stop_event_on_interrupt
from herded.system import lazy_imports
from herded.system.compilation import jit
from herded.system.interrupts import held_interrupts
from tests.run.interrupts import (  # noqa: F401
    caught_from,
    flags_of,
    handlers_are_restored,
    press,
    pressing,
)

MODEL = hd.ising_grid(np.zeros((3, 4)), 0.3)


class PressedArray:
    """Something like an array, of which Ctrl-C is pressed when it is read."""

    def __array__(self, dtype=None, copy=None):
        raise KeyboardInterrupt


def plus_one(x):
    return x + 1


# -- held back ------------------------------------------------------------------------------------


def test_a_signal_comes_after_the_block():
    came = []

    def work():
        with held_interrupts():
            press()
            came.append("whole")
        came.append("not reached")

    error = caught_from(work)
    assert came == ["whole"] and error.result is None and "no partial result" in str(error)


def test_a_second_signal_comes_at_once(monkeypatch):
    clock, came = [10.0], []
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def work():
        with held_interrupts():
            for _ in range(3):
                press()
                came.append(clock[0])
                clock[0] += 0.7

    caught_from(work)
    assert came == [10.0, 10.7]  # the third was not the same one


def test_within_a_run_the_run_decides():
    with stop_event_on_interrupt() as stop:
        with held_interrupts():
            press()
            assert not stop.is_set()
        assert stop.is_set()


def test_other_threads_hold_nothing():
    def work():
        with held_interrupts():
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_an_error_in_the_block_passes():
    with pytest.raises(ValueError, match="of the user"), held_interrupts():
        raise ValueError("of the user")


# -- where it is held back ------------------------------------------------------------------------


def test_names_of_the_package_are_whole(monkeypatch):
    find, _, _ = lazy_imports.attach("herded")
    monkeypatch.setattr(importlib, "import_module", pressing(importlib.import_module))
    error = caught_from(find, "FactorGraph")
    assert error.result is None
    monkeypatch.undo()
    assert find("FactorGraph") is hd.FactorGraph


def test_a_kernel_is_whole_after_its_first_call(monkeypatch):
    kernel, wrapped = jit.Kernel(plus_one), []

    def wrap(function, inner):
        wrapped.append(function)
        press()
        return function

    monkeypatch.setattr(jit, "_wrap", wrap)
    caught_from(kernel, 1)
    assert kernel(1) == 2 and wrapped == [plus_one]


def test_compilers_are_not_interrupted():
    came = []

    def compile_two():
        compilers = jit._Compilers()
        compilers.on_start(None)
        compilers.on_start(None)
        press()
        compilers.on_end(None)
        came.append("both")
        compilers.on_end(None)

    caught_from(compile_two)
    assert came == ["both"]


CALLS = {
    "infer": lambda: hd.infer(MODEL, hd.Gibbs(), start=PressedArray()),
    "fit": lambda: hd.learn.fit(MODEL, PressedArray()),
    "RBM": lambda: hd.learn.RBM(progress=False).fit(PressedArray()),
    "BoltzmannMachine": lambda: hd.learn.BoltzmannMachine().fit(PressedArray()),
    "DirichletMixture": lambda: hd.learn.DirichletMixture().fit(PressedArray()),
    "VariableSelector": lambda: hd.learn.VariableSelector().fit(PressedArray(), np.zeros(3)),
    "find_structure": lambda: hd.learn.find_structure(PressedArray()),
    "denoise": lambda: hd.vision.denoise(PressedArray()),
}


@pytest.mark.parametrize("name", CALLS)
def test_whatever_is_interrupted_says_so(name):
    error = caught_from(CALLS[name])
    assert error.result is None and "no partial result" in str(error)


# -- beside a run ---------------------------------------------------------------------------------


def test_a_comparison_with_random_starts_that_was_interrupted(monkeypatch):
    compared = pressing(herded.run.diagnostics.start_check.run_check_herds)
    monkeypatch.setattr(herded.run.diagnostics.start_check, "run_check_herds", compared)
    model = hd.ising_grid(np.zeros((24, 24)), 0.25)
    options = {"sweeps": 2000, "chains": 4, "start": np.zeros((24, 24), int)}
    error = caught_from(hd.infer, model, hd.Gibbs(), **options)
    assert "without a comparison with random starts" in str(error)
    assert flags_of(error.result) == ["warning"] and error.result.sweeps == 2000

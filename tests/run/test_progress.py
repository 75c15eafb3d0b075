"""A bar on a terminal, silence in a pipe, and Ctrl-C in any thread."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import herded as hd
import herded.run.progress
import herded.run.sampler_run
from herded.run.interrupts import stop_event_on_interrupt
from herded.run.progress import Progress
from herded.run.sampler_run import BRIEF_RUN_UPDATES, SamplerRun
from tests.support.commands import quick
from tests.support.terminal import terminal
from tests.support.timeouts import HANGS

MODEL = hd.chain_model(np.random.default_rng(0).normal(size=(6, 2)), np.eye(2))

PROGRAM = """
    import sys, numpy as np, herded as hd, herded.run.sampler_run
    herded.run.sampler_run.BLOCK_ENTRIES = 6000  # a thousand sweeps
    import herded.run.progress
    herded.run.progress.BAR_DELAY_SECONDS = 1e-6  # a bar at once, if any, on any machine
    model = hd.chain_model(np.random.default_rng(0).normal(size=(6, 2)), np.eye(2))
    hd.infer(model, hd.Gibbs(), sweeps=20_000, progress=eval(sys.argv[1]))
"""


def run(stderr, progress, program=PROGRAM):
    command = quick("python", "-c", textwrap.dedent(program), progress)
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=stderr, env=environment, timeout=HANGS, check=True
    )


def on_a_terminal(progress):
    """What a person at a terminal sees."""
    with terminal() as (stderr, seen):
        done = run(stderr, progress)
    assert done.stdout == b""
    return b"".join(seen).decode()


def test_silence_in_a_pipe():
    done = run(subprocess.PIPE, "True")
    assert done.stdout == b"" and done.stderr == b""


def test_a_bar_on_a_terminal():
    seen = on_a_terminal("None")
    assert "Gibbs" in seen and "20000" in seen.replace(" ", "") and "sweeps" in seen
    assert seen.count("\x1b[?25l") == seen.count("\x1b[?25h") > 0  # the cursor comes back


def test_no_bar_when_not_wanted():
    assert on_a_terminal("False") == ""


def test_short_runs_are_silent_and_quick(monkeypatch):
    monkeypatch.setattr(herded.run.progress, "BAR_DELAY_SECONDS", 3600)
    bar = Progress(None, 10, "Gibbs")
    bar.watched = True
    bar.update(5)
    assert bar.bar is None
    bar.close()


COMPILED = """
    import time, herded.run.progress, herded.system.compilation.jit
    herded.run.progress.BAR_DELAY_SECONDS = 0.01
    bar = herded.run.progress.Progress(None, 2200, "Gibbs")
    bar.expect_compilers()
    time.sleep(0.1)
    assert bar.bar is None  # nobody compiles
    herded.system.compilation.jit._COMPILERS.on_start(None)
    while bar.bar is None or not bar.bar.live.is_started:
        time.sleep(0.01)
    bar.bar.refresh()
    herded.system.compilation.jit._COMPILERS.on_end(None)
    bar.update(1100, "half-way")
    bar.bar.refresh()
    bar.close()
"""


def test_the_bar_says_that_kernels_are_compiled_until_they_are():
    with terminal() as (stderr, seen):
        run(stderr, "None", COMPILED)
    shown = b"".join(seen).decode()
    first, _, then = shown.rpartition("compiling, once")
    assert "0/2200" in first and "half-way" not in first
    assert "1100/2200" in then and "half-way" in then


def test_brief_runs_look_for_no_compilers(monkeypatch):
    looked = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(herded.run.progress, "BAR_DELAY_SECONDS", 3600)
    monkeypatch.setattr(Progress, "expect_compilers", lambda bar: looked.append(bar))
    hd.infer(MODEL, hd.Gibbs(), sweeps=BRIEF_RUN_UPDATES // MODEL.n_variables)
    hd.infer(MODEL, hd.MeanField(), sweeps=9)
    assert not looked
    hd.infer(MODEL, hd.Gibbs(), sweeps=BRIEF_RUN_UPDATES // MODEL.n_variables + 1)
    hd.infer(MODEL, hd.MeanField(), sweeps=BRIEF_RUN_UPDATES)
    assert len(looked) == 2


def test_nobody_looks_where_nobody_watches():
    before = threading.active_count()
    bar = Progress(False, 10, "Gibbs")
    bar.expect_compilers()
    assert threading.active_count() == before


def test_no_stderr_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert hd.infer(MODEL, hd.Gibbs(), sweeps=3).sweeps == 3


# -- Ctrl-C -----------------------------------------------------------------------------------


def press_in_block(monkeypatch, number):
    """Press Ctrl-C while block number `number` of a run is at work."""
    advance, count = SamplerRun.advance, []

    def pressed(*args):
        count.append(1)
        if len(count) == number:
            os.kill(os.getpid(), signal.SIGINT)
        return advance(*args)

    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", 6 * 100)  # a hundred sweeps
    monkeypatch.setattr(SamplerRun, "advance", pressed)


@pytest.mark.parametrize("chains", [1, 3])
def test_ctrl_c_stops_after_the_sweep(chains, monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    keep = [hd.Marginals(), hd.BestState(), hd.Samples()]
    whole = hd.infer(MODEL, hd.Gibbs(), sweeps=300, chains=chains, keep=keep)
    press_in_block(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt) as caught:
        hd.infer(MODEL, hd.Gibbs(), sweeps=10**7, chains=chains, keep=keep)
    result = caught.value.result
    assert result.provenance["interrupted"] and not result.converged
    assert result.sweeps == 300 and (result.samples == whole.samples).all()
    assert (result.marginals == whole.marginals).all()
    assert (result.best.state == whole.best.state).all()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_the_burn_in(monkeypatch):
    press_in_block(monkeypatch, 2)
    keep = [hd.Marginals(rao_blackwell=True), hd.Samples(), hd.BestState(), hd.Joint()]
    with pytest.raises(KeyboardInterrupt) as caught:
        hd.infer(MODEL, hd.Gibbs(), sweeps=10, burn_in=10**10, keep=keep)
    assert caught.value.result is None


def test_ctrl_c_stops_solvers(monkeypatch):
    method, advance = hd.MeanField(tolerance=0), hd.MeanField.advance

    def pressed(self, layout, state, sweeps):
        if state.sweep >= 100:
            os.kill(os.getpid(), signal.SIGINT)
        advance(self, layout, state, sweeps)

    monkeypatch.setattr(hd.MeanField, "advance", pressed)
    with pytest.raises(KeyboardInterrupt) as caught:
        hd.infer(MODEL, method, sweeps=10**10)
    result = caught.value.result
    assert result.provenance["interrupted"] and 100 < result.sweeps < 200
    np.testing.assert_allclose(result.marginals.sum(axis=1), 1.0)


def test_ctrl_c_ends_a_loop_of_small_runs(monkeypatch):
    """After one that swallowed Ctrl-C there would be the next."""
    before, seen, advance = signal.getsignal(signal.SIGINT), [], SamplerRun.advance
    model = hd.ising_grid(np.zeros((2, 3)), 0.1)
    monkeypatch.setattr(herded.run.sampler_run, "_COMPILED_SIGNATURES", set())

    def pressed(*args):
        seen.append(signal.getsignal(signal.SIGINT))
        os.kill(os.getpid(), signal.SIGINT)
        return advance(*args)

    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(SamplerRun, "advance", pressed)
            with pytest.raises(KeyboardInterrupt):
                hd.infer(model, hd.Gibbs(), sweeps=5)
        assert signal.getsignal(signal.SIGINT) is before
        hd.infer(model, hd.Gibbs(), sweeps=5)
    # The first may compile, and a compiler may lose an exception: it is raised afterwards.
    assert seen[0] is not before and seen[1] is before
    monkeypatch.setattr(SamplerRun, "advance", pressed)
    larger = BRIEF_RUN_UPDATES // model.n_variables + 1  # waits for its sweeps
    with pytest.raises(KeyboardInterrupt) as caught:
        hd.infer(model, hd.Gibbs(), sweeps=larger)
    assert caught.value.result.sweeps == larger
    assert seen[2] is not before and signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_a_small_run_that_is_watched_or_saved(monkeypatch, tmp_path):
    """It may last, and there is something to lose: what there is comes with the error."""
    for number, options in enumerate(
        [{"callback": lambda _: None}, {"checkpoint": tmp_path / "run"}]
    ):
        with monkeypatch.context() as patch:
            press_in_block(patch, 2)
            with pytest.raises(KeyboardInterrupt) as caught:
                hd.infer(MODEL, hd.Gibbs(seed=number), sweeps=1000, **options)
        result = caught.value.result
        assert result.provenance["interrupted"] and result.sweeps == 200
    whole = hd.infer(MODEL, hd.Gibbs(seed=1), sweeps=1000)
    resumed = hd.infer(MODEL, hd.Gibbs(seed=1), sweeps=1000, checkpoint=tmp_path / "run")
    assert (resumed.marginals == whole.marginals).all()


def test_a_second_ctrl_c_raises_unless_it_is_the_same(monkeypatch):
    """Wrappers such as `uv run` pass on a signal that the terminal has sent already."""
    came, clock = [], [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def press():
        with stop_event_on_interrupt() as stop:
            for moment in (10.0, 10.0, 10.9, 12.0):
                clock[0] = moment
                signal.raise_signal(signal.SIGINT)
                assert stop.is_set()
                came.append(moment)
            pytest.fail("nothing was raised")

    with pytest.raises(KeyboardInterrupt):
        press()
    assert came == [10.0, 10.0, 10.9]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_is_given_back_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(hd.MethodError):
        hd.infer(MODEL, hd.Gibbs(schedule=lambda sweep, total: -1.0), sweeps=3)
    assert signal.getsignal(signal.SIGINT) is before


def test_infer_in_another_thread(monkeypatch):
    """Python lets the main thread alone set handlers: others run without."""
    found: list[hd.Result] = []
    before = signal.getsignal(signal.SIGINT)

    begun, pressed = threading.Event(), threading.Event()

    def watch(moment):
        begun.set()
        pressed.wait(HANGS)

    def work():
        found.append(hd.infer(MODEL, hd.Gibbs(), sweeps=3_000, progress=None, callback=watch))

    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", 6 * 100)  # a hundred sweeps
    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(HANGS)

    def press():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(HANGS)

    with pytest.raises(KeyboardInterrupt):
        press()
    pressed.set()
    thread.join()
    assert found[0].sweeps == 3_000 and not found[0].provenance["interrupted"]
    assert signal.getsignal(signal.SIGINT) is before

"""Runs that the clock ends, and what is called meanwhile."""

import math
import os
import signal
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import herded as hd
import herded.run.run_loop
import herded.run.sampler_run
from herded.run.execute import execute
from herded.run.interrupts import (
    defer_interrupt,
    stop_all_runs_on_interrupt,
    stop_event_on_interrupt,
)
from herded.run.query import build_query
from herded.run.run_loop import MAX_TIMED_BLOCK_SECONDS, run_until_done

RNG = np.random.default_rng(3)
MODEL = hd.chain_model(RNG.normal(size=(6, 3)), RNG.normal(size=(3, 3)))
TRUTH = hd.infer(MODEL, hd.Exact()).marginals


class Clock:
    """A clock that a sweep of any chain moves on, and nothing else."""

    def __init__(self, monkeypatch, per_sweep):
        self.now, self.blocks = 0.0, []
        fake = SimpleNamespace(perf_counter=lambda: self.now)
        monkeypatch.setattr(herded.run.run_loop, "time", fake)
        gibbs, mean_field = hd.Gibbs.advance, hd.MeanField.advance

        def sampler(method, layout, state, block, pool=None):
            self.move(len(block), per_sweep)
            gibbs(method, layout, state, block, pool)

        def solver(method, layout, state, sweeps):
            self.move(sweeps, per_sweep)
            mean_field(method, layout, state, sweeps)

        monkeypatch.setattr(hd.Gibbs, "advance", sampler)
        monkeypatch.setattr(hd.MeanField, "advance", solver)

    def move(self, sweeps, per_sweep):
        self.blocks.append(sweeps)
        self.now += sweeps * per_sweep


# -- seconds -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("per_sweep", "expected"), [(0.01, 200), (0.3, 7), (5.0, 1)])
def test_a_run_ends_with_the_clock(monkeypatch, per_sweep, expected):
    clock = Clock(monkeypatch, per_sweep)
    result = hd.infer(MODEL, hd.Gibbs(), seconds=2)
    assert abs(result.sweeps - expected) <= 1
    assert result.provenance["seconds"] == pytest.approx(result.sweeps * per_sweep)
    assert not result.provenance["interrupted"]
    assert all(
        sweeps == 1 or sweeps * per_sweep <= MAX_TIMED_BLOCK_SECONDS + 1e-9
        for sweeps in clock.blocks
    )
    same = hd.infer(MODEL, hd.Gibbs(), sweeps=result.sweeps)
    assert (result.marginals == same.marginals).all()


def test_whichever_comes_first_ends_a_run(monkeypatch):
    Clock(monkeypatch, 0.01)
    assert hd.infer(MODEL, hd.Gibbs(), sweeps=20, seconds=2).sweeps == 20
    assert hd.infer(MODEL, hd.Gibbs(), sweeps=2000, seconds=2).sweeps <= 201
    assert not hd.infer(MODEL, hd.Gibbs(), sweeps=2000, seconds=2).provenance["interrupted"]


def test_a_resumed_run_has_the_seconds_that_are_left(monkeypatch, tmp_path):
    Clock(monkeypatch, 0.01)
    path = tmp_path / "run.ckpt"
    first = hd.infer(MODEL, hd.Gibbs(), seconds=1, checkpoint=path)
    second = hd.infer(MODEL, hd.Gibbs(), seconds=3, checkpoint=path)
    assert first.sweeps == pytest.approx(100, abs=1) and second.sweeps == pytest.approx(300, abs=2)
    again = hd.infer(MODEL, hd.Gibbs(), seconds=2, checkpoint=path)
    assert again.sweeps == second.sweeps and (again.marginals == second.marginals).all()


def test_the_time_is_up_in_the_burn_in(monkeypatch, tmp_path):
    Clock(monkeypatch, 0.01)
    path = tmp_path / "run.ckpt"
    with pytest.raises(hd.MethodError, match="of 1000 sweeps"):
        hd.infer(MODEL, hd.Gibbs(), seconds=1, burn_in=1000, checkpoint=path)
    result = hd.infer(MODEL, hd.Gibbs(), sweeps=10, burn_in=1000, checkpoint=path)
    whole = hd.infer(MODEL, hd.Gibbs(), sweeps=10, burn_in=1000)
    assert (result.marginals == whole.marginals).all()


def test_a_solver_ends_with_the_clock(monkeypatch):
    Clock(monkeypatch, 0.25)
    result = hd.infer(MODEL, hd.MeanField(tolerance=0), seconds=2)
    assert result.sweeps == 8 and not result.provenance["interrupted"]
    assert not result.converged and result.provenance["seconds"] == 2


def test_an_error_curve_ends_where_the_run_does(monkeypatch):
    Clock(monkeypatch, 0.01)
    keep = [hd.ErrorCurve(TRUTH)]
    for method in (hd.Gibbs(), hd.MeanField(tolerance=0)):
        curve = hd.infer(MODEL, method, seconds=1, keep=keep).curve
        assert curve.sweeps.tolist() == [1, 2, 4, 8, 16, 32, 64]
        assert np.isfinite(curve.errors).all()


def test_real_seconds():
    result = hd.infer(MODEL, hd.HerdedGibbs(), seconds=0.1, chains=2)
    assert result.sweeps >= 1 and result.provenance["seconds"] >= 0.1


@pytest.mark.parametrize("seconds", [0, -1, math.nan, "2", True, None])
def test_wrong_seconds(seconds):
    if seconds is None:
        with pytest.raises(
            hd.MethodError, match="expected sweeps for Gibbs with a schedule, whose"
        ):
            hd.infer(MODEL, hd.Gibbs(schedule="linear"), seconds=1)
    else:
        with pytest.raises(hd.MethodError, match="expected seconds above 0"):
            hd.infer(MODEL, hd.Gibbs(), seconds=seconds)


def test_annealing_by_sweeps_and_seconds():
    result = hd.infer(
        MODEL, hd.Gibbs(schedule="linear"), sweeps=50, seconds=1000, keep=[hd.BestState()]
    )
    whole = hd.infer(MODEL, hd.Gibbs(schedule="linear"), sweeps=50, keep=[hd.BestState()])
    assert result.sweeps == 50 and result.best.log_score == whole.best.log_score


def run_with(**options):
    start = {"done": 0, "seconds": 0.0, "interrupted": None, "first": 1, "least": 1}
    return SimpleNamespace(**{**start, **options})


def test_pace_of_a_block_that_took_no_time(monkeypatch):
    """The next is as long as may be, and with little time left the next has one sweep."""
    little = 2.0**-10
    took = [0.0, 9.0 - little, little]
    clock = SimpleNamespace(perf_counter=lambda: now[0])
    now, asked = [0.0], []
    monkeypatch.setattr(herded.run.run_loop, "time", clock)
    run = run_with(seconds=1.0, most=1000)  # has had a second
    run.is_finished = lambda: False

    def advance(most):
        asked.append(most)
        now[0] += took[len(asked) - 1]
        return most

    run.advance = advance
    run_until_done(run, stop_event_on_interrupt(), seconds=10)
    assert asked == [1, 1000, 1] and run.seconds == 10 and run.interrupted is False


def test_blocks_grow_with_what_workers_can_do():
    """Where no clock ends a run, its blocks are as long as it says before each."""
    asked = []
    run = run_with(most=1)

    def advance(most):
        asked.append(most)
        run.most *= 8
        return most

    run.advance, run.is_finished = advance, lambda: len(asked) == 4
    run_until_done(run, stop_event_on_interrupt())
    assert asked == [1, 8, 64, 512]


@pytest.mark.parametrize(("least", "expected"), [(1, [64, 2, 2]), (16, [64, 16, 16])])
def test_blocks_are_short_where_sweeps_are_slow(monkeypatch, least, expected):
    """A signal, a checkpoint or a bar waits for half a second, not for a block of any size."""
    now, asked = [0.0], []
    monkeypatch.setattr(herded.run.run_loop, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    run = run_with(most=10**6, first=64, least=least)

    def advance(most):
        asked.append(most)
        now[0] += 0.25 * most
        return most

    run.advance, run.is_finished = advance, lambda: len(asked) == 3
    run_until_done(run, stop_event_on_interrupt())
    assert asked == expected


# -- callback ----------------------------------------------------------------------------------


def test_a_callback_sees_every_block(monkeypatch):
    monkeypatch.setattr(herded.run.sampler_run, "BLOCK_ENTRIES", 600)
    seen = []

    def callback(snapshot):
        marginals = snapshot.chain_marginals()
        seen.append(
            (snapshot.sweeps, None if marginals is None else marginals.copy(), snapshot.best())
        )

    keep = [hd.Marginals(rao_blackwell=True), hd.BestState()]
    result = hd.infer(
        MODEL, hd.Gibbs(), sweeps=300, burn_in=100, chains=2, keep=keep, callback=callback
    )
    assert [sweeps for sweeps, _, _ in seen] == [0, 100, 200, 300]
    assert seen[0][1:] == (None, None)
    assert (seen[-1][1] == result.chain_marginals).all()
    assert seen[-1][2] == pytest.approx(result.best.log_score)


def test_a_callback_of_a_run_that_keeps_something_else():
    seen = []
    hd.infer(
        MODEL,
        hd.Gibbs(),
        sweeps=9,
        keep=[hd.Joint()],
        callback=lambda snapshot: seen.append((snapshot.chain_marginals(), snapshot.best())),
    )
    assert seen == [(None, None)]


def test_a_callback_of_a_solver():
    seen = []
    result = hd.infer(
        MODEL,
        hd.BeliefPropagation(),
        callback=lambda snapshot: seen.append(snapshot.chain_marginals()),
    )
    assert (seen[-1] == result.chain_marginals).all()
    keep = [hd.BestState()]
    hd.infer(MODEL, hd.Exact(), keep=keep, callback=lambda snapshot: seen.append(snapshot.best()))
    assert seen[-1] == hd.infer(MODEL, hd.Exact()).best.log_score


# -- signals -----------------------------------------------------------------------------------


@pytest.fixture
def _terminable():
    """As in a program that ends with SIGTERM as it does with Ctrl-C."""

    def handle(number, frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, handle)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("_terminable")
def test_sigterm_stops_after_the_sweep_where_the_program_handles_it():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt) as caught:
        hd.infer(
            MODEL,
            hd.Gibbs(),
            sweeps=10**10,
            callback=lambda _: os.kill(os.getpid(), signal.SIGTERM),
        )
    result = caught.value.result
    assert result.provenance["interrupted"] and result.sweeps > 0
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.usefixtures("_terminable")
def test_sigterm_ends_all_runs_together():
    ended = []

    def runs():
        with stop_all_runs_on_interrupt():
            for _ in range(2):
                hd.infer(
                    MODEL,
                    hd.Gibbs(),
                    sweeps=5,
                    callback=lambda _: os.kill(os.getpid(), signal.SIGTERM),
                )
                ended.append(1)

    with pytest.raises(KeyboardInterrupt):
        runs()
    assert ended == []


def test_sigterm_is_left_alone_where_the_program_leaves_it():
    seen = []
    hd.infer(
        MODEL,
        hd.Gibbs(),
        sweeps=5,
        callback=lambda _: seen.append(signal.getsignal(signal.SIGTERM)),
    )
    assert seen == [signal.SIG_DFL]


def test_one_interruptible_within_another_shares_its_event():
    before = signal.getsignal(signal.SIGINT)
    with stop_event_on_interrupt() as outer:
        os.kill(os.getpid(), signal.SIGINT)
        assert outer.wait(5)
        with stop_event_on_interrupt() as inner:
            assert inner is outer
        result = execute(build_query(MODEL, hd.Gibbs(), sweeps=5))
        assert result.sweeps == 0 and result.provenance["interrupted"] and not result.kept
    assert signal.getsignal(signal.SIGINT) is before
    assert hd.infer(MODEL, hd.Gibbs(), sweeps=5).sweeps == 5


def test_ctrl_c_may_wait_for_the_end_of_a_block():
    done = []

    def work():
        with defer_interrupt():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            done.append(1)
        done.append(2)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1] and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("sweeps", [5, 200_000])
def test_who_is_deaf_to_ctrl_c_stays_so(sweeps):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pressed = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    result = hd.infer(MODEL, hd.Gibbs(), sweeps=sweeps)
    pressed.join()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert result.sweeps == sweeps and not result.provenance["interrupted"]


def test_ctrl_c_raises_at_once_where_there_is_no_part_to_keep(monkeypatch):
    def pressed(self, layout, state, sweeps):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
        pytest.fail("nothing was raised")

    monkeypatch.setattr(hd.Exact, "advance", pressed)
    with pytest.raises(KeyboardInterrupt):
        hd.infer(MODEL, hd.Exact())

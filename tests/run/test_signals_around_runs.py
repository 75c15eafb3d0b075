"""What a signal meets around a run: errors, threads, event loops, and other signals."""

import asyncio
import pickle
import threading
import time

import numpy as np
import pytest

import herded as hd
from herded.run.interrupts import stop_all_runs_on_interrupt, stop_event_on_interrupt
from herded.run.run_loop import BlockDropped
from herded.run.sampler_run import SamplerRun
from tests.run.interrupts import (  # noqa: F401
    caught_from,
    flags_of,
    handlers_are_restored,
    press,
    stop_after,
)

MODEL = hd.ising_grid(np.random.default_rng(0).normal(size=(4, 4)), 0.3)
OTHER = hd.ising_grid(np.zeros((4, 4)), 0.9)
ENDLESS = 10**9


def test_other_errors_of_a_callback_pass():
    def broken(snapshot):
        raise ValueError("of the user")

    with pytest.raises(ValueError, match="of the user"):
        hd.infer(MODEL, hd.Gibbs(), sweeps=ENDLESS, callback=broken)


def test_an_error_after_ctrl_c_does_not_hide_it():
    """Who catches errors in a loop over models must not go on."""

    def broken(snapshot):
        press()
        raise ValueError("of the user")

    error = caught_from(hd.infer, MODEL, hd.Gibbs(), sweeps=ENDLESS, callback=broken)
    assert isinstance(error.__cause__, ValueError) and error.result is None


def test_a_run_within_the_callback_of_another():
    def nested(snapshot):
        hd.infer(OTHER, hd.Gibbs(), sweeps=ENDLESS, callback=stop_after(5))

    error = caught_from(hd.infer, MODEL, hd.Gibbs(), sweeps=ENDLESS, callback=nested)
    assert error.result.model is MODEL  # of the outer one, which the user has called


@pytest.mark.parametrize("method", [hd.Gibbs(), "gibbs"])
def test_a_callback_interrupts_in_another_thread(method):
    found = []

    def work():
        options = {"sweeps": 10**6, "callback": stop_after(10)}
        found.append(caught_from(hd.infer, MODEL, method, **options).result)
        found.append(hd.infer(MODEL, method, on_interrupt="return", **options))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(found) == 2 and all(flags_of(part) == ["warning"] for part in found)


def test_a_run_in_an_event_loop():
    async def work():
        hd.infer(MODEL, hd.Gibbs(), sweeps=ENDLESS, callback=lambda _: press())

    with pytest.raises(KeyboardInterrupt) as caught:
        asyncio.run(work())
    assert flags_of(caught.value.result) == ["warning"]


def test_the_first_signal_after_a_callback_is_not_a_second_one():
    with stop_event_on_interrupt() as stop:
        stop.set()  # as `run_all` does for a callback
        press()  # within a second of nothing: it is not raised


def test_a_second_signal_ends_work_of_many_runs_at_once(monkeypatch):
    clock, came = [10.0], []
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def work():
        with stop_all_runs_on_interrupt():
            press()
            clock[0] += 2.0
            came.append(1)
            press()
            came.append(2)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert came == [1]


def test_a_block_that_was_dropped_leaves_the_run_as_it_was(monkeypatch):
    """As where a worker was interrupted."""
    advance = SamplerRun.advance

    def dropped(self, most):
        if self.done >= 20:
            raise BlockDropped
        return advance(self, 20)

    monkeypatch.setattr(SamplerRun, "advance", dropped)
    part = caught_from(hd.infer, MODEL, hd.Gibbs(), sweeps=ENDLESS, callback=print).result
    assert part.sweeps == 20 and flags_of(part) == ["warning"]


def test_an_interruption_can_be_sent_between_processes():
    error = hd.Interrupted("interrupted", {"a": 1})
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is hd.Interrupted and again.result == {"a": 1}
    assert str(again) == "interrupted" and not isinstance(again, Exception)

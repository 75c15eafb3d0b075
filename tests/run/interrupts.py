"""Ctrl-C in tests: signals that come when a test says, without waiting and without a clock."""

import signal

import pytest

import herded as hd
import herded.run.interrupts
from herded.run.sampler_run import SamplerRun


@pytest.fixture(autouse=True)
def handlers_are_restored():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    yield
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert herded.run.interrupts._halt is None and herded.run.interrupts._of_thread.stop is None


def press(*_, **__):
    signal.raise_signal(signal.SIGINT)


def stop_after(sweeps):
    """A callback that interrupts a run once as many sweeps are recorded."""

    def callback(snapshot):
        if snapshot.sweeps >= sweeps:
            raise KeyboardInterrupt

    return callback


def pressing(function, once=False):
    """The function, with Ctrl-C pressed just before it does its work.

    `once` only before its first call: a second Ctrl-C raises at once if a second has passed, which
    compiling may take.
    """
    calls = []

    def pressed(*args, **options):
        if not (once and calls):
            press()
        calls.append(args)
        return function(*args, **options)

    return pressed


def press_in_block(monkeypatch, number, sweeps=20):
    """Press Ctrl-C in a block of the next runs, whose blocks have at most so many sweeps."""
    advance, blocks = SamplerRun.advance, []

    def pressed(self, most):
        blocks.append(self)
        if len(blocks) == number:
            press()
        return advance(self, min(most, sweeps))

    monkeypatch.setattr(SamplerRun, "advance", pressed)
    return blocks


def caught_from(function, *args, **options):
    with pytest.raises(hd.Interrupted) as caught:
        function(*args, **options)
    return caught.value


def flags_of(result):
    """The severities of its diagnostics of an interruption, of which there is one or none."""
    found = [one for one in result.diagnostics if one.kind == "interrupted"]
    assert all("interrupted" in one.message for one in found)
    return [one.severity for one in found]

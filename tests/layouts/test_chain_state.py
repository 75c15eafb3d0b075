"""The state of a chain: it is written down whole, and takes back only what is of its own run."""

import numpy as np
import pytest

import herded as hd
from herded.errors import CheckpointError
from tests.support.fixtures import CHAIN, GRID, MODELS, every_sampler


def started(method, model, sweeps=9, tally=True):
    """A chain after some sweeps, and one that has not begun."""
    layout = method.compile(model)
    x = np.maximum(model.evidence, 0)
    done, fresh = (method.init(layout, x, chain=1, tally=tally, total=sweeps) for _ in range(2))
    block = np.zeros((sweeps, layout.n_stored), layout.state_type)
    layout.fill(block, done)
    method.advance(layout, done, block)
    return done, fresh


def written(state):
    return {name: (str(array.dtype), array.tolist()) for name, array in state.arrays().items()}


@every_sampler
@pytest.mark.parametrize("model", [CHAIN, GRID, MODELS["all clamped"]], ids=["CHAIN", "GRID", "-"])
def test_what_is_written_down_comes_back(method, model):
    done, fresh = started(method, model)
    fresh.restore(done.arrays())
    assert written(fresh) == written(done) and fresh.sweep == 9 and fresh.chain == 1
    copy = done.copy()
    assert written(copy) == written(done)
    for mine, other in zip(done.arrays().values(), copy.arrays().values(), strict=True):
        assert not np.shares_memory(mine, other)


@every_sampler
@pytest.mark.parametrize("model", [CHAIN, GRID], ids=["CHAIN", "GRID"])
def test_what_is_of_another_run_is_refused(method, model):
    """And leaves the state as it was."""
    done, fresh = started(method, model)
    arrays, before = done.arrays(), written(fresh)
    spoiled = [{**arrays, "more": np.zeros(3)}]
    for name, array in arrays.items():
        spoiled.append({other: a for other, a in arrays.items() if other != name})
        spoiled.append({**arrays, name: np.append(array, array[:1])})
        if name != "numbers":
            spoiled.append({**arrays, name: array.astype(np.float32)})
            spoiled.append({**arrays, name: array[None]})
    for wrong in spoiled:
        with pytest.raises(CheckpointError, match=r"^expected .* the state is of another run$"):
            fresh.restore(wrong)
        assert written(fresh) == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (hd.HerdedGibbs(), hd.Gibbs()),
        (hd.Gibbs(), hd.HerdedGibbs()),
        (hd.HerdedGibbs("lazy"), hd.HerdedGibbs("full")),
        (hd.HerdedGibbs("full"), hd.Gibbs()),
    ],
    ids=repr,
)
def test_a_run_goes_on_only_with_its_own_method(first, second):
    state = hd.infer(CHAIN, first, sweeps=3).state
    with pytest.raises(CheckpointError, match="another run"):
        hd.infer(CHAIN, second, sweeps=3, start=state)


def test_arrays_of_ones_own_may_have_any_name():
    """Also those of hash tables, which are told by all of their names."""
    own = {"keys": np.arange(3), "w": np.zeros((2, 2))}
    state, other = (hd.State(np.array([0, 1]), method_arrays=dict(own)) for _ in range(2))
    state.method_arrays["keys"] = np.arange(3)[::-1].copy()
    other.restore(state.arrays())
    assert other.method_arrays["keys"].tolist() == [2, 1, 0] and other.method_arrays["w"].shape == (
        2,
        2,
    )

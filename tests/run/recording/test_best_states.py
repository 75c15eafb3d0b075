"""The best of each part: bit for bit that of the naive twin, on any thread."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.run.recording.best_state_recorder import BestRecorder
from herded.system import threads
from tests.conformance.twins.best_states import naive_best
from tests.support.example_budget import examples
from tests.support.strategies import lattices, models, seeds

quick = examples(60)


def recorded(model, samples, kind, cuts=(), pool=None):
    """What the recorder keeps of samples that come in blocks."""
    layout = hd.Gibbs().compile(model, kind=kind)
    recorder = BestRecorder(layout)
    for block in np.split(samples, cuts):
        recorder.add(layout.store(block), None, pool)
    return recorder.arrays["score"], recorder.arrays["state"]


def random_samples(model, count, rng):
    """States of any probability that agree with the evidence."""
    samples = rng.integers(0, model.cardinalities, (count, model.n_variables))
    return np.where(model.evidence >= 0, model.evidence, samples)


def assert_the_twins(found, model, samples):
    scores, state = naive_best(model, samples)
    np.testing.assert_array_equal(found[0], scores)
    np.testing.assert_array_equal(found[1], state)


@quick
@given(model=models(max_variables=7), seed=seeds, cut=st.integers(0, 9))
def test_equal_to_the_naive_twin(model, seed, cut):
    """Factors of any arity, none of a variable, hard zeros, evidence, parts of one variable."""
    samples = random_samples(model, 9, np.random.default_rng(seed))
    for kind in ("table", "factor"):
        assert_the_twins(recorded(model, samples, kind, [cut]), model, samples)


@quick
@given(model=lattices(), seed=seeds)
def test_lattices_equal_to_the_naive_twin(model, seed):
    """Packed samples, of pictures that evidence may cut into parts."""
    samples = random_samples(model, 6, np.random.default_rng(seed))
    assert_the_twins(recorded(model, samples, "grid", [2]), model, samples)


@pytest.mark.parametrize("workers", [2, 3, 50])
def test_threads_do_not_matter(workers, monkeypatch):
    monkeypatch.setattr(threads, "MIN_UPDATES_PER_THREAD", 1)
    rng = np.random.default_rng(workers)
    lengths = rng.integers(1, 9, 40)
    model = hd.chain_model(
        rng.normal(size=(lengths.sum(), 3)), rng.normal(size=(3, 3)), lengths=lengths
    )
    samples = random_samples(model, 150, rng)  # more than are scored at once
    with ThreadPoolExecutor(workers) as pool:
        found = recorded(model, samples, "table", [7, 80], pool)
    assert_the_twins(found, model, samples)


@pytest.mark.parametrize("workers", [1, 2, 5])
@quick
@given(updates=st.lists(st.integers(0, 50), max_size=12))
def test_every_part_is_run_once(workers, updates):
    """By one thread or by several, also where parts have no work left."""
    run = []
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(workers) as pool:
        patch.setattr(threads, "MIN_UPDATES_PER_THREAD", 20)
        threads.run_ranges(
            lambda first, last: run.append((first, last)),
            len(updates),
            lambda: np.array(updates, int),
            pool,
        )
    run.sort()
    assert [part for first, last in run for part in range(first, last)] == [*range(len(updates))]
    assert len(run) <= workers

"""Many models on executors: the bits of one after another."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from herded.run.distributed import batch as many
from herded.run.distributed import worker_pool
from herded.run.distributed.worker_pool import WorkerPool, _run_if_same_version
from herded.run.sampler_run import SamplerRun
from tests.support.commands import small_grid
from tests.support.timeouts import HANGS
from tests.support.workers import Deadly, processes, same

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")


def models(count):
    rng = np.random.default_rng(3)
    edges = [[0, 1], [1, 2]]
    return [
        hd.pairwise_model(rng.normal(size=(3, 2)), edges, rng.normal(size=(2, 2, 2)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("method", [None, hd.Gibbs(seed=4), hd.Exact()])
def test_threads_give_what_a_loop_gives(method):
    asked = models(40)
    options = {} if isinstance(method, hd.Exact) else {"sweeps": 50}
    found = hd.infer_many(asked, method, **options)
    assert len(found) == 40
    for model, result in zip(asked, found, strict=True):
        assert same(result, hd.infer(model, method, **options))
        assert result.model is model


def test_processes_give_the_same_and_a_dead_one_is_replaced(tmp_path):
    asked = models(12)
    sent = [*asked[:5], Deadly(asked[5], tmp_path), *asked[6:]]
    with processes() as pool:
        found = hd.infer_many(sent, hd.HerdedGibbs(), sweeps=50, executor=pool)
    assert len(list(tmp_path.glob("died-*"))) == 1
    for k, (model, result) in enumerate(zip(asked, found, strict=True)):
        assert same(result, hd.infer(model, hd.HerdedGibbs(), sweeps=50))
        assert result.model is sent[k]


def test_workers_that_never_live(tmp_path):
    with processes(1) as pool, pytest.raises(hd.WorkerError, match="4 attempts"):
        hd.infer_many(
            [Deadly(models(1)[0], tmp_path, times=99)], hd.HerdedGibbs(), sweeps=5, executor=pool
        )
    assert len(list(tmp_path.glob("died-*"))) == worker_pool.MAX_ATTEMPTS


def test_results_come_as_they_finish(monkeypatch):
    """The first waits until the others were given."""
    slow, given_, run = small_grid(3), threading.Event(), many.infer

    @wraps(run)
    def infer(model, *args, **kwargs):
        if model is slow:
            given_.wait(60)  # not for ever: who waits for it here must fail, not hang
        return run(model, *args, **kwargs)

    monkeypatch.setattr(many, "infer", infer)
    order = []
    with ThreadPoolExecutor(2) as pool:
        for number, _ in hd.infer_as_completed(
            [slow, *models(3)], hd.HerdedGibbs(), sweeps=5, executor=pool
        ):
            order.append(number)
            if len(order) == 3:
                given_.set()
    assert sorted(order) == [0, 1, 2, 3] and order[-1] == 0


def test_generators_are_drawn_as_workers_come_free(monkeypatch):
    drawn = []

    def endless():
        for model in models(1) * 10_000:
            drawn.append(model)
            yield model

    monkeypatch.setattr(many, "MAX_BATCH_MODELS", 50)  # models in a batch
    finished = hd.infer_as_completed(
        endless(), hd.HerdedGibbs(), sweeps=5, executor=ThreadPoolExecutor(1)
    )
    for _, (number, _) in zip(range(3), finished, strict=False):
        assert number in (0, 1, 2)
    finished.close()
    assert len(drawn) <= 5 * 50


def test_files_are_read_where_they_are_needed(tmp_path):
    paths = []
    for k in range(3):
        paths.append(tmp_path / f"{k}.uai")
        hd.io.write_uai(small_grid(3, seed=k), paths[-1])
    found = hd.infer_many(paths, hd.HerdedGibbs(), sweeps=20)
    for path, result in zip(paths, found, strict=True):
        assert same(result, hd.infer(hd.read_model(path), hd.HerdedGibbs(), sweeps=20))
        assert result.model.n_variables == 9


def test_no_models_no_results():
    assert hd.infer_many([], hd.HerdedGibbs()) == []


def test_an_error_says_which_model(tmp_path):
    with pytest.raises(hd.ModelError, match=r"^model 2: expected a model, got b'x': build"):
        hd.infer_many([*models(2), b"x"], hd.HerdedGibbs(), sweeps=5)
    with pytest.raises(hd.FileError, match=r"^model 0 \(.*none\.uai\): "):
        hd.infer_many([tmp_path / "none.uai"], hd.HerdedGibbs(), sweeps=5)


@pytest.mark.parametrize("name", ["start", "layout", "checkpoint", "callback"])
def test_options_about_one_model(name):
    with pytest.raises(hd.MethodError, match=f"no {name}= for many models"):
        hd.infer_many(models(1), hd.HerdedGibbs(), **{name: None})


def test_one_model_is_no_list(tmp_path):
    for one, shown in (
        (models(1)[0], "FactorGraph of shape (3,)"),
        (hd.ising_grid(np.zeros((3, 4))), "Lattice of shape (3, 4)"),
        ("a.uai", "'a.uai'"),
        (tmp_path, "Path"),
        (7, "7"),
    ):
        with pytest.raises(hd.ModelError, match="expected a list of models or of files") as caught:
            hd.infer_many(one, hd.HerdedGibbs())
        assert shown in str(caught.value) and "\n" not in str(caught.value)


def test_options_that_infer_has_not():
    with pytest.raises(hd.MethodError, match=r"sweeps=, .* for infer_many, got workers=: executor"):
        hd.infer_many(models(1), hd.HerdedGibbs(), workers=2)
    with pytest.raises(hd.MethodError, match="got sweep="):
        hd.infer_as_completed(models(1), hd.HerdedGibbs(), sweep=2)


def test_what_is_no_executor():
    with pytest.raises(hd.MethodError, match=r"expected executor= as an Executor .* got 3"):
        hd.infer_many(models(1), hd.HerdedGibbs(), executor=3)
    with pytest.raises(hd.MethodError, match="expected no executor for Exact"):
        hd.infer(models(1)[0], hd.Exact(), executor=ThreadPoolExecutor(1))


def test_another_version_on_a_worker():
    with pytest.raises(hd.WorkerError, match=r"expected herded 0\.0\.0 on every worker, got"):
        _run_if_same_version("0.0.0", 1, print)


def test_workers_without_herded():
    with (
        WorkerPool(ThreadPoolExecutor(1)) as crew,
        pytest.raises(hd.WorkerError, match="without it"),
    ):
        list(crew.completed(_without_herded, [()]))


def _without_herded():
    raise ModuleNotFoundError("no", name="herded.tiled")


def test_a_scheduler_that_goes_away():
    """While one job is at work and another waits."""
    pool, asked = ThreadPoolExecutor(1), threading.Semaphore(0)
    submit = pool.submit

    def submitted(*args):
        future = submit(*args)
        asked.release()
        return future

    def go_away():
        assert asked.acquire(timeout=HANGS) and asked.acquire(timeout=HANGS)  # the other is asked
        pool.shutdown(wait=False, cancel_futures=True)

    pool.submit = submitted
    with pytest.raises(hd.WorkerError, match="scheduler to keep running"):
        list(WorkerPool(pool).completed(go_away, [(), ()]))


def test_what_cannot_be_sent():
    method = hd.HerdedGibbs(schedule=lambda t: 1.0)
    with processes(1) as pool, pytest.raises(hd.MethodError, match="can be sent to workers, but:"):
        hd.infer_many(models(1), method, sweeps=5, executor=pool)


def test_one_bar_over_all(monkeypatch):
    shown = []

    class Bar(many.Progress):
        def update(self, done, note=""):
            shown.append((done, self.total, self.units))

    monkeypatch.setattr(many, "Progress", Bar)
    hd.infer_many(models(7), hd.HerdedGibbs(), sweeps=5)
    assert shown == [(k, 7, "models") for k in range(1, 8)]


def test_interrupted(monkeypatch):
    """Ctrl-C ends all runs, also those in threads, which would take days."""
    slow, advance = hd.ising_grid(np.zeros((60, 60)), 0.1), SamplerRun.advance

    def pressed(*args):
        os.kill(os.getpid(), signal.SIGINT)
        return advance(*args)

    monkeypatch.setattr(SamplerRun, "advance", pressed)
    with pytest.raises(KeyboardInterrupt):
        hd.infer_many([slow] * 8, hd.HerdedGibbs(), sweeps=10**9)


@pytest.mark.parametrize(
    ("method", "burn_in", "expected"),
    [
        (hd.Gibbs(), 0, [False, True, True]),
        (hd.Gibbs(), many.SMALL_RUN_UPDATES, [False] * 3),
        (hd.Exact(), 0, [False] * 3),
    ],
)
def test_threads_take_turns_at_small_models(method, burn_in, expected, monkeypatch):
    """At all of a batch that come after one, and at nothing else."""
    turn, locked, run = threading.Lock(), [], many.infer

    def seen(*args, **kwargs):
        locked.append(turn.locked())
        return run(*args, **kwargs)

    monkeypatch.setattr(many, "infer", seen)
    options = {"sweeps": 5, "burn_in": burn_in}
    _, found = many.infer_batch(0, models(3), method, options, turn)
    assert locked == expected and not turn.locked()
    for result, alone in zip(found, models(3), strict=True):
        assert (result.marginals == run(alone, method, **options).marginals).all()


def test_waiting_for_a_turn_is_no_work(monkeypatch):
    now = [0.0]

    class Turn:
        def __enter__(self):
            now[0] += 1000.0

        def __exit__(self, *_):
            pass

    def infer(model, *args, **kwargs):
        now[0] += 1.0
        return run(model, *args, **kwargs)

    run = many.infer
    monkeypatch.setattr(many, "infer", infer)
    monkeypatch.setattr(many, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    seconds, _ = many.infer_batch(0, models(3), hd.HerdedGibbs(), {"sweeps": 5}, Turn())
    assert seconds == 3.0 and now[0] == 1003.0


def test_in_another_thread():
    """Where there are no signals."""
    found = []
    thread = threading.Thread(
        target=lambda: found.extend(hd.infer_many(models(3), hd.HerdedGibbs(), sweeps=5))
    )
    thread.start()
    thread.join()
    assert len(found) == 3


@given(
    total=st.integers(0, 300),
    hint=st.booleans(),
    crew=st.integers(1, 8),
    seconds=st.lists(st.floats(0, 1), max_size=300),
)
def test_batches_hold_every_model_once(total, hint, crew, seconds):
    batches = many._Batches(range(total), total if hint else 0, crew)
    seen = []
    for k, (first, batch) in enumerate(batches):
        assert batch and first == len(seen) and len(batch) <= many.MAX_BATCH_MODELS
        seen += batch
        if k < len(seconds):
            batches.learn(len(batch), seconds[k])
    assert seen == list(range(total))

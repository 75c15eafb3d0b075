"""`--engine` and `--workers`, and `herded many`."""

import multiprocessing
import os

import pytest

import herded as hd
from herded.cli import executor_options
from herded.cli.main import main
from tests.support.commands import fails, run, small_grid
from tests.support.workers import quick_context

COUNT = 4


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k in range(COUNT):
        hd.io.write_uai(small_grid(4, seed=k), f"{k}.uai")
    if os.name != "nt":
        contexts = {"spawn": quick_context()}  # no other is asked for: forks of threads may hang
        monkeypatch.setattr(multiprocessing, "get_context", contexts.__getitem__)


@pytest.mark.parametrize("task", ["mar", "map"])
def test_chains_in_processes_find_what_one_process_finds(task, capsys, tmp_path):
    asked = ["infer", "0.uai", "--task", task, "--method", "herded", "--sweeps", "300"]
    code, out, _ = run(capsys, *asked, "--out", "here")
    assert code == 0 and "engine" not in out
    code, out, err = run(capsys, *asked, "--out", "there", "--workers", "2")
    assert code == 0 and err == "" and "engine     2 processes\n" in out
    assert (tmp_path / "here").read_bytes() == (tmp_path / "there").read_bytes()


def test_an_engine_that_is_none(capsys):
    asked = "infer", "0.uai", "--method", "herded"
    for engine in ("http://host:1", "dask://host", "dask://:x", "dask://a:1/b"):
        assert "--engine dask://HOST:PORT" in fails(capsys, 1, *asked, "--engine", engine)
    assert "--workers of 1 or more, got 0" in fails(capsys, 1, *asked, "--workers", "0")
    assert "no --workers with --method exact" in fails(
        capsys, 1, "infer", "0.uai", "--method", "exact", "--workers", "2"
    )


def test_an_engine_that_exact_inference_has_no_use_for(capsys):
    code, out, _ = run(capsys, "infer", "0.uai", "--workers", "2")
    assert code == 0 and "unused     --workers, which exact does not use" in out


def test_a_scheduler_that_does_not_answer(capsys, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(executor_options, "SCHEDULER_TIMEOUT_SECONDS", 0.5)
    code, _, err = run(
        capsys, "infer", "0.uai", "--method", "herded", "--engine", "dask://127.0.0.1:1"
    )
    assert code == 1 and err.count("\n") == 1
    assert (
        "herded: expected a Dask scheduler at dask://127.0.0.1:1, got no answer within 0.5" in err
    )


class OldWorkers:
    """A client whose workers have another version."""

    def __init__(self, version):
        self.version = version

    def run(self, function):
        return {"tcp://a:1": function(), "tcp://b:2": self.version}


@pytest.mark.parametrize("version", ["0.0.1", "none"])
def test_workers_of_another_version(version):
    with pytest.raises(hd.WorkerError, match=rf"got {version} at tcp://b:2: install the same"):
        executor_options._check_versions(OldWorkers(version))
    executor_options._check_versions(OldWorkers(hd.__version__))


# -- herded many ----------------------------------------------------------------------------------


def test_many_answers_are_those_of_infer(capsys, tmp_path):
    names = [f"{k}.uai" for k in range(COUNT)]
    options = ["--method", "herded", "--sweeps", "200"]
    code, out, err = run(capsys, "many", *names, "--out", "all", "--workers", "2", *options)
    assert code == 0 and err == ""
    assert out.startswith("models     4 on 2 processes\n") and out.count("wrote all/") == COUNT
    for name in names:
        assert main(["infer", name, "--out", "one", *options]) == 0
        assert (tmp_path / "one").read_bytes() == (tmp_path / "all" / f"{name}.MAR").read_bytes()


def test_one_bad_model_among_many(capsys, tmp_path):
    (tmp_path / "bad.uai").write_text("no model")
    code, out, err = run(
        capsys, "many", "0.uai", "bad.uai", "1.uai", "--out", "all", "--workers", "1"
    )
    assert code == 3 and "got none for 1 of 3" in err
    assert "bad.uai: expected " in out and out.count("wrote") == 2
    assert sorted(p.name for p in (tmp_path / "all").iterdir()) == ["0.uai.MAR", "1.uai.MAR"]


def test_several_mistakes_in_many_models(capsys, tmp_path):
    (tmp_path / "bad.uai").write_text("no model")
    options = ("--out", "all", "--workers", 1, "--method", "gibbs", "--chains", 0)
    assert run(capsys, "many", "0.uai", "bad.uai", *options)[0] == 1
    assert run(capsys, "many", "bad.uai", "missing.uai", *options)[0] == 3


def test_answers_that_would_lie_in_one_place(capsys, tmp_path):
    (tmp_path / "a").mkdir()
    hd.io.write_uai(small_grid(3), "a/0.uai")
    sentence = fails(capsys, 3, "many", "0.uai", "a/0.uai", "--out", "all")
    assert "models of different names, got 0.uai and a/0.uai" in sentence
    assert "could not create the folder --out" in fails(
        capsys, 3, "many", "0.uai", "--out", "1.uai"
    )


def test_the_executor_of_nothing_is_none():
    with executor_options.open_executor(None, None) as executor:
        assert executor is None
    assert executor_options.describe_executor(None, None) == ""
    assert executor_options.describe_executor("dask://a:1", 3) == "dask://a:1, at least 3 workers"

"""`herded infer` with options and files that make no sense: one sentence, and nothing is done."""

import argparse
import os

import numpy as np
import pytest

import herded as hd
from herded.cli.command_wording import error_text
from herded.cli.commands.infer_arguments import parse_size
from herded.system.memory_limits import check_memory
from tests.support.commands import fails, run, small_grid, write_small_files


@pytest.fixture(autouse=True)
def _files(own_folder):
    write_small_files()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--task", "pr", "--method", "herded"], "does not estimate log Z"),
        (["--task", "pr", "--method", "gibbs"], "Bethe's estimate"),
        (["--task", "map", "--method", "bp"], "does not search for a state"),
        (["--task", "map", "--reference", "grid.MAR"], "--reference with --task mar"),
        (["--task", "map", "--method", "herded", "--slack", "1"], "no --slack"),
        (["--task", "map", "--method", "herded", "--burn-in", "5"], "no --burn-in"),
        (["--task", "map", "--method", "herded", "--weights", "full"], "--weights lazy or pooled"),
        (
            ["--task=map", "--method=herded", "--seconds=1", "--checkpoint=c"],
            "expected --sweeps with --task map and --checkpoint",
        ),
        (["--method", "gibbs", "--weights", "full"], "--weights and --slack with --method herded"),
        (["--method", "exact", "--chains", "2"], "no --chains with --method exact"),
        (["--method", "bp", "--checkpoint", "c"], "no --checkpoint with --method bp"),
        (["--method", "mean-field", "--burn-in", "2"], "no --burn-in"),
        (["--method", "gibbs", "--chains", "0"], "--chains from 1 to 1e+15, got 0"),
        (["--method", "gibbs", "--sweeps", "0"], "--sweeps from 1 to 1e+15"),
        (["--method", "gibbs", "--burn-in", "-1"], "--burn-in from 0 to 1e+15"),
        (["--method", "gibbs", "--threads", "0"], "--threads from 1 to 1e+15"),
        (["--method", "gibbs", "--seconds", "0"], "--seconds above 0"),
        (["--method", "gibbs", "--seconds", "nan"], "--seconds above 0"),
        (["--method", "gibbs", "--checkpoint-every", "-1"], "--checkpoint-every of 0 or more"),
        (["--method", "gibbs", "--seed", "-1"], "0 or more as seed"),
        (["--method", "herded", "--slack", "99"], "slack from 0 to 64"),
        (["--given", "rain"], "--given NAME=STATE"),
        (["--given", "=1"], "--given NAME=STATE"),
        (["--given", "99=1"], "variable from 0 to 15"),
        (["--given", "1=2"], "evidence from 0 to 1"),
        (["--given", "1=1", "--given", "1=0"], "--given 1 once"),
        (["--given", "rain=1"], "the name of a variable"),
    ],
)
def test_options_that_make_no_sense(options, said, capsys):
    before = sorted(os.listdir())
    assert said in fails(capsys, 1, "infer", "grid.uai", *options)
    assert sorted(os.listdir()) == before


def test_impossible_evidence(capsys):
    options = ("--given", "rain=no", "--given", "ground=wet")
    assert "positive probability" in fails(capsys, 1, "infer", "weather.bif", *options)


def test_files_that_cannot_be_read_or_written(capsys):
    os.mkdir("folder")
    with open("text.uai", "w") as file:
        file.write("MARKOV 2 2")
    with open("notes", "w") as file:
        file.write("the network has a variable")
    before = sorted(os.listdir())
    for options in (
        ["missing.uai"],
        ["text.uai"],
        ["folder"],
        ["grid.uai", "--evidence", "missing"],
        ["grid.uai", "--evidence", "weather.bif"],
        ["notes"],
        ["grid.uai", "--reference", "missing"],
        ["grid.uai", "--reference", "grid.uai"],
        ["weather.bif", "--reference", "grid.MAR"],
        ["grid.uai", "--out", "missing/out.MAR"],
        ["grid.uai", "--out", "folder"],
        ["grid.uai", "--out", ""],
    ):
        if options[-1]:
            assert options[-1].split("/")[0] in fails(capsys, 3, "infer", *options)
    assert sorted(os.listdir()) == before
    for path in ("missing/run.ckpt", "folder", "text.uai"):
        code, _, err = run(capsys, "infer", "grid.uai", "--method", "gibbs", "--checkpoint", path)
        assert code == 3 and path.split("/")[0] in err and err.count("\n") == 1
    assert sorted(os.listdir()) == before


def test_a_checkpoint_of_another_run(capsys):
    options = ("--method", "gibbs", "--sweeps", 20, "--checkpoint", "run.ckpt")
    run(capsys, "infer", "grid.uai", *options)
    code, _, err = run(capsys, "infer", "grid.uai", *options, "--seed", 2)
    assert code == 3 and "expected a checkpoint with method" in err


def test_memory_above_the_most(capsys):
    factors = [((0, i), np.zeros((2, 2))) for i in range(1, 31)]
    hd.io.write_uai(hd.FactorGraph([2] * 31, factors), "star.uai")
    options = ("--method", "herded", "--max-memory", "100M")
    said = fails(capsys, 4, "infer", "star.uai", *options, "--weights", "blanket")
    assert "variable 0 has 30 neighbours" in said and said.endswith("or raise --max-memory\n")
    assert "Use --weights pooled or lazy (--weights pooled --slack 4 is a good choice)" in said
    said = fails(capsys, 4, "infer", "star.uai", *options, "--weights", "lazy")
    assert "raise --max-memory" in said
    assert "treewidth" in run(capsys, "infer", "star.uai", "--max-memory", "100M")[1]
    hd.io.write_uai(small_grid(14), "large.uai")
    said = fails(capsys, 4, "infer", "large.uai", "--method", "exact", "--max-memory", "2M")
    assert "exact inference" in said and "use --method herded, or raise --max-memory" in said
    said = fails(capsys, 4, "infer", "grid.uai", "--max-memory", "1K")
    assert "grid.uai" in said and "raise --max-memory" in said
    options = ("--max-memory", "2M", "--methods", "herded")
    assert "use --methods herded, or raise --max-memory" in fails(
        capsys, 4, "compare", "large.uai", *options
    )
    out = run(capsys, "many", "grid.uai", "--out", "all", "--workers", 1, "--max-memory", "1K")[1]
    assert "grid.uai: expected" in out and "raise --max-memory" in out and "max_memory=" not in out


def test_advice_where_there_is_no_such_option():
    with pytest.raises(hd.MemoryLimitError) as caught:
        check_memory(2, 1, "got max_memory=1.uai")
    error = caught.value
    expected = "expected got max_memory=1.uai of at most 1 bytes, but it needs 2 bytes: "
    without, with_it = argparse.Namespace(), argparse.Namespace(max_memory=None)
    assert error_text(error, without) == f"{expected}use a smaller model"
    assert error_text(error, with_it) == f"{expected}use a smaller model, or raise --max-memory"
    assert str(error) == f"{expected}use a smaller model, or raise max_memory="


def test_seconds_that_do_not_suffice_for_the_burn_in(capsys):
    options = ("--method", "gibbs", "--seconds", 0.05, "--burn-in", 10**12)
    code, _, err = run(capsys, "infer", "grid.uai", *options)
    assert code == 1 and err.endswith("raise --seconds, or lower --burn-in\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000", 1000),
        ("1e6", 1e6),
        ("500M", 500 * 2**20),
        ("2 GiB", 2**31),
        ("1.5k", 1536),
        ("3GB", 3 * 2**30),
        ("1t", 2**40),
    ],
)
def test_sizes(text, expected):
    assert parse_size(text) == expected

"""What `herded infer` and `herded info` refuse, and what they say where they cannot be sure."""

import json

import numpy as np
import pytest

import herded as hd
from herded.cli.main import main
from tests.support.commands import small_grid
from tests.support.timeouts import ticking


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--out", "grid.uai"], "different files for --out and MODEL"),
        (
            ["--evidence", "grid.evid", "--out", "./grid.evid"],
            "different files for --out and --evid",
        ),
        (
            ["--checkpoint", "grid.uai", "--method", "gibbs"],
            "different files for --checkpoint and MODEL",
        ),
        (
            ["--out", "a", "--checkpoint", "a", "--method", "gibbs"],
            "different files for --out and --ch",
        ),
        (["--evidence", ""], "expected"),
        (["--reference", ""], "expected"),
        (["--sample", "0"], "expected --evidence with --sample"),
        (["--evidence", "two.evid"], "say which with --sample N"),
        (["--evidence", "two.evid", "--sample", "2"], "expected --sample from 0 to 1"),
        (["--evidence", "grid.evid", "--given", "0=0"], "expected --given 0 to agree with"),
        (["--seconds", "inf"], "expected --seconds above 0"),
        (["--burn-in", "9" * 30, "--method", "gibbs"], "expected --burn-in from 0 to"),
        (["--reference", "other.MAR"], "expected marginals of 2 states for variable 3"),
        (["--reference", "fewer.MAR"], "expected marginals of 16 variables"),
        (["--reference", "zeros.MAR"], "expected marginals that sum to 1"),
    ],
)
def test_refused(folder_of_files, capsys, options, says):
    before = {path.name: path.read_bytes() for path in folder_of_files.iterdir()}
    assert main(["infer", "grid.uai", *options]) in (1, 3)
    assert says in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder_of_files.iterdir()} == before


@pytest.fixture
def folder_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hd.io.write_uai(small_grid(4), "grid.uai")
    (tmp_path / "grid.evid").write_text("1 0 1\n")
    (tmp_path / "two.evid").write_text("2\n1 0 1\n1 0 0\n")
    states = np.full(16, 2)
    states[3] = 3
    hd.io.write_mar(np.full((16, 3), 0.3), "other.MAR", states)
    hd.io.write_mar(np.full((15, 2), 0.5), "fewer.MAR")
    hd.io.write_mar(np.zeros((16, 2)), "zeros.MAR")
    return tmp_path


def test_one_of_several_samples(folder_of_files, capsys):
    for number, certain in (("0", 1), ("1", 0)):
        assert (
            main(["infer", "grid.uai", "--evidence", "two.evid", "--sample", number, "--json"]) == 0
        )
        assert json.loads(capsys.readouterr().out)["marginals"][0][certain] == 1


def test_states_with_an_equals_sign_in_their_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = hd.FactorGraph(
        [2, 2],
        [((0,), np.log([0.5, 0.5])), ((0, 1), np.log([[0.9, 0.1], [0.2, 0.8]]))],
        names=["a=b", "c"],
        state_names=[["<=5", ">5"], ["no", "yes"]],
    )
    hd.save_model(model, "m.npz")
    assert main(["infer", "m.npz", "--given", "a=b=<=5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["marginals"][1] == pytest.approx([0.9, 0.1])


def test_a_longer_run_keeps_the_burn_in_of_its_checkpoint(folder_of_files, capsys):
    words = ["infer", "grid.uai", "--method", "herded", "--checkpoint", "run.ckpt", "--json"]
    assert main([*words, "--sweeps", "100"]) == 0
    assert json.loads(capsys.readouterr().out)["burn_in"] == 10
    assert main([*words, "--sweeps", "300"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["burn_in"] == 10 and again["sweeps"] == 300


def test_a_finished_run_is_answered_again(folder_of_files, capsys):
    words = ["infer", "grid.uai", "--method", "herded", "--checkpoint", "run.ckpt", "--json"]
    assert main([*words, "--sweeps", "12000"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(words) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["sweeps"] == 12000 and again["marginals"] == first["marginals"]
    assert len(first["standard_errors"]) == 16 and len(first["standard_errors"][0]) == 2


def test_seconds_that_a_checkpoint_has_had(folder_of_files, capsys, monkeypatch):
    ticking(monkeypatch, 0.01)
    # so many sweeps between looks
    monkeypatch.setattr("herded.run.sampler_run.BLOCK_ENTRIES", 16 * 500)
    words = ["infer", "grid.uai", "--method", "herded", "--checkpoint", "run.ckpt"]
    assert main([*words, "--seconds", "0.2"]) == 0
    first = capsys.readouterr().out
    assert "0.2 seconds after" in first and "resumed" not in first and "warning" not in first
    assert main([*words, "--seconds", "0.1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "run 0.1 seconds in all after a burn-in of 100 sweeps" in told
    assert (
        "resumed run.ckpt: " in told and "warning no sweep was added: --seconds 0.1 count" in told
    )
    assert "s already; give a larger --seconds" in told
    assert main([*words, "--seconds", "0.1", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["resumed"]["done"] == found["sweeps"] + found["burn_in"]
    assert found["resumed"]["seconds"] == found["seconds"] >= 0.2
    assert found["warnings"][-1].startswith("no sweep was added") and "no sweep was added" in err
    assert main([*words, "--seconds", "0.4", "--json"]) == 0
    longer = json.loads(capsys.readouterr().out)
    assert longer["sweeps"] > found["sweeps"] and not longer["warnings"]


def test_identical_chains_say_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    hd.io.write_uai(hd.FactorGraph([2], [((0,), np.log([0.25, 0.75]))]), "one.uai")
    assert main(["infer", "one.uai", "--method", "herded", "--sweeps", "400"]) == 0
    assert "all chains are identical" in capsys.readouterr().out


def test_one_chain_says_that_it_cannot_disagree(folder_of_files, capsys):
    assert main(["infer", "grid.uai", "--method", "gibbs", "--chains", "1", "--sweeps", "50"]) == 0
    assert "unknown from a single chain" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["auto", "bp", "mean-field", "gibbs", "exact"])
def test_a_model_without_a_possible_state(tmp_path, monkeypatch, capsys, method):
    """a = b, b = c, a != c: no pair alone shows it."""
    monkeypatch.chdir(tmp_path)
    same, other = np.where(np.eye(2) > 0, 0.0, -np.inf), np.where(np.eye(2) > 0, -np.inf, 0.0)
    model = hd.FactorGraph([2] * 3, [((0, 1), same), ((1, 2), same), ((0, 2), other)])
    hd.io.write_uai(model, "no.uai")
    assert main(["infer", "no.uai", "--method", method]) == 1
    assert "positive probability" in capsys.readouterr().err
    assert main(["info", "no.uai", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["auto"] is None and not any(m["can_run"] for m in told["methods"])


def test_an_annealed_state_behind_walls_is_doubted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    same = np.where(np.eye(2) > 0, 0.0, -np.inf)
    model = hd.FactorGraph([2] * 6, [((i, i + 1), same) for i in (0, 2, 4)])
    hd.io.write_uai(model, "pairs.uai")
    words = ["infer", "pairs.uai", "--task", "map", "--method", "herded", "--sweeps", "50"]
    assert main(words) == 0
    assert "cannot reach every state" in capsys.readouterr().out


def test_max_memory_is_for_all_that_exact_inference_takes(tmp_path, monkeypatch, capsys):
    """Its joint is more than its clusters here: `auto` samples instead of failing."""
    monkeypatch.chdir(tmp_path)
    model = hd.pairwise_model(np.zeros((20, 2)), [(i, i + 1) for i in range(19)], np.eye(2))
    hd.io.write_uai(model, "chain.uai")
    assert main(["infer", "chain.uai", "--max-memory", "15M", "--sweeps", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "herded"
    assert main(["info", "chain.uai", "--max-memory", "15M", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["auto"] == "herd"


def test_mean_field_with_zeros_is_doubted_and_a_bound_of_nothing_is_printed(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    with np.errstate(divide="ignore"):
        model = hd.FactorGraph([2, 2], [((0, 1), np.log([[1.0, 1.0], [2000.0, 0.0]]))])
    hd.io.write_uai(model, "m.uai")
    assert main(["infer", "m.uai", "--method", "mean-field"]) == 0
    assert "mean field is a heuristic" in capsys.readouterr().out

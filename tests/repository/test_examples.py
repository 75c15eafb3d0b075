"""Each script in examples/ runs by itself, and prints what it says it shows."""

import ast
import io
import re
import runpy
import subprocess
import sys
import tokenize
import warnings
from pathlib import Path

import pytest

from tests.support.commands import environment
from tests.support.timeouts import HANGS

pyplot = pytest.importorskip("matplotlib.pyplot", reason="examples draw pictures")

FOLDER = Path(__file__).parents[2] / "examples"


def numbers(line):
    return [float(word.replace(",", "")) for word in re.findall(r"\d[\d,]*\.?\d*", line)]


def one_line(out, start):
    [line] = [line for line in out.splitlines() if line.startswith(start)]
    return line


def bayes_net(out):
    before, seen, herd = numbers(one_line(out, "rain "))
    assert (before, seen) == (0.5, 0.7048) and abs(herd - seen) < 0.002
    assert one_line(out, "P(wet grass)").startswith("P(wet grass) = 0.6500, by Exact(): ")
    assert "'rain': 'yes'" in one_line(out, "the most probable")


def couplings_recovered(out):
    likelihood, pseudo = (numbers(one_line(out, name))[0] for name in ("likelihood:", "pseudo:"))
    assert 0.005 < likelihood < pseudo < 0.03 and out.count("converged in ") == 2


def digits_generated(out):
    [alone], [_, small] = (numbers(one_line(out, name)) for name in ("independent", "16 hidden"))
    _, count, ones = numbers(one_line(out, "64 hidden"))
    assert small < 18.5 < 25 < alone and count == 40 and 0.2 < ones < 0.5


def ising_observables(out):
    """The energy is that of its pairs, two or three for each spin."""
    energies = [line for line in out.splitlines() if "energy of a spin" in line]
    pairs = [line for line in out.splitlines() if "correlation at" in line]
    for energy, pair, strength in zip(energies, pairs, (2 * 0.38, 3 * 0.2), strict=True):
        mean, low, high = (-number for number in numbers(energy))
        assert low < mean < high and high - low < 0.01
        assert abs(mean + strength * numbers(pair)[3]) < 0.001


def long_run(out):
    assert "interrupted: True; resumed to 4000 sweeps" in out
    assert "the same energies to the last bit: True" in out


def ising_grid(out):
    gibbs, herded = numbers(one_line(out, "Gibbs ")), numbers(one_line(out, "herded Gibbs "))
    assert len(gibbs) == len(herded) == 3
    assert all(3 * h < g for h, g in zip(herded[1:], gibbs[1:], strict=True))


def page_of_text(out):
    [alone] = numbers(one_line(out, "wrong pixels, each"))
    [together] = numbers(one_line(out, "wrong pixels, restored"))
    assert alone > 9 and together < alone / 3
    assert "levels (0.0, 1.0), sigma 0.3" in out


def grey_picture(out):
    before, after = numbers(one_line(out, "noisy"))
    assert before < 20.2 and after > before + 8
    assert one_line(out, "model").startswith("model grey, 16 levels")


def names_in_text(out):
    assert "Amanda Plummer  PERSON" in out and "World Bank      ORGANIZATION" in out
    assert one_line(out, "found only with ties").endswith(": Plummer at 67")


def max_cut(out):
    [by_chance] = numbers(one_line(out, "a random cut"))
    cut, log_score = numbers(one_line(out, "annealed"))
    assert 350 < by_chance < 450 and cut >= 585 and log_score == 4 * cut


def own_sampler(out):
    metropolis, exact = (numbers(one_line(out, name)) for name in ("Metropolis ", "exact "))
    assert (
        len(exact) == 4 and max(abs(a - b) for a, b in zip(metropolis, exact, strict=True)) < 0.05
    )


def spike_and_slab(out):
    found, exact = (numbers(one_line(out, name)) for name in ("P(column", "enumerated"))
    assert len(exact) == 12 and exact[0] > 0.99 and max(exact[7:]) < 0.1
    assert max(abs(a - b) for a, b in zip(found, exact, strict=True)) <= 0.001
    assert float(one_line(out, "largest error").split()[-1]) < 1e-3


def tree_sampler(out):
    [trees], [gibbs] = (numbers(one_line(out, name)) for name in ("TreeGibbs ", "Gibbs "))
    assert 5 * trees < gibbs


def inclusion_probabilities(out):
    """True columns come first, and the best model is that of all of them."""
    kinds = [line.split("(")[1].split(")")[0] for line in out.splitlines() if "column" in line]
    assert kinds == ["true"] * 5 + ["noise"] * 2
    assert "best models: [(0, 10, 20, 30, 40), " in out


def clusters(out):
    together = [numbers(line.split(":")[1])[0] for line in out.splitlines() if "together" in line]
    assert together[0] > 0.6 and together[1] < 0.3 and together[2] < 0.01


def herding_torus(out):
    assert numbers(one_line(out, "no rational"))[0] < 0.005
    assert numbers(one_line(out, "two fair"))[0] == 0.5


def herd_or_chains(out):
    apart, herd = numbers(one_line(out, "apart")), numbers(one_line(out, "a herd"))
    assert 3 * herd[1] < apart[1]


def potts_domains(out):
    first, middle, last = (numbers(line)[1] for line in out.splitlines())
    assert 40 < first < middle < last and last > 80


def phase_transition(out):
    rows = [numbers(line) for line in out.splitlines()]
    means = [mean for _, mean, _, _ in rows]
    assert means == sorted(means) and means[0] < 0.2 and means[-1] > 0.8
    assert all(low < mean < high for _, mean, low, high in rows)


def two_modes(out):
    (single, truth), (tempered, _) = (numbers(one_line(out, name)) for name in ("Gibbs", "Temp"))
    assert abs(single - truth) > 0.2 > 2 * abs(tempered - truth)


def segmentation(out):
    [alone], [together] = (numbers(one_line(out, f"wrong pixels, {n}")) for n in ("al", "to"))
    assert alone > 30 and together < 3


def hidden_chain(out):
    sixes, moments, story = (numbers(line)[0] for line in out.splitlines())
    assert sixes + 10 < moments and sixes + 10 < story


CHECKS = {
    check.__name__: check
    for check in (
        bayes_net,
        clusters,
        couplings_recovered,
        digits_generated,
        grey_picture,
        herd_or_chains,
        herding_torus,
        hidden_chain,
        inclusion_probabilities,
        ising_grid,
        ising_observables,
        long_run,
        max_cut,
        names_in_text,
        own_sampler,
        page_of_text,
        phase_transition,
        potts_domains,
        segmentation,
        spike_and_slab,
        tree_sampler,
        two_modes,
    )
}
LONGEST = 30  # lines of a script, docstring and all
DRAWN = {name for name in CHECKS if ".png" in (FOLDER / f"{name}.py").read_text(encoding="utf-8")}
LONGER = {"spike_and_slab": 30, "tree_sampler": 65}  # lines of code: pages of the docs discuss them


def test_every_example_is_checked():
    assert CHECKS.keys() == {path.stem for path in FOLDER.glob("*.py")}


def test_the_gallery_has_pictures():
    assert len(DRAWN) >= 12


@pytest.mark.parametrize("name", CHECKS)
def test_examples_are_short(name):
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    if name in LONGER:
        assert 0 < lines_of_code(text) < LONGER[name]
    else:
        assert 0 < len(text.splitlines()) < LONGEST


def lines_of_code(text):
    """Without blank lines, comments and docstrings."""
    told = set()
    for node in ast.walk(ast.parse(text)):
        is_body = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if is_body and ast.get_docstring(node) is not None:
            told |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string.strip() and token.type != tokenize.COMMENT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - told)


def save_once(figure, path, dpi=100):
    """`savefig` draws twice where there is a layout to be found: to find it, and again."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.dpi = dpi
    FigureCanvasAgg(figure).print_png(path)


@pytest.mark.parametrize("name", CHECKS)
def test_example(name, own_folder, capsys, monkeypatch):
    """In this process: another would import all anew for each."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", save_once)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    pyplot.close("all")
    out, err = capsys.readouterr()
    assert err == ""
    CHECKS[name](out)
    pictures = [path.name for path in own_folder.glob("*.png")]
    assert pictures == ([f"{name}.png"] if name in DRAWN else [])


def test_an_example_in_a_process_of_its_own(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / "potts_domains.py")],
        capture_output=True,
        text=True,
        timeout=HANGS,
        cwd=tmp_path,
        env=environment(),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    potts_domains(done.stdout)
    assert (tmp_path / "potts_domains.png").exists()

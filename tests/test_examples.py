"""Each script in examples/ runs by itself, and prints what it says it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"


def numbers(line):
    return [float(word.replace(",", "")) for word in re.findall(r"\d[\d,]*\.?\d*", line)]


def one_line(out, start):
    [line] = [line for line in out.splitlines() if line.startswith(start)]
    return line


def bayes_net(out):
    before, seen, herded = numbers(one_line(out, "rain "))
    assert (before, seen) == (0.5, 0.7048) and abs(herded - seen) < 0.002
    assert numbers(one_line(out, "P(wet grass)")) == [0.65]


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
    assert 'levels="grey"' in one_line(out, "with two levels")


def names_in_text(out):
    assert "Amanda Plummer  PERSON" in out and "World Bank      ORGANIZATION" in out
    assert one_line(out, "found only with ties").endswith(": Plummer at 67")


def max_cut(out):
    [by_chance] = numbers(one_line(out, "a random cut"))
    cut, log_score = numbers(one_line(out, "annealed"))
    assert 350 < by_chance < 450 and cut >= 585 and log_score == 4 * cut


def own_sampler(out):
    [trees], [gibbs] = (numbers(one_line(out, name)) for name in ("TreeGibbs ", "Gibbs "))
    assert 5 * trees < gibbs


CHECKS = {
    check.__name__: check
    for check in (
        bayes_net,
        ising_grid,
        page_of_text,
        grey_picture,
        names_in_text,
        max_cut,
        own_sampler,
    )
}


def test_every_example_is_checked():
    assert CHECKS.keys() == {path.stem for path in FOLDER.glob("*.py")}


@pytest.mark.parametrize("name", CHECKS)
def test_example(name, tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(FOLDER / f"{name}.py")],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    CHECKS[name](done.stdout)

"""The goals of herds: a quick run of their table, the exact energy, and the peer in NumPy."""

import itertools
import math

import numpy as np
import pytest

import herded as hd
from benchmarks.herds import herd_accuracy_goals, herd_goals, herd_speed_goals
from benchmarks.peers.handwritten import numpy_rbm
from benchmarks.support import timing
from benchmarks.support.goal_rows import HEAD, GoalRow


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.filterwarnings("ignore::herded.HerdedWarning")
def test_a_quick_run_has_every_row(monkeypatch):
    monkeypatch.setattr(herd_accuracy_goals, "FEWER", 400)
    monkeypatch.setattr(herd_accuracy_goals, "EVERY", 5)
    page = list(herd_goals.lines(quick=True))
    assert page[0] == "## Herds: goals" and all(line in page for line in HEAD)
    rows = [cells(line) for line in page[page.index(HEAD[1]) + 1 :]]
    assert {len(row) for row in rows} == {6}
    assert sum(row[0].startswith("Ising 10x10") for row in rows) == 4
    assert sum(", joint, " in row[0] for row in rows) == 6
    assert sum("energy" in row[0] for row in rows) == 3
    assert [row[0] for row in rows[13:16]] == [
        "500 spins, degree 6",
        "Ising 64x64",
        "Potts 16x16, K = 8",
    ]
    assert len(rows) in (16, 18)  # without threadpoolctl, NumPy is left out


def test_the_rows_of_speed_alone(monkeypatch):
    monkeypatch.setattr(herd_speed_goals, "rows", lambda quick: iter([GoalRow("a", "b", 1, 1, 2)]))
    page = list(herd_speed_goals.lines(quick=True))
    assert page[0] == "## Herds: goals of speed"
    assert page[-1] == "| a | b | 1 | 2 | 0.500 | yes |"


def test_the_page_says_what_limits_instructions(monkeypatch):
    for name in herd_speed_goals.INSTRUCTIONS:
        monkeypatch.delenv(name, raising=False)
    assert "compiled for this CPU" in herd_speed_goals.target()
    monkeypatch.setenv("NUMBA_CPU_NAME", "haswell")
    assert herd_speed_goals.target() == 'Instructions are limited by `NUMBA_CPU_NAME="haswell"`.'


def test_a_row_says_whether_its_goal_is_met():
    row = GoalRow("work", "1/4 of the time", 1 / 4, 0.5, 2.0, "ns", "somebody")
    line = "| work | 1/4 of the time | 0.5 ns | 2 ns (somebody) | 0.250 | yes |"
    assert row.line() == line
    worse = GoalRow("work", "1/4 of the time", 1 / 4, 0.501, 2.0)
    assert cells(worse.line())[2:] == ["0.501", "2", "0.251", "no"]


def test_the_best_runs_count(monkeypatch):
    """Of a fake clock: a call costs 7, a sweep 2, and what others take some more now and then."""
    now, extra = [0.0], itertools.cycle([5.0, 0.0, 3.0, 0.0, 0.0])

    def run(sweeps, seed):
        now[0] += 7 + 2 * sweeps + next(extra)

    monkeypatch.setattr(timing, "user_clock", lambda: now[0])
    assert timing.best_sweeps({"one": run}, seconds=100.0, repeats=9) == {"one": 2.0}


def log_partition(side, coupling):
    """Of a periodic square lattice of spins without a field (Kaufman 1949)."""
    top = math.cosh(2 * coupling) ** 2 / math.sinh(2 * coupling)
    gamma = [math.acosh(top - math.cos(k * math.pi / side)) for k in range(2 * side)]
    gamma[0] = 2 * coupling + math.log(math.tanh(coupling))  # below 0 above the critical point
    logs, signs = [], []
    for first in (1, 0):
        halves = [side * g / 2 for g in gamma[first::2]]
        logs += [sum(math.log(2 * math.cosh(h)) for h in halves)]
        logs += [sum(math.log(2 * abs(math.sinh(h))) for h in halves)]
        signs += [1, math.prod(math.copysign(1, h) for h in halves)]
    most = max(logs)
    total = sum(s * math.exp(v - most) for s, v in zip(signs, logs, strict=True))
    return side**2 / 2 * math.log(2 * math.sinh(2 * coupling)) + most + math.log(total / 2)


def energy(side, coupling, step=1e-4):
    ends = (log_partition(side, coupling + s) for s in (step, -step))
    return -(next(ends) - next(ends)) / (2 * step * side**2)


@pytest.mark.parametrize("coupling", [0.2, 0.4, 0.6])
def test_the_formula_of_the_energy_by_enumeration(coupling):
    model = hd.ising_grid(np.zeros((4, 4)), coupling, periodic=True)
    states = (np.arange(2**16)[:, None] >> np.arange(16)) & 1
    graph = hd.pairwise_model(np.zeros((16, 2)), *edges_of_torus(4, coupling))
    scores = graph.log_score(states)
    assert np.allclose(scores[::997], model.log_score(states[::997]))
    shares = np.exp(scores - scores.max())
    mean = (shares * scores).sum() / shares.sum() / (coupling * 16)
    assert energy(4, coupling) == pytest.approx(-mean, abs=1e-6)


def edges_of_torus(side, coupling):
    number = np.arange(side**2).reshape(side, side)
    pairs = [(number, np.roll(number, -1, axis)) for axis in (0, 1)]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
    return edges, coupling * np.array([[1.0, -1.0], [-1.0, 1.0]])


def test_the_energy_on_file():
    exact = energy(herd_accuracy_goals.SIDE, herd_accuracy_goals.COUPLING)
    assert exact == pytest.approx(herd_accuracy_goals.ENERGY, abs=5e-6)


@pytest.mark.parametrize("chains", [1, 64])
def test_numpy_comes_to_the_exact_marginals(chains):
    work = numpy_rbm.machine(6, 3)
    exact = hd.infer(work.model, hd.Exact(), progress=False).marginals
    found = numpy_rbm.prepare(work, 6, chains)((64_000 if chains > 1 else 24_000) // chains, 1)
    assert np.abs(found - exact).max() < 0.012


def test_a_net_of_common_effect():
    net = herd_accuracy_goals.common_effect(
        (0.1, 0.2), ((0.3, 0.4), (0.5, 0.6)), ((0.7, 0.8), (0.9, 0.25))
    )
    joint = hd.theory.target(net)
    assert joint[1, 0, 1, 1, 0] == pytest.approx(0.1 * 0.8 * 0.5 * 0.8 * 0.75)
    assert joint[0, 1, 0, 1, 1] == pytest.approx(0.9 * 0.2 * 0.6 * 0.7 * 0.9)

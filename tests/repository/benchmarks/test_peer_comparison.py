"""The harness that sets herded beside its peers: what it measures, checks, writes and claims."""

import argparse
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import herded as hd
from benchmarks import __main__ as command
from benchmarks.accuracy import time_to_accuracy
from benchmarks.peers import (
    comparison_page,
    distribution_check,
    exact_engines,
    herded_contender,
    peer_goals,
)
from benchmarks.peers.handwritten.grid import Checkerboard, Raster
from benchmarks.peers.handwritten.spin_graph import Sums
from benchmarks.peers.protocol import LAST, VISITS, missing, versioned
from benchmarks.peers.registry import BY_HAND, EVERYONE, INSTALLED
from benchmarks.speed import many_models, scaling, update_cost
from benchmarks.support import results_store, timing
from benchmarks.support.workloads import (
    IsingGraph,
    constant_grid,
    grid_edges,
    ising_grid,
    potts_grid,
    random_graph,
    uneven_grid,
)
from herded.errors import HerdedError

# -- work -------------------------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(1, 5))
def test_edges_of_an_open_grid(height, width):
    pairs = {
        (r * width + c, s * width + d)
        for r in range(height)
        for c in range(width)
        for s, d in ((r, c + 1), (r + 1, c))
        if s < height and d < width
    }
    found = [tuple(edge) for edge in grid_edges(height, width).tolist()]
    assert set(found) == pairs and len(found) == len(pairs)


def test_a_grid_and_its_graph_are_the_same_model():
    for work in (ising_grid(3), uneven_grid(3, 0.7), constant_grid(3)):
        states = np.random.default_rng(0).integers(0, 2, (20, 9))
        gap = work.model.log_score(states) - work.as_graph().model.log_score(states)
        assert np.allclose(gap, gap[0], rtol=0, atol=1e-12)


@given(st.integers(2, 30), st.integers(0, 5), st.integers(0, 9))
def test_random_graphs(n, degree, seed):
    graph = random_graph(n, degree, seed)
    a, b = graph.edges.T
    assert len(graph.edges) == min(round(n * degree / 2), n * (n - 1) // 2)
    assert (a < b).all() and len(set(zip(a, b, strict=True))) == len(a)
    starts, who, coupling = graph.neighbours
    rows: list[list] = [[] for _ in range(n)]
    for x, y, j in zip(a, b, graph.coupling, strict=True):
        rows[x].append((y, j))
        rows[y].append((x, j))
    for i in range(n):
        mine = slice(starts[i], starts[i + 1])
        assert list(zip(who[mine], coupling[mine], strict=True)) == sorted(rows[i])


# -- peers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("peer", BY_HAND, ids=lambda peer: peer.name)
def test_what_is_written_by_hand_samples_what_it_should(peer):
    kinds = [
        name
        for name, work in distribution_check.SMALL.items()
        if peer.obstacle(work, VISITS) is None
    ]
    assert kinds
    for name in kinds:
        assert distribution_check.error(peer, name) < 0.004


@pytest.mark.parametrize(
    "peer", [*INSTALLED, exact_engines.PyAgrum(), exact_engines.Pgmpy()], ids=lambda p: p.name
)
def test_what_is_installed_samples_what_it_should(peer):
    kinds = [
        name
        for name, work in distribution_check.SMALL.items()
        if peer.obstacle(work, VISITS) is None
    ]
    if not kinds:
        reasons = {peer.obstacle(work, VISITS) for work in distribution_check.SMALL.values()}
        pytest.skip(f"{peer.name}: {'; '.join(sorted(reasons))}")
    assert distribution_check.error(peer, kinds[0]) <= distribution_check.ALLOWED


def test_herded_runs_through_its_verb():
    shared, *_ = herded_contender.METHODS
    assert distribution_check.obstacle(shared, ising_grid(6)) is None
    last = shared.prepare(ising_grid(6), LAST)(7, 3)
    assert last.shape == (36, 2) and set(np.unique(last)) == {0.0, 1.0}
    too_large = herded_contender.Ours("blanket", hd.HerdedGibbs())
    assert "neighbours" in too_large.obstacle(potts_grid(4, 16), LAST)
    assert "at most 4" in herded_contender.Ours("", hd.Gibbs(), largest=4).obstacle(
        ising_grid(3), LAST
    )


class Halved:
    """Samples another distribution: its couplings are half of what they should be."""

    name = "halved"

    def obstacle(self, work, keep):
        return None

    def prepare(self, work, keep):
        graph = work.as_graph()
        weaker = IsingGraph(graph.name, graph.field, graph.edges, graph.coupling / 2)
        return Sums().prepare(weaker, keep)


@pytest.mark.parametrize("work", [ising_grid(5), uneven_grid(5, 0.5), random_graph(20, 3)])
def test_a_peer_that_does_other_work_is_not_timed(work):
    assert "off by" in distribution_check.obstacle(Halved(), work)
    assert distribution_check.obstacle(Sums(), work) is None


def test_what_is_missing_is_named():
    assert missing("no_such_package", "no-such") == "not installed: pip install no-such"
    assert missing("numpy") is None
    assert versioned("x", "no-such-package") == "x" and versioned("numpy", "numpy") != "numpy"


def test_all_have_names_of_their_own():
    assert len({peer.name for peer in EVERYONE}) == len(EVERYONE)


# -- time -------------------------------------------------------------------------------------


class Clock:
    """A clock that only runs when something is done."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "process_time", lambda: self.now)
        monkeypatch.setattr(timing, "user_clock", lambda: self.now)

    def run(self, call, sweep):
        def run(sweeps, seed):
            self.now += call + sweep * sweeps

        return run


def test_the_cost_of_a_sweep_is_told_from_that_of_a_call(monkeypatch):
    clock = Clock(monkeypatch)
    runs = {"light": clock.run(2.0, 1e-4), "heavy": clock.run(0.01, 0.5)}
    found = timing.costs(runs, seconds=0.1, repeats=3)
    assert found["light"].sweep == pytest.approx(1e-4) and found["light"].call == pytest.approx(2)
    assert found["heavy"].sweep == pytest.approx(0.5) and found["heavy"].call == pytest.approx(0.01)
    assert found["light"].sweeps * 1e-4 >= 1.0 - 1e-6  # no shorter than half of what a call costs


def test_runs_take_turns(monkeypatch):
    Clock(monkeypatch)
    monkeypatch.setattr(timing, "enough_sweeps", lambda run, seconds: 8)
    order = []
    runs = {name: lambda n, s, name=name: order.append((name, n, s)) for name in "ab"}
    timing.costs(runs, seconds=1.0, repeats=2)
    assert order == [(name, n, s) for s in (0, 1) for name in "ab" for n in (2, 8)]


def test_a_goal_is_reached_when_no_longer_run_misses_it(monkeypatch):
    clock = Clock(monkeypatch)
    truth = np.zeros((3, 2))

    def run(sweeps, seed):
        clock.now += sweeps * 1e-3
        return truth + (0.0011 if sweeps == 64 else 0.05 / sweeps)

    # 0.05 / 48 is above 1e-3, 64 is a relapse, and 96 is the next that is tried.
    assert time_to_accuracy.sweeps_to_reach(run, truth, 0, 100.0) == {1e-2: 6, 3e-3: 24, 1e-3: 96}
    assert time_to_accuracy.sweeps_to_reach(run, truth, 0, 0.04) == {1e-2: 6}


def test_time_to_accuracy(monkeypatch):
    clock = Clock(monkeypatch)
    truth, noted = np.zeros((3, 2)), results_store.Book()

    def run_of(cost, error):
        def run(sweeps, seed):
            clock.now += cost * sweeps
            return truth + error / sweeps

        return run

    runs = {"herded, a": run_of(1e-3, 0.05), "b": run_of(2e-3, 0.1), "never": run_of(1e-3, 9e9)}
    time_to_accuracy.measure(ising_grid(3), runs, truth, 2, 2.0, noted)
    assert noted.find("Ising 3x3", "sweeps to 0.01") == {"herded, a": 6, "b": 12}
    found = noted.find("Ising 3x3", "ms to 0.001")
    assert found == {"herded, a": pytest.approx(64), "b": pytest.approx(256)}
    monkeypatch.setattr(time_to_accuracy, "reference", lambda work: truth)
    monkeypatch.setattr(time_to_accuracy, "measure", lambda *rest: None)
    page = list(time_to_accuracy.table(ising_grid(3), (), 1, 1.0, noted))
    assert page[0] == "| sampler | 0.01 | ratio | 0.003 | ratio | 0.001 | ratio |"


# -- what is written --------------------------------------------------------------------------

PAGE = "# Title\n\nIntro.\n\n## One\n\na\n\n## Two\n\nb\n"


def test_sections_that_were_not_run_stay():
    fresh = "# Other\n\nOther intro.\n\n## Two\n\nnew\n\n## Three\n\nc"
    page = results_store.merged(PAGE, fresh)
    assert page == "# Title\n\nIntro.\n\n## One\n\na\n\n## Two\n\nnew\n\n## Three\n\nc\n"
    assert results_store.merged(page, fresh) == page
    assert results_store.merged("", PAGE) == PAGE


def test_sections_that_are_run_again_say_what_ran():
    head = "# T\n\nOutput of `x` on y.\n\n"
    page = f"{head}## A\n\n1\n\n## B\n\n2\n"
    fresh = "# T\n\nOutput of `z` on w. Times.\n\n## B\n\n3\n"
    merged = results_store.merged(page, fresh)
    assert merged == f"{head}## A\n\n1\n\n## B\n\nOutput of `z` on w. Times.\n\n3\n"
    assert results_store.merged(page, page) == page


def test_files(tmp_path):
    noted = results_store.Book()
    noted.note("speed", "a, b", "me", "ns", 1.25)
    noted.note("many-models", "c", "me", "us", 3)
    (tmp_path / "tables.md").write_text(PAGE)
    results_store.write(tmp_path, ["## Two", "", "new"], noted)
    assert (tmp_path / "tables.md").read_text() == PAGE.replace("b\n", "new\n")
    again = results_store.read(tmp_path)
    assert again.rows == noted.rows
    again.forget("speed")
    assert again.find("c", "us") == {"me": 3.0} and not again.find("a, b", "ns")
    assert results_store.read(tmp_path / "nowhere").rows == []
    (tmp_path / "peers.csv").write_text("part,work\nx,y\n")
    with pytest.raises(HerdedError, match="remove it to start anew"):
        results_store.read(tmp_path)
    with pytest.raises(HerdedError, match="expected --out as a folder"):
        results_store.write(tmp_path / "peers.csv" / "x", [], noted)


def rows_of_goals(noted):
    return {
        line.split(" | ")[0][2:]: line for line in peer_goals.lines(noted) if line.startswith("| I")
    }


def test_goals():
    noted = results_store.Book()
    for name, ns in (("herded, shared", 0.9), ("herded, Gibbs", 0.1), ("a peer", 2.8)):
        noted.note("speed", "Ising 512x512", name, f"ns, {LAST}", ns)
        noted.note("speed", "Ising 4096x4096", name, f"ns, {VISITS}", ns)
    noted.note(
        "time-to-accuracy",
        "Ising 10x10, J and h to 1",
        "herded, shared, visits",
        "ms to 0.001",
        1.0,
    )
    noted.note(
        "time-to-accuracy", "Ising 10x10, J and h to 1", "a peer, visits", "ms to 0.001", 9.0
    )
    found = rows_of_goals(noted)
    assert found["Ising 4096x4096, visits"].endswith("0.90 ns | 2.80 ns | 3.11 | yes |")
    assert found["Ising 512x512, last state"].endswith("3.11 | yes |")
    assert found["Ising 512x512, visits"].endswith("not measured in this run |")
    assert found["Ising 10x10, J and h to 1"].endswith("1.00 ms | 9.00 ms | 9.00 | no |")
    easy = "Ising 10x10, J and h to 0.3"
    noted.note("time-to-accuracy", easy, "herded, shared, visits", "ms to 0.001", 3.0)
    assert rows_of_goals(noted)[easy].endswith("not measured in this run |")
    noted.note(
        "time-to-accuracy", easy, "a run", time_to_accuracy.GIVEN, 60.0
    )  # and no peer arrived
    assert rows_of_goals(noted)[easy].endswith("| 3.00 ms | over 60.00 ms | over 20.00 | yes |")
    noted.note("speed", "Ising 512x512", "another", f"ns, {LAST}", 2.6)
    assert rows_of_goals(noted)["Ising 512x512, last state"].endswith("2.89 | no |")


def test_tables(monkeypatch):
    costs = {"herded, shared": 2e-9, Raster.name: 6e-9, Checkerboard.name: 3e-9}
    given = lambda runs, **_: {  # noqa: E731
        name: timing.Cost(costs[name] * 36, 0.0, 1) for name in runs
    }
    monkeypatch.setattr(update_cost, "costs", given)
    monkeypatch.setattr(scaling, "costs", given)
    peers, noted = (
        (herded_contender.METHODS[0], Raster(), Checkerboard(), Sums()),
        results_store.Book(),
    )
    monkeypatch.setattr(Sums, "obstacle", lambda self, work, keep: "no time")
    page = list(update_cost.table(ising_grid(6), peers, True, noted))
    assert page[2] == "| herded, shared | 2.00 | 1.0 | 2.00 | 1.0 |"
    assert page[3] == f"| {Checkerboard.name} | 3.00 | 1.5 | 3.00 | 1.5 |"
    assert page[-1] == f"Not run: {Sums.name} (no time)."
    grown = list(scaling.table("sites", [ising_grid(6)], peers, True, noted))
    assert grown[-1] == "| Ising 6x6 | 2.00 | 6.00 | 3.00 | - |"


def test_many_models_are_solved_and_compared():
    noted = results_store.Book()
    many_models.measure(many_models.OURS, 3, 1, "3 models", noted)
    errors = noted.find("3 models", "mean error")
    assert errors["herded, exact"] < 1e-12 and 1e-12 < errors["herded, blanket"] < 0.02
    assert all(us > 0 for us in noted.find("3 models", "us per model").values())


def test_the_page(monkeypatch):
    for name in ("speed", "many-models", "time-to-accuracy", "scaling"):
        lines = lambda quick, peers, noted, name=name: iter([f"## {name}"])  # noqa: E731
        monkeypatch.setitem(
            comparison_page.SECTIONS, name, type(name, (), {"lines": staticmethod(lines)})
        )
    noted = results_store.Book()
    noted.note("time-to-accuracy", "old", "me", "ms", 1.0)
    page = list(comparison_page.lines(True, True, noted))
    headings = [line for line in page if line.startswith("## ")]
    assert headings == [
        "## Beside other packages",
        "## speed",
        "## many-models",
        "## time-to-accuracy",
        "## scaling",
        "## Goals",
    ]
    assert noted.rows == []  # measured again, so forgotten
    assert "--only time-to-accuracy --quick" in "\n".join(
        comparison_page.lines(True, False, noted, "time-to-accuracy")
    )


def test_the_command_writes_what_it_prints(monkeypatch, tmp_path, capsys):
    def lines(quick, packages, noted, only):
        assert quick and packages and only == "many-models"
        noted.note("many-models", "w", "me", "us", 2.0)
        yield "## Many"

    monkeypatch.setattr(comparison_page, "lines", lines)
    chosen = argparse.Namespace(quick=True, peers=True, only="many-models", out=str(tmp_path))
    command.run(chosen)
    assert capsys.readouterr().out == (tmp_path / "tables.md").read_text()
    assert (tmp_path / "peers.csv").read_text().splitlines()[1] == "many-models,w,me,us,2"

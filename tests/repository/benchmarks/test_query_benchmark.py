"""The benchmark of exact queries: its rows, and that peers agree where they are installed."""

import numpy as np

import herded as hd
from benchmarks.peers import row_queries


def test_a_row_without_peers(monkeypatch):
    monkeypatch.setattr(row_queries, "pyagrum_answers", lambda net: None)
    monkeypatch.setattr(row_queries, "pgmpy_answers", exact_answers)
    monkeypatch.setattr(row_queries, "PEER_SECONDS", 0.05)
    net = row_queries.drawn_net(12, np.random.default_rng(3))
    for missing in (0.0, 0.4):
        cells = row_queries.row("drawn", net, 4, 30, missing).strip("| ").split(" | ")
        assert cells[:3] == ["drawn", "4", f"{missing:.0%}"] and cells[4] == "-"
        assert float(cells[6]) < 1e-9


def exact_answers(net):
    """One run of `Exact` for each row."""

    def answer(evidence, targets):
        states = np.full(net.n_variables, -1)
        states[list(evidence)] = list(evidence.values())
        found = hd.infer(net.with_evidence(states), hd.Exact()).marginals
        return [found[i, : int(net.cardinalities[i])] for i in targets]

    return answer


def test_peers_agree_where_they_are_installed(monkeypatch):
    monkeypatch.setattr(row_queries, "PEER_SECONDS", 0.05)
    page = list(row_queries.lines(quick=True))
    rows = [line.strip("| ").split(" | ") for line in page if line.startswith("| drawn")]
    assert len(rows) == 2
    assert all(float(row[6]) < 1e-9 for row in rows)

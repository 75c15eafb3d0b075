"""Exact queries for many rows of evidence, beside pyAgrum and pgmpy.

The networks are those of the bnlearn repository, which pgmpy's wheel has; without pgmpy only a net
that is drawn here is run. Rows are drawn from the net. Each knows some variables, and asks for the
distributions of three others. With 40 % of the cells missing at random, nearly every row knows
another set of variables. Peers answer as many rows as they manage in a few seconds.
"""

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import herded as hd

TITLE = "# Exact queries for many rows"
ROWS, QUICK_ROWS = 10_000, 200
TARGETS = 3
PEER_SECONDS = 3.0  # of CPU, after which a peer answers no further row
NETWORKS = {"asia": 3, "alarm": 12, "insurance": 10, "hailfinder": 20, "andes": 60, "munin1": 60}
MISSING_SHARE = 0.4


def lines(quick: bool) -> Iterator[str]:
    """A row for each network, complete and with missing cells."""
    warnings.simplefilter("ignore")
    yield f"CPU seconds for {ROWS:,} rows and {TARGETS} targets; in brackets the time per row of a"
    yield "peer divided by ours. The largest difference of a probability is over the rows that all"
    yield "answer."
    yield ""
    yield "| network | known variables | missing | `hd.query` | pyAgrum | pgmpy | difference |"
    yield "|---|---|---|---|---|---|---|"
    rows = QUICK_ROWS if quick else ROWS
    for name, net, known in networks(quick):
        for missing in (0.0, MISSING_SHARE):
            yield row(name, net, known, rows, missing)


def networks(quick: bool) -> Iterator[tuple[str, hd.BayesNet, int]]:
    """Name, net, and how many variables rows know."""
    yield "drawn", drawn_net(40, np.random.default_rng(0)), 12
    found = importlib.util.find_spec("pgmpy")
    if found is None or not found.submodule_search_locations:
        return
    home = Path(found.submodule_search_locations[0])
    for name, known in NETWORKS.items():
        paths = sorted(home.rglob(f"{name}.bif*"))
        if paths and not (quick and name != "asia"):
            yield name, hd.io.read_bif(paths[0]), known


def drawn_net(n: int, rng: np.random.Generator) -> hd.BayesNet:
    """A net of variables with two or three states and up to three parents that are near."""
    net = hd.BayesNet()
    cards = rng.integers(2, 4, n).tolist()
    for i in range(n):
        near = np.arange(max(0, i - 5), i)
        parents = sorted(rng.permutation(near)[: rng.integers(0, 4)].tolist())
        table = rng.dirichlet(np.ones(cards[i]), size=[cards[p] for p in parents])
        states = [f"s{k}" for k in range(cards[i])]
        net.add(f"v{i}", states, [f"v{p}" for p in parents], table)
    return net


def row(name: str, net: hd.BayesNet, n_known: int, rows: int, missing: float) -> str:
    """One network: times and the largest difference."""
    rng = np.random.default_rng(1)
    data = net.sample(rows, seed=2, labelled=False)
    chosen = rng.permutation(net.n_variables)[: TARGETS + n_known]
    targets, known = chosen[:TARGETS].tolist(), chosen[TARGETS:].tolist()
    data[rng.random(data.shape) < missing] = -1
    assert net.names is not None and net.state_names is not None
    names = net.names
    states = [np.array([*of, None], object) for of in net.state_names]
    frame = {names[i]: states[i][data[:, i]] for i in known}
    hd.query(net, {n: column[:2] for n, column in frame.items()}, [names[targets[0]]])  # warm
    began = time.process_time()
    found = hd.query(net, frame, [names[i] for i in targets], threads=1)
    ours = (time.process_time() - began) / rows
    cells, difference = [], 0.0
    for peer in (pyagrum_answers, pgmpy_answers):
        answer = peer(net)
        if answer is None:
            cells.append("-")
            continue
        began, done = time.process_time(), 0
        while done < rows and time.process_time() - began < PEER_SECONDS:
            evidence = {i: int(data[done, i]) for i in known if data[done, i] >= 0}
            theirs = answer(evidence, targets)
            for i, table in zip(targets, theirs, strict=True):
                difference = max(difference, float(np.abs(found[names[i]][done] - table).max()))
            done += 1
        took = (time.process_time() - began) / done
        cells.append(f"{took * ROWS:.3g} ({took / ours:.0f})")
    return (
        f"| {name} | {n_known} | {missing:.0%} | {ours * ROWS:.2g} | {' | '.join(cells)} | "
        f"{difference:.0e} |"
    )


Answer = Callable[[dict[int, int], list[int]], list[np.ndarray]]


def pyagrum_answers(net: hd.BayesNet) -> Answer | None:
    """Posteriors by pyAgrum's lazy propagation, for the targets alone."""
    if importlib.util.find_spec("pyagrum") is None:
        return None
    import pyagrum

    theirs = pyagrum.BayesNet()
    for name, of in zip(net.names or (), net.state_names or (), strict=True):
        theirs.add(pyagrum.LabelizedVariable(name, name, [str(k) for k in range(len(of))]))
    for name, parents in net.parents.items():
        for parent in parents:
            theirs.addArc(parent, name)
    for name in net.parents:
        table, tensor = net.cpt(name), theirs.cpt(name)
        order = [*table.parents, name]
        axes = [order.index(each) for each in reversed(tensor.names)]
        tensor.fillWith(table.probabilities.transpose(axes).ravel().tolist())
    engine = pyagrum.LazyPropagation(theirs)
    names = net.names or ()

    def answer(evidence: dict[int, int], targets: list[int]) -> list[np.ndarray]:
        engine.setTargets({names[i] for i in targets})
        engine.setEvidence({names[i]: k for i, k in evidence.items()})
        engine.makeInference()
        return [engine.posterior(names[i]).toarray() for i in targets]

    return answer


def pgmpy_answers(net: hd.BayesNet) -> Answer | None:
    """Posteriors by pgmpy's variable elimination."""
    if importlib.util.find_spec("pgmpy") is None:
        return None
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    arcs = [(p, name) for name, parents in net.parents.items() for p in parents]
    theirs: Any = DiscreteBayesianNetwork(arcs)
    theirs.add_nodes_from(net.parents)
    for name in net.parents:
        table = net.cpt(name)
        sizes = [len(of) for of in table.parent_states]
        theirs.add_cpds(
            TabularCPD(name, len(table.states), table.rows().T, list(table.parents), sizes)
        )
    engine: Any = VariableElimination(theirs)
    names = net.names or ()

    def answer(evidence: dict[int, int], targets: list[int]) -> list[np.ndarray]:
        known = {names[i]: k for i, k in evidence.items()}
        found = []
        for i in targets:
            if i in evidence:
                found.append(np.eye(int(net.cardinalities[i]))[evidence[i]])
                continue
            table = engine.query([names[i]], evidence=known, show_progress=False)
            found.append(np.asarray(table.values))
        return found

    return answer

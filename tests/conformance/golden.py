"""Runs whose bits are on file: `python -m tests.conformance.golden` compares, `--write` writes.

`python -m tests.conformance.golden few` asks for the runs of `FEW` and the tables of `FEW_TABLES`,
`fewest` for those of `FEWEST` and `FEWEST_TABLES`, and `short` for every eighth run of single
chains, all runs of a few sweeps and `SHORT_RUNS`: what takes a second or two where nothing is
compiled.

Models have log-potentials that are multiples of 1/64, which every machine writes alike. A run is
named by its model, layout and method; its hashes are of the tables, the last states and the
marginals. They hold compiled, uncompiled, and on every machine.
"""

import hashlib
import itertools
import json
import sys
import warnings
from collections.abc import Container, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import herded as hd
from herded.models.chain import chain_model
from tests.support.callback_models import as_functions

FILE = Path(__file__).with_name("golden.json")
SMALL_BLOCKS = hd.Blocks(entries=16, count=5)
SWEEPS, BURN_IN = 140, 3  # pooled weights split at sweep 128


def numbers(shape: tuple[int, ...], seed: int, scale: float = 1.0) -> np.ndarray:
    """Multiples of 1/64 from -scale to scale, by a generator that never changes."""
    state, values = seed + 1, []
    for _ in range(int(np.prod(shape))):
        state = (state * 48271) % (2**31 - 1)
        values.append((state % 129 - 64) / 64 * scale)
    return np.array(values).reshape(shape)


def graph(n: int, states: int, seed: int, zeros: bool = False) -> hd.FactorGraph:
    """A ring with chords; with `zeros` each table forbids one pair of unlike states."""
    edges = [(i, (i + 1) % n) for i in range(n)] + [(i, (i + 3) % n) for i in range(0, n, 2)]
    tables = numbers((len(edges), states, states), seed)
    if zeros:
        tables[:, 0, states - 1] = -np.inf
    factors = [((i,), numbers((states,), seed + 100 + i)) for i in range(n)]
    return hd.FactorGraph([states] * n, [*factors, *zip(edges, tables, strict=True)])


def mixed() -> hd.FactorGraph:
    """Factors of three variables of different cardinalities."""
    cards = [2, 3, 4, 2, 3, 5]
    scopes = [(0, 1, 2), (2, 3), (3, 4, 5), (0, 5), (1, 4)]
    factors = [
        (scope, numbers(tuple(cards[i] for i in scope), 7 + f)) for f, scope in enumerate(scopes)
    ]
    return hd.FactorGraph(cards, factors)


def models() -> dict[str, Any]:
    """A small model for every layout."""
    grid = hd.ising_grid(numbers((5, 6), 1), 0.25)
    return {
        "grid": grid,
        "grid with evidence": grid.given({(1, 1): 0}),
        "grid, couplings differ": hd.ising_grid(
            numbers((4, 5), 2), (numbers((4, 4), 3), numbers((3, 5), 4))
        ),
        "ring of rows": hd.ising_grid(numbers((4, 6), 5), 0.5, periodic=True),
        "cube": hd.ising_grid(numbers((4, 3, 6), 15), 0.25, periodic=(True, False, True)),
        "cube with evidence": hd.ising_grid(numbers((3, 4, 5), 16), 0.5).given({(1, 1, 1): 1}),
        "four dimensions": hd.ising_grid(numbers((2, 3, 2, 4), 17), 0.125),
        "Potts": hd.potts_grid(numbers((4, 5, 3), 6), 0.5),
        "Potts cube": hd.potts_grid(numbers((2, 3, 4, 3), 18), 0.5, periodic=(True, False, False)),
        "binary graph": graph(12, 2, 8),
        "binary graph with zeros": graph(8, 2, 9, zeros=True),
        "three states": graph(9, 3, 10),
        "five states": graph(7, 5, 11),
        "nine states": graph(6, 9, 12),
        "mixed": mixed(),
        "mixed with evidence": mixed().given({2: 3}),
        "chain": chain_model(numbers((8, 3), 13), numbers((3, 3), 14)),
        "binary functions": as_functions(graph(12, 2, 8)),
        "mixed functions": as_functions(mixed().given({2: 3})),
    }


class Run(NamedTuple):
    """A model, a method, and what `infer` is asked for."""

    model: Any
    method: Any
    kind: str | None
    chains: int
    sweeps: int = SWEEPS

    def __call__(self) -> dict[str, str]:
        """Hashes of what the run finds."""
        return fingerprint(*self)

    def tables(self) -> str:
        """The hash of its tables alone: nothing is run."""
        found: str = self.method.compile(self.model, kind=self.kind).hash
        return found


def cases() -> Iterator[tuple[str, Run]]:
    """Names and runs."""
    herded, gibbs = hd.HerdedGibbs, hd.Gibbs
    pooled, slack = herded("pooled"), herded("pooled", slack=4.0, phases="random")
    random = herded(phases="random", seed=3)
    grids = ("grid", "grid with evidence", "grid, couplings differ", "ring of rows")
    runs: list[tuple[str, Any, str | None, int]] = []
    for name in grids:
        runs += [(name, method, None, 1) for method in (herded(), random, gibbs(seed=2))]
    for name in (grids[0], grids[3]):
        runs += [(name, herded("shared"), None, 1), (name, gibbs(), "table", 1)]
    for name in ("cube", "cube with evidence", "four dimensions"):
        runs += [(name, method, None, 1) for method in (herded("shared"), gibbs(seed=2))]
    runs += [("Potts", method, None, 2) for method in (pooled, gibbs())]
    runs += [("binary graph", method, "table", 1) for method in tabulated()]
    runs += [("binary graph", method, "field", 1) for method in (pooled, gibbs(seed=5))]
    runs += [("binary graph", herded(scan="random"), None, 1)]
    runs += [("binary graph", gibbs(scan="jacobi"), None, 1)]
    runs += [("binary graph", method, kind, 9) for method in (pooled, gibbs()) for kind in PAIRED]
    for name in ("binary graph", "binary graph with zeros", "mixed", "mixed with evidence"):
        runs += [(name, method, "factor", 1) for method in hashed()]
        runs += [(name, slack, None, 2)]
    runs += [("mixed", method, "table", 1) for method in tabulated()]
    for name in ("three states", "five states", "nine states"):
        runs += [(name, method, "pairs", 1) for method in (pooled, slack, gibbs())]
    runs += [("three states", method, "pairs", 13) for method in (pooled, slack, gibbs())]
    for name in ("binary graph", "mixed"):
        runs += [(name, method, None, 1) for method in annealed()]
    for name in ("binary graph", "grid", "mixed with evidence", "chain"):
        solvers = [hd.MeanField(), hd.BeliefPropagation(), hd.Exact()]
        runs += [(name, method, None, 1) for method in solvers]
    runs += [("chain", hd.Viterbi(), None, 1)]
    runs += [("binary functions", gibbs(seed=2), None, 1)]
    runs += [("mixed functions", herded("lazy"), None, 2), ("mixed functions", slack, None, 1)]
    runs += [("mixed functions", made(herd=20, seed=4), None, 1) for made in (gibbs, herded)]
    runs += herds() + in_blocks() + tempered()
    known = models()
    for name, method, kind, chains in runs:
        label = f"{name} | {kind or 'auto'} | {described(method)} | {chains}"
        yield label, Run(known[name], method, kind, chains)
    for name, method, kind, chains in few_sweeps():
        label = f"{name} | {kind or 'auto'} | {described(method)} | {chains} | {SHORT} sweeps"
        yield label, Run(known[name], method, kind, chains, SHORT)


def tempered() -> list[tuple[str, Any, str | None, int]]:
    """Ladders of every kernel: fields, tables, factors, melted zeros, and herds rung by rung."""
    alone, herd = hd.Tempered(hd.Gibbs(seed=4), rungs=4), hd.Tempered(hd.Gibbs(herd=5), rungs=3)
    names = ("binary graph", "binary graph with zeros", "mixed with evidence")
    runs: list[tuple[str, Any, str | None, int]] = [(name, alone, None, 2) for name in names]
    eight = hd.Tempered(hd.Gibbs(seed=4))
    return [*runs, ("binary graph", herd, None, 1), ("binary graph", eight, None, 1)]


def herds() -> list[tuple[str, Any, str | None, int]]:
    """Herds on every layout, with phases that are fresh and phases that are kept."""
    fresh, kept = hd.Gibbs(herd=20, seed=4), hd.HerdedGibbs(herd=20, seed=4)
    cooled = hd.Gibbs(herd=20, schedule="linear")
    runs: list[tuple[str, Any, str | None, int]] = []
    for name in ("grid with evidence", "grid, couplings differ", "ring of rows", "Potts"):
        runs += [(name, fresh, "grid", 1), (name, kept, "grid", 1)]
    for name in ("cube", "cube with evidence", "four dimensions", "Potts cube"):
        runs += [(name, fresh, "grid", 1), (name, kept, "grid", 1)]
    for kind in ("field", "dense", "table", "factor"):
        runs += [("binary graph", method, kind, 2) for method in (fresh, kept)]
    runs += [("binary graph", cooled, kind, 1) for kind in ("field", "dense", "factor")]
    for kind in ("table", "factor"):
        runs += [("mixed with evidence", method, kind, 1) for method in (fresh, kept)]
    for name in ("three states", "nine states"):
        runs += [(name, method, "pairs", 1) for method in (fresh, kept)]
    return runs


def in_blocks() -> list[tuple[str, Any, str | None, int]]:
    """Blocks by every draw, of tables so small that several are needed."""
    moves, runs = SMALL_BLOCKS, []
    for made, members in itertools.product((hd.Gibbs, hd.HerdedGibbs), (1, 20)):
        method = made(seed=4, herd=members, moves=moves)
        runs += [
            ("binary graph with zeros", method, None, 2),
            ("mixed with evidence", method, None, 1),
        ]
    return [*runs, ("mixed", hd.Gibbs(moves=moves, schedule="linear"), None, 1)]


PAIRED = ("table", "field")
SHORT = 2  # sweeps, after as long a burn-in as always, of runs that are also run uncompiled


def few_sweeps() -> list[tuple[str, Any, str | None, int]]:
    """Every kind of kernel of herds, and single chains whose sweeps take long uncompiled."""
    herd, alone = hd.Gibbs(herd=20, seed=4), hd.Tempered(hd.Gibbs(seed=4), rungs=4)
    of_herds = (
        ("ring of rows", "grid"),
        ("Potts", "grid"),
        ("binary graph", "field"),
        ("binary graph", "dense"),
        ("binary graph", "table"),
        ("three states", "pairs"),
        ("mixed with evidence", "factor"),
        ("mixed functions", "function"),
    )
    return [
        *((name, herd, kind, 1) for name, kind in of_herds),
        ("grid", hd.HerdedGibbs(), None, 1),
        ("grid, couplings differ", hd.Gibbs(seed=2), None, 1),
        ("cube", hd.HerdedGibbs("shared"), None, 1),
        ("binary graph", hd.Gibbs(seed=5), "field", 1),
        ("mixed with evidence", alone, None, 2),
    ]


# What would take long uncompiled: `few_sweeps` has most of them, and SHORT_RUNS the last.
SLOW = (
    "grid | auto | HerdedGibbs() | 1",
    "grid, couplings differ | auto | Gibbs(seed=2) | 1",
    "cube | auto | HerdedGibbs(weights='shared') | 1",
    "binary graph | field | Gibbs(seed=5) | 1",
    "grid | auto | BeliefPropagation() | 1",
)
# Where all runs would take long to compile: those whose sweeps calculate with fractions, and of all
# other layouts the tables. Sweeps that only count and compare know no rounding that could differ.
FEW = (
    "Potts | auto | Gibbs() | 2",
    "three states | pairs | Gibbs() | 1",
    "chain | auto | MeanField() | 1",
    "chain | auto | BeliefPropagation() | 1",
    "chain | auto | Exact() | 1",
    "chain | auto | Viterbi() | 1",
    "three states | pairs | HerdedGibbs(seed=4, herd=20) | 1",
    "mixed functions | auto | Gibbs(seed=4, herd=20) | 1",
    f"mixed with evidence | auto | Gibbs(seed=4, moves={SMALL_BLOCKS!r}) | 1",
    "mixed with evidence | auto | Tempered(method=Gibbs(seed=4), rungs=4) | 2",
)
FEW_TABLES = (
    "grid | auto | HerdedGibbs() | 1",
    "binary graph | table | HerdedGibbs() | 1",
    "binary graph | field | Gibbs() | 9",
    "grid with evidence | grid | Gibbs(seed=4, herd=20) | 1",
    "cube | grid | Gibbs(seed=4, herd=20) | 1",
    "binary graph | field | Gibbs(seed=4, herd=20) | 2",
    "mixed with evidence | table | HerdedGibbs(seed=4, herd=20) | 1",
)
# What takes seconds to compile: exp and log, sums and products of fractions in loops, numbers that
# are rounded, and what else a processor without certain instructions does in another way.
FEWEST = ("chain | auto | BeliefPropagation() | 1", "chain | auto | Exact() | 1")
FEWEST_TABLES = (
    "grid | auto | HerdedGibbs() | 1",
    "binary graph | table | HerdedGibbs() | 1",
    "binary graph | field | Gibbs() | 9",
    "three states | pairs | Gibbs() | 1",
)
# Of `FEW`, what is quick uncompiled and not among every eighth.
SHORT_RUNS = (
    "chain | auto | BeliefPropagation() | 1",
    "three states | pairs | Gibbs() | 1",
    "chain | auto | Exact() | 1",
    f"mixed with evidence | auto | Gibbs(seed=4, moves={SMALL_BLOCKS!r}) | 1",
)


def described(method: Any) -> str:
    """A method by the options that were chosen: new ones with their defaults do not show."""
    options = (f"{f.name}={getattr(method, f.name)!r}" for f in fields(method) if f.repr)
    defaults = {f"{f.name}={f.default!r}" for f in fields(method)}
    return f"{type(method).__name__}({', '.join(o for o in options if o not in defaults)})"


def tabulated() -> list[Any]:
    """Methods for tables."""
    words = ("blanket", "shared", "pooled", "lazy", "full")
    return [hd.HerdedGibbs(word) for word in words] + [hd.Gibbs(), hd.HerdedGibbs(slack=1.0)]


def hashed() -> list[Any]:
    """Methods that need no tables."""
    return [hd.HerdedGibbs(word) for word in ("pooled", "lazy", "full")] + [hd.Gibbs()]


def annealed() -> list[Any]:
    """Methods whose temperature falls."""
    lazy, pooled = (hd.HerdedGibbs(word, schedule="linear") for word in ("lazy", "pooled"))
    return [hd.Gibbs(schedule="linear"), lazy, pooled]


def fingerprint(
    model: Any, method: Any, kind: str | None, chains: int, sweeps: int = SWEEPS
) -> dict[str, str]:
    """Hashes of what a run found."""
    solver = not hasattr(method, "seed")
    options: dict[str, Any] = {} if solver else {"burn_in": BURN_IN, "chains": chains}
    keep = [hd.Marginals(rao_blackwell=not solver), hd.BestState()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = hd.infer(model, method, sweeps=sweeps, keep=keep, layout=kind, **options)
    found = {"tables": result.provenance["tables"]}
    if result.kept.get("chain_marginals") is not None:
        found["marginals"] = hash_of(result.kept["chain_marginals"])
    if result.kept.get("best") is not None:
        found["best"] = hash_of(result.kept["best"].state.astype(np.int64))
    if result.kept.get("log_z") is not None:
        found["log_z"] = float(result.kept["log_z"]).hex()
    for state in result.state or ():
        weights = state.method_arrays.get(
            "w", state.method_arrays.get("phases", np.zeros(0, np.uint32))
        )
        found["weights"] = hash_of(state.x) + hash_of(weights)
    return found


def hash_of(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:12]


def wrong(labels: Container[str], tables: Container[str] = ()) -> list[str]:
    """Names of runs, out of `labels`, whose bits are not those on file; of `tables` only those."""
    found, expected = [], json.loads(FILE.read_text())
    for label, run in cases():
        if label in labels and run() != expected.get(label):
            found.append(label)
        if label in tables and run.tables() != expected.get(label, {}).get("tables"):
            found.append(f"{label}: tables")
    return found


def main(words: list[str]) -> int:
    if words == ["--write"]:
        found = {label: run() for label, run in cases()}
        lines = [f"{json.dumps(label)}: {json.dumps(found[label])}" for label in found]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(f"{len(found)} runs written to {FILE.name}")
        return 0
    every = [label for label, _ in cases()]
    short = [label for label in every if label.endswith(" sweeps")]
    whole = [label for label in every if "herd=" not in label and label not in short][::8]
    quick = [label for label in whole if label not in SLOW]
    asked: dict[str, tuple[Container[str], Container[str]]] = {
        "": (every, ()),
        "few": (FEW, FEW_TABLES),
        "fewest": (FEWEST, FEWEST_TABLES),
        "short": ([*quick, *short, *SHORT_RUNS], ()),
    }
    if " ".join(words) not in asked:
        print(f"expected nothing, few, fewest, short or --write, got {' '.join(words)}")
        return 2
    labels = wrong(*asked[" ".join(words)])
    print("\n".join(labels) or "all bits are those on file")
    return bool(labels)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

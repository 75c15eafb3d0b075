"""A start in the support: found if and only if there is one, whatever the hard zeros."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from herded.errors import InfeasibleError, ModelError
from herded.models.constraints.start_states import check_start, start_state, uniform_state
from herded.models.factor_graph import FactorGraph
from herded.models.lattice import Lattice
from herded.models.lattice_builders import ising_grid, potts_grid
from herded.models.pairwise import pairwise_model
from herded.system.numerics.counter_rng import stream_key
from tests.conformance.twins.counter_rng import naive_draw
from tests.support.example_budget import examples
from tests.support.strategies import models
from tests.support.timeouts import ending

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
UAI = Path(__file__).parents[3] / "shared" / "data" / "uai"
PETERSEN = [(i, (i + 1) % 5) for i in range(5)]
PETERSEN += [(i, i + 5) for i in range(5)] + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]


def key(chain: int = 0) -> np.uint64:
    return stream_key(7, chain, 1)


def colouring(n: int, k: int, edges, names=None) -> FactorGraph:
    """The ends of every edge differ."""
    return pairwise_model(np.zeros((n, k)), edges, np.where(np.eye(k), -np.inf, 0.0), names=names)


def ring(n: int) -> list[tuple[int, int]]:
    return [(i, (i + 1) % n) for i in range(n)]


def grid(h: int, w: int) -> np.ndarray:
    at = np.arange(h * w).reshape(h, w)
    across, along = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (across, along)])


def pairs(groups) -> list[tuple[int, int]]:
    return sorted({pair for group in groups for pair in itertools.combinations(sorted(group), 2)})


def latin(n: int) -> list[list[int]]:
    rows = [[n * r + c for c in range(n)] for r in range(n)]
    return rows + [list(column) for column in zip(*rows, strict=True)]


def queens(n: int) -> list:
    """One queen per column, none in the row or on the diagonals of another."""
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return [
        ((a, b), np.where(np.isin(apart, [0, b - a]), -np.inf, 0.0))
        for a, b in itertools.combinations(range(n), 2)
    ]


def support(model) -> set[tuple[int, ...]]:
    """By enumeration."""
    states = itertools.product(*(range(k) for k in model.cardinalities))
    return {x for x in states if model.log_score(np.array(x)) > -np.inf}


def found(model, chain: int = 0, **options) -> np.ndarray:
    x = start_state(model, key(chain), **options)
    assert x.shape == (model.n_variables,)
    assert x.dtype == np.int64
    assert model.log_score(x) > -np.inf  # which includes the evidence
    assert np.array_equal(check_start(model, x), x)
    return x


@examples(50)
@given(models(max_variables=6), st.integers(0, 2**64 - 1))
def test_dice_throw_every_free_variable(model, number):
    bits = [naive_draw(number, i) for i in range(model.n_variables)]
    thrown = [bit % int(k) for bit, k in zip(bits, model.cardinalities, strict=True)]
    expected = [x if e < 0 else e for x, e in zip(thrown, model.evidence.tolist(), strict=True)]
    x = uniform_state(np.uint64(number), model.cardinalities, model.evidence)
    assert x.tolist() == expected and x.dtype == np.int64
    if not model.has_hard_zeros:
        assert start_state(model, np.uint64(number)).tolist() == expected


# -- against enumeration ------------------------------------------------------------------


@st.composite
def hard_models(draw) -> FactorGraph:
    cards = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.1, 0.4, 0.6, 0.8, 0.9]))
    factors = []
    for _ in range(draw(st.integers(0, 9))):
        scope = rng.permutation(len(cards))[: rng.integers(1, 5)]
        shape = [cards[i] for i in scope]
        factors.append(
            (scope, np.where(rng.random(shape) < density, -np.inf, rng.normal(size=shape)))
        )
    clamped = draw(st.lists(st.integers(0, len(cards) - 1), max_size=2, unique=True))
    try:
        return FactorGraph(cards, factors).given({i: rng.integers(cards[i]) for i in clamped})
    except ModelError:  # a factor, a variable or the evidence is impossible by itself
        assume(False)
        raise


@examples(100)
@given(hard_models(), st.integers(0, 2**64 - 1))
def test_a_start_is_found_if_and_only_if_there_is_one(model, number):
    possible = support(model)
    if possible:
        assert tuple(start_state(model, np.uint64(number))) in possible
    else:
        with pytest.raises(InfeasibleError, match="but no state of variable"):
            start_state(model, np.uint64(number))


@pytest.mark.parametrize(
    "model",
    [
        colouring(4, 3, ring(4)),
        colouring(4, 3, ring(4)).given({2: 1}),
        colouring(5, 2, [(0, 1), (3, 4)]),
        FactorGraph(
            [2, 3, 2],
            [((0, 1, 2), np.where(np.arange(12) % 5 == 2, 0.0, -np.inf).reshape(2, 3, 2))],
        ),
    ],
)
def test_every_state_of_the_support_may_come(model):
    seen = {tuple(map(int, start_state(model, key(chain)))) for chain in range(400)}
    assert seen == support(model)


# -- strictly positive models, and lattices ----------------------------------------------


def test_positive_models_start_uniformly():
    model = pairwise_model(np.zeros((3000, 3)), [(0, 1)], np.ones((3, 3))).given({5: 2})
    x = found(model)
    assert x[5] == 2
    assert np.abs(np.bincount(x) / 3000 - 1 / 3).max() < 0.04


def test_variables_in_no_hard_factor_start_uniformly():
    model = pairwise_model(np.zeros((3000, 3)), [(0, 1), (7, 9)], np.where(np.eye(3), -np.inf, 0.0))
    x = found(model)
    assert np.abs(np.bincount(x) / 3000 - 1 / 3).max() < 0.04
    assert x[0] != x[1]
    assert x[7] != x[9]


def test_lattices_need_no_factor_graph(monkeypatch):
    rng = np.random.default_rng(0)
    log_unary = np.where(rng.random((40, 50, 4)) < 0.6, -np.inf, 0.0)
    log_unary[..., 1] = 0.0
    model = potts_grid(log_unary).given({(3, 4): 1})
    monkeypatch.setattr(Lattice, "as_factor_graph", None)
    x = found(model)
    assert x[3 * 50 + 4] == 1
    anything = (log_unary == 0.0).sum(axis=2).ravel() > 1
    assert 0.2 < (x[anything] == 1).mean() < 0.5  # 1 of 2, 3 or 4
    assert 0.45 < found(ising_grid(np.zeros((40, 50)))).mean() < 0.55


@pytest.mark.parametrize("model", [ising_grid(np.zeros((8, 8))), colouring(12, 3, ring(12))])
def test_a_key_names_its_start(model):
    starts = [start_state(model, key(chain)) for chain in (0, 0, 1, 2)]
    assert np.array_equal(starts[0], starts[1])
    assert len({x.tobytes() for x in starts}) == 3


# -- constraint problems ------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        colouring(10, 2, ring(10)),
        colouring(11, 3, ring(11)),
        colouring(10, 3, PETERSEN),
        colouring(81, 2, grid(9, 9)),
        colouring(81, 3, grid(9, 9)).given({0: 0, 80: 1, 40: 2}),
        colouring(25, 5, pairs(latin(5))),
    ],
    ids=["ring", "odd-ring", "Petersen", "chessboard", "grid", "Latin-square"],
)
def test_colourings(model):
    for chain in range(2 if UNCOMPILED else 20):
        found(model, chain)


def test_queens():
    model = FactorGraph([8] * 8, queens(8))
    assert len({tuple(found(model, chain)) for chain in range(8)}) > 1


EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
HARD = "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......"


def test_sudoku_as_evidence():
    clues = EASY if UNCOMPILED else HARD
    box = [0, 1, 2, 9, 10, 11, 18, 19, 20]
    boxes = [[9 * r + c + cell for cell in box] for r in (0, 3, 6) for c in (0, 3, 6)]
    model = colouring(81, 9, pairs(latin(9) + boxes))
    model = model.given({i: int(clue) - 1 for i, clue in enumerate(clues) if clue != "."})
    x = found(model)
    assert all(clue in (".", str(value + 1)) for clue, value in zip(clues, x, strict=True))
    assert np.array_equal(x, found(model, 1))  # a proper sudoku has one solution


def test_parity_of_ten():
    odd = np.where(np.indices((2,) * 10).sum(axis=0) % 2, 0.0, -np.inf)
    model = FactorGraph([2] * 19, [(range(10), odd), (range(9, 19), odd)])
    starts = [found(model, chain) for chain in range(5 if UNCOMPILED else 50)]
    assert len({x.tobytes() for x in starts}) == len(starts)


def test_one_possible_entry_in_a_million():
    table = np.full((2,) * (8 if UNCOMPILED else 20), -np.inf)
    table.flat[table.size * 2 // 3] = 0.0
    x = found(FactorGraph(table.shape, [(range(table.ndim), table)]))
    assert np.ravel_multi_index(tuple(x), table.shape) == table.size * 2 // 3


# -- empty supports, and bounds --------------------------------------------------------------


def test_an_odd_ring_has_no_two_colours():
    with pytest.raises(InfeasibleError) as error:
        start_state(colouring(5, 2, ring(5), names=list("abcde")), key())
    assert "expected a state of positive probability, but no state of variable '" in str(
        error.value
    )
    assert "is compatible with its factors: correct the evidence or the zeros" in str(error.value)


def test_propagation_alone_may_prove_it():
    model = colouring(4, 2, [(0, 1), (1, 2), (2, 3)]).given({0: 0, 3: 0})
    with pytest.raises(InfeasibleError, match=r"no state of variable [0123] is compatible"):
        start_state(model, key(), tries=0)


def test_pigeons_without_holes():
    model = colouring(6, 5, pairs([range(6)]))
    with pytest.raises(InfeasibleError, match="no state of variable"):
        start_state(model, key())
    with pytest.raises(InfeasibleError, match="within 10 tries: pass start="):
        start_state(model, key(), tries=10)


def test_one_empty_component_among_many_is_named():
    n = 40
    edges = [(6 * m + a, 6 * m + b) for m in range(n) for a, b in ring(6)]
    triangle = [(6 * n + a, 6 * n + b) for a, b in ring(3)]
    model = colouring(6 * n + 3, 2, edges + triangle)
    with pytest.raises(InfeasibleError, match=r"no state of variable 24[012] is compatible"):
        start_state(model, key(), tries=4)  # the rings take none


def test_dead_ends_in_one_component_leave_the_others_alone():
    """Forty boards of queens take some 70 dead ends in all, not in each."""
    boards = 4 if UNCOMPILED else 40
    factors = [
        ((8 * m + a, 8 * m + b), table) for m in range(boards) for (a, b), table in queens(8)
    ]
    for chain in range(3):
        found(FactorGraph([8] * 8 * boards, factors), chain, tries=5 * boards)


# -- large, and real ------------------------------------------------------------------------


H, W = (6, 8) if UNCOMPILED else (50, 60)
RING = 20 if UNCOMPILED else 3000


@pytest.mark.parametrize(
    "model",
    [
        colouring(H * W, 3, grid(H, W)),
        pairwise_model(np.zeros((H * W, 2)), grid(H, W), [[0, 0], [0, -np.inf]]),
        colouring(RING, 20, ring(RING)),
        colouring(2 * RING, 2, ring(2 * RING)),
    ],
    ids=["three-colours", "hard-core", "twenty-colours", "two-colours"],
)
def test_thousands_of_variables(model):
    start_state(colouring(3, 3, ring(3)), key())  # compiles
    with ending():
        x = start_state(model, key())
    check_start(model, x)


def test_a_large_grid_has_three_colours():
    """Random instead of rippling decisions enclose regions that cannot be coloured."""
    side = 8 if UNCOMPILED else 150
    for chain in range(3):
        found(colouring(side**2, 3, grid(side, side)), chain)


def read_uai(path: Path) -> FactorGraph:
    words = iter(path.read_text().split()[1:])
    cards = [int(next(words)) for _ in range(int(next(words)))]
    scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
    tables = []
    for scope in scopes:
        values = np.array([float(next(words)) for _ in range(int(next(words)))])
        with np.errstate(divide="ignore"):
            tables.append(np.log(values).reshape([cards[i] for i in scope]))
    evidence = [int(word) for word in Path(f"{path}.evid").read_text().split()]
    model = FactorGraph(cards, zip(scopes, tables, strict=True))
    return model.given(dict(zip(evidence[1::2], evidence[2::2], strict=True)))


@pytest.mark.parametrize(
    "name",
    ["Pedigree_12", "ObjectDetection_12", *(f"Promedus_{year}" for year in (11, 12, 13, 15, 16))],
)
def test_uai_models(name):
    path = UAI / name / f"{name}.uai"
    if not path.exists():
        pytest.skip(f"{path} is not here: the shared data are not part of the repository")
    model = read_uai(path)
    assert model.has_hard_zeros
    starts = {found(model, chain).tobytes() for chain in range(1 if UNCOMPILED else 10)}
    assert len(starts) == (1 if UNCOMPILED else 10)


# -- a start of the user's own -------------------------------------------------------------


def test_a_start_may_be_a_list_or_a_picture():
    model = ising_grid(np.zeros((2, 3)))
    picture = np.array([[0, 1, 1], [1, 0, 0]])
    for state in (picture, picture.tolist(), picture.ravel(), picture.astype(float)):
        x = check_start(model, state)
        assert x.dtype == np.int64
        assert np.array_equal(x, picture.ravel())
    assert not np.shares_memory(check_start(model, picture), picture)


NAMED = colouring(3, 3, [(0, 1), (1, 2)], names=["a", "b", "c"]).given({"c": 2})


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ([0, 1], "states of 3 variables"),
        ([0, 1, 3], "from 0 to 2"),
        ([0, 0.5, 2], "whole numbers"),
        ([[0, 1, 2], [0, 1, 2]], r"one state as a start, got an array of shape \(2, 3\)"),
        ([0, 1, 0], "variable 'c' is 0 in the start and 2 in the evidence"),
        ([1, 1, 2], "a factor forbids 'a' = 1, 'b' = 1: correct the start"),
    ],
)
def test_wrong_starts(state, words):
    with pytest.raises(ModelError, match=words):
        check_start(NAMED, state)


def test_wrong_pixels_are_named():
    log_unary = np.zeros((2, 3, 2))
    log_unary[1, 2, 0] = -np.inf
    model = potts_grid(log_unary).given({(0, 1): 1})
    with pytest.raises(ModelError, match=r"variable \(0, 1\) is 0"):
        check_start(model, np.zeros((2, 3)))
    with pytest.raises(ModelError, match=r"forbids \(1, 2\) = 0"):
        check_start(model, [[0, 1, 0], [0, 0, 0]])


def test_very_improbable_is_not_impossible():
    model = FactorGraph([2, 2], [((0,), [0.0, -4e11]), ((1,), [0.0, -4e11])])
    with np.errstate(over="ignore"):
        assert check_start(model, [1, 1]).tolist() == [1, 1]

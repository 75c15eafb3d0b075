"""Tables of the theory section, and rotor-router walks on complete graphs."""

import numpy as np
import pytest

from herded import theory
from herded.errors import MethodError
from herded.paper import theory_tables
from herded.paper.rotor_walk import rotor_router
from tests.theory.small_graphs import HARD, MIXED, RING, SMALL, complete, each, ising


def test_theorem_2_on_random_complete_graphs():
    rows = theory_tables.theorem2_table(20, seed=0)
    assert len(rows) == 20 and {row.N for row in rows} == {3, 4, 5}
    for row in rows:
        assert row.holds and row.T_star <= row.T and row.measured <= row.bound <= 0.1
        assert 0 < row.measured * row.T < 20  # 1/T indeed, with a constant far below lambda


def test_couplings_that_are_too_strong():
    with pytest.raises(MethodError, match="expected couplings weak enough"):
        theory_tables.theorem2_table(1, scale=20.0)


def test_no_plateau_is_found_on_complete_graphs():
    found = theory_tables.measured_plateau(complete(0, 5, 0.5), 2**17)
    assert found.slope < -0.8 and found.plateau < 1e-5


def test_strong_sparse_couplings_are_told_from_weak():
    models = {"weak": ising(RING, 8, 0.1), "strong": ising(RING, 8, 1.0)}
    weak, strong = theory_tables.plateau_table(models, 60_000, 2**17)
    assert abs(weak.excess) < 0.002 and strong.excess > 0.008
    assert strong.plateau > 1e-4 and strong.plateau > 20 * weak.plateau
    assert weak.slope < -0.6 < strong.slope


@pytest.mark.parametrize("seed", range(6))
def test_rotor_router_visits_the_same_states(seed):
    model = complete(seed, 2 + seed % 3, scale=1.0, states=2 + seed % 2)
    assert np.array_equal(rotor_router(model, 400), theory.within_sweep_path(model, 400))


@each({"hard zeros": HARD, "mixed": MIXED, "fair coins": complete(0, 3, 0.0)})
def test_rotor_router_with_zeros_ties_and_cardinalities(model):
    walk = rotor_router(model, 400)
    assert np.array_equal(walk, theory.within_sweep_path(model, 400))


def test_rotor_router_needs_a_complete_graph():
    with pytest.raises(MethodError, match="complete graph"):
        rotor_router(SMALL["sparse"], 10)

"""Section 3 of Bornn et al. (2013): every claim of the theory, checked on runs.

Checks can fail: each compares a run of the library with a bound computed from the model alone.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from herded import theory
from herded.methods.exact.solver import Exact
from herded.methods.herded_gibbs import HerdedGibbs
from herded.models.factor_graph import FactorGraph
from herded.models.lattice_builders import ising_grid
from herded.models.pairwise import pairwise_model
from herded.paper.report import Figure, Section, Table, Verdict
from herded.paper.rotor_walk import rotor_router
from herded.paper.theory_tables import plateau_table, theorem2_table
from herded.run.infer import infer
from herded.run.recording.recorders import Joint, Samples
from herded.system.figures import GIBBS_COLOUR, HERDED_COLOUR, subplots, svg, with_plot_style

# random graphs, Gibbs sweeps of the predictor, herded sweeps of the plateau
SIZES = {
    "quick": (20, 20_000, 2**14),
    "default": (20, 60_000, 2**18),
    "full": (60, 200_000, 2**20),
}
N_COINS = 10
COLUMN_HEADS = {"T_star": "T*"}


def section(size: str, progress: Callable[[str], None]) -> Section:
    """Run all checks at one of SIZES: random graphs, Gibbs sweeps, herded sweeps."""
    graphs, gibbs_sweeps, herded_sweeps = SIZES[size]
    progress("theory: theorem 2 on random complete graphs")
    rows = theorem2_table(graphs, seed=0)
    progress("theory: propositions, corollary, rotor-router")
    statements = _statements()
    progress("theory: phase locking")
    coins = _coins()
    progress("theory: the plateau of sparse graphs")
    plateaus = plateau_table(_sparse_models(), gibbs_sweeps, herded_sweeps)
    held = sum(row.holds for row in rows)
    true = sum(row[-1] == "yes" for row in statements)
    return Section(
        title="Theory (section 3 and the appendix)",
        text="Constants and bounds are computed from the model; distances are measured on runs.",
        verdicts=[
            Verdict(
                f"Theorem 2's bound holds on {held} of {len(rows)} random complete graphs. It is "
                f"{_looseness(rows):.0f} times the measured distance in the median.",
                "Complete graphs: d_v(P_T, pi) is at most lambda / T after a burn-in (theorem 2).",
                held == len(rows),
            ),
            Verdict(
                f"{true} of {len(statements)} statements hold on a complete graph of three "
                "variables.",
                "Every state is visited at a linear rate, a herded sweep is nearly a Gibbs sweep, "
                "and on complete graphs herded Gibbs is a rotor-router walk (propositions 1 and 2, "
                "the corollary, section 5).",
                true == len(statements),
            ),
            Verdict(
                f"Without rational independence (theorem 1): herding visits {coins[0][1]} of "
                f"{2**N_COINS} states of {N_COINS} fair coins while every marginal is exact; slack "
                f"1 visits {coins[1][1]}."
            ),
            Verdict(_plateau_verdict(plateaus, herded_sweeps)),
        ],
        parts=[
            _table(
                "theorem-2",
                "Theorem 2 on random complete graphs: measured d_v(P_T, pi) and its bound, T "
                "chosen so that the bound is 0.1.",
                rows,
            ),
            Figure([_draw()], "Distance and bound on a complete graph of four variables."),
            Table(
                "statements",
                "Other statements, on one complete graph of three binary variables.",
                ["statement", "measured", "bound", "holds"],
                statements,
                folded=True,
            ),
            Table(
                "phase-locking",
                f"{N_COINS} fair coins, 4,096 sweeps, weights start alike.",
                ["method", "states visited", "largest marginal error", "d_v of the joint"],
                coins,
                folded=True,
            ),
            _table(
                "plateau",
                f"Sparse Ising models: predictor from {gibbs_sweeps:,} Gibbs sweeps, plateau "
                f"measured at {herded_sweeps:,} herded sweeps.",
                plateaus,
            ),
        ],
    )


def _plateau_verdict(rows: list[Any], sweeps: int) -> str:
    errors, excess = [row.error for row in rows], [row.excess for row in rows]
    ranks = [np.argsort(np.argsort(values)) for values in (errors, excess)]
    return (
        f"On sparse graphs, which no theorem covers, the error after {sweeps:,} sweeps is "
        f"{min(errors):.0e} to {max(errors):.0e}. It correlates with how much a weight's last "
        "answer tells about the other variables at its next visit (excess): rank correlation "
        f"{np.corrcoef(ranks[0], ranks[1])[0, 1]:.2f} over these {len(rows)} models."
    )


def _looseness(rows: list[Any]) -> float:
    return float(np.median([row.bound / row.measured for row in rows]))


def _table(name: str, caption: str, rows: list[Any]) -> Table:
    head = [COLUMN_HEADS.get(name, name) for name in rows[0]._fields]
    columns = map(_column, zip(*rows, strict=True))
    return Table(name, caption, head, list(zip(*columns, strict=True)), folded=True)


def _column(values: Sequence[Any]) -> list[str]:
    """Format the numbers of one column alike."""
    if not isinstance(values[0], float):
        return [_yes(value) if isinstance(value, bool) else str(value) for value in values]
    sizes = [abs(value) for value in values if value]
    if sizes and min(sizes) < 1e-3:
        return [f"{value:.2e}" if value else "0" for value in values]
    return [f"{value:.0f}" if min(sizes, default=0) >= 100 else f"{value:.3g}" for value in values]


def _yes(holds: bool) -> str:
    return "yes" if holds else "NO"


def _statements() -> list[list[str]]:
    model = theory.random_complete_graph(np.random.default_rng(3), 3)
    rows = []
    for check in (
        theory.check_lemma1(model),
        theory.check_proposition1(model),
        theory.check_proposition2(model),
        theory.check_corollary(model),
    ):
        rows.append(
            [check.statement, f"{check.measured:.3g}", f"{check.bound:.3g}", _yes(check.holds)]
        )
    sweeps = 500
    walk = rotor_router(model, sweeps)[model.n_variables :: model.n_variables]
    method = HerdedGibbs(scan="sequential", phases="half")
    start = rotor_router(model, 0)[0]
    ours = infer(model, method, sweeps=sweeps, start=start, keep=[Samples()]).samples[0]
    differ = int((walk != ours).any(axis=1).sum())
    rows.append(
        [f"rotor-router walk: {sweeps} sweeps that differ", str(differ), "0", _yes(differ == 0)]
    )
    return rows


def _coins() -> list[list[str]]:
    model = pairwise_model(np.zeros((N_COINS, 2)), np.empty((0, 2), int), np.zeros((2, 2)))
    rows = []
    for name, method in (
        ("herding", HerdedGibbs(phases="half")),
        ("slack 1", HerdedGibbs(slack=1.0, phases="half")),
    ):
        result = infer(model, method, sweeps=4096, keep=[Joint(), Samples()])
        visited = len(np.unique(result.samples[0], axis=0))
        marginal = np.abs(result.samples[0].mean(axis=0) - 0.5).max()
        distance = theory.total_variation(result.joint, np.full((2,) * N_COINS, 2.0**-N_COINS))
        rows.append([name, str(visited), f"{marginal:.2g}", f"{distance:.3f}"])
    return rows


def _sparse_models() -> dict[str, FactorGraph]:
    spins = np.array([[1.0, -1.0], [-1.0, 1.0]])
    field = 0.2 * np.random.default_rng(0).normal(size=9)

    def ring(coupling: float) -> FactorGraph:
        edges = [(i, (i + 1) % 8) for i in range(8)]
        return pairwise_model(np.stack([-field[:8], field[:8]], axis=1), edges, coupling * spins)

    models = {f"ring of 8, J = {j}": ring(j) for j in (0.1, 0.3, 1.0)}
    grid = field.reshape(3, 3)
    models |= {f"grid 3 x 3, J = {j}": ising_grid(grid, j).as_factor_graph() for j in (0.1, 1.0)}
    return models


@with_plot_style
def _draw() -> str:
    model = theory.random_complete_graph(np.random.default_rng(1), 4)
    known = theory.constants(model)
    truth = infer(model, Exact()).joint
    sweeps = np.unique(np.round(np.logspace(1, 5, 40)).astype(int))
    counts, done, state, found = np.zeros_like(truth), 0, None, []
    for goal in sweeps:
        step = int(goal - done)
        result = infer(model, HerdedGibbs(phases="half"), sweeps=step, start=state, keep=[Joint()])
        counts, done, state = counts + result.joint * step, goal, result.state
        found.append(theory.total_variation(counts / done, truth))
    figure, axis = subplots(1, 1, width=4.2, height=3)
    axis.loglog(sweeps, found, color=HERDED_COLOUR, label="measured")
    late = sweeps >= known.T_star
    bounds = [known.corollary_bound(int(t)) for t in sweeps[late]]
    axis.loglog(
        sweeps[late], bounds, color=GIBBS_COLOUR, label="bound of the corollary, from T* on"
    )
    axis.set(xlabel="sweeps T", ylabel="distance of $P_T$ from π")
    axis.legend()
    return svg(figure)

"""Section 3 and appendix A of Bornn et al. (2013): herding with one weight and with two.

A visit of a herd, which is not in the paper, is shown as well.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from herded.methods.gibbs import Gibbs
from herded.methods.herded_gibbs import HerdedGibbs
from herded.methods.protocol import Method
from herded.models.factor_graph import FactorGraph
from herded.paper.dynamics_figures import (
    draw_circle,
    draw_counts,
    draw_times,
    draw_torus,
    draw_visit,
    draw_weight,
)
from herded.paper.report import Figure, Section, Table, Verdict
from herded.run.infer import infer
from herded.run.recording.recorders import Joint, Samples
from herded.system.numerics.exp_log import log_array
from herded.theory import total_variation

ORBIT_SWEEPS = 2**14
HERDED_CHANCES = (0.1, 0.25, 0.3, 0.5, 0.618, 0.9)
INDEPENDENT_CHANCES = (2**0.5 - 1, 3**0.5 - 1)  # with 1 they have no rational relation
LOCKED_CHANCES = (0.5, 0.5)
HERD_MEMBERS = 64


def independent_model(chances: tuple[float, ...]) -> FactorGraph:
    """Build a model of variables without edges, 1 with these probabilities."""
    tables = log_array(np.array([[1 - chance, chance] for chance in chances]))
    return FactorGraph([2] * len(chances), [((i,), table) for i, table in enumerate(tables)])


def section(size: str, progress: Callable[[str], None]) -> Section:
    """Draw the figures and check the claims about them; the same at every size."""
    progress("herding: one weight, two weights, a herd")
    strays = {chance: max_stray_count(chance) for chance in HERDED_CHANCES}
    rows = [_row(name, chances, method) for name, chances in _PAIRS for method in _METHODS]
    free, locked, herd = (float(rows[k][3]) for k in (0, 2, 3))
    return Section(
        title="How herding works (section 3 and appendix A, figures 1, 8, 9 and 11)",
        text="Herding keeps a weight, the debt to state 1: the variable is 1 whenever the weight "
        "is positive, which pays off the debt. Nothing is random.",
        verdicts=[
            Verdict(
                f"For pi = {', '.join(map(str, HERDED_CHANCES))} and every T up to "
                f"{ORBIT_SWEEPS:,} the count is at most {max(strays.values()):.3f} from T pi.",
                "One variable: the number of ones always stays within 1 of T pi (lemma 1).",
                max(strays.values()) <= 1,
            ),
            Verdict(
                f"Two variables of probabilities {INDEPENDENT_CHANCES[0]:.4f} and "
                f"{INDEPENDENT_CHANCES[1]:.4f}: after {ORBIT_SWEEPS:,} sweeps the joint "
                f"distribution is {free:.4f} from the truth. Two fair coins, which are not "
                f"independent in this sense, stay {locked:.2f} away.",
                "Independent variables: the joint distribution converges to the truth if their "
                "probabilities and 1 are rationally independent (theorem 1).",
                free < 0.01,
            ),
            Verdict(
                f"A herd needs no such condition: on the two fair coins, after as many updates by "
                f"a herd of {HERD_MEMBERS}, the distance is {herd:.4f}."
            ),
        ],
        parts=[
            Figure(
                [draw_weight(0.3), draw_counts(0.3), draw_circle(0.3)],
                "One variable with pi = 0.3. Left: the weight stays in (pi - 1, pi]; it is above 0 "
                "before each 1 (red). Middle: ones counted, minus T pi, by herding and by fair "
                "draws. Right: the same weight modulo 1 turns on a circle by pi at every step, and "
                "the variable is 1 on the red arc.",
            ),
            Figure(
                [
                    draw_torus(INDEPENDENT_CHANCES, "no rational relation"),
                    draw_torus(LOCKED_CHANCES, "fair coins"),
                ],
                "Two independent variables: both weights, modulo 1, over 600 sweeps; the state "
                "depends on the rectangle. Left: the path fills the square, so that every state "
                "gets its area. Right: two fair coins with the same start move as one, and two of "
                "the four states never occur.",
            ),
            Figure(
                [draw_visit()],
                "A visit of a herd of 12 (not in the paper): the members' conditionals end to end, "
                "and a comb with a tooth at every whole number, shifted by one random phase phi. A "
                "member becomes 1 if a tooth falls on it: each with its own probability, and their "
                "number is the sum of the probabilities, rounded up or down.",
            ),
            Figure(
                [draw_times()],
                "Distributions over time: a window of T sweeps, here T = 5 of a chain of three "
                "variables. P_T counts the states at the ends of sweeps, from sweep 0 (lower "
                "bracket) or one sweep later (upper); within a sweep the same is done after each "
                "step. The proof of theorem 2 follows P_T as its window moves.",
            ),
            Table(
                "two-independent",
                f"Two independent variables after {ORBIT_SWEEPS:,} updates of each: how many of "
                "the four states were visited, and the distance of the joint distribution from the "
                "truth.",
                ["probabilities", "method", "states", "d_v"],
                rows,
                folded=True,
            ),
        ],
    )


_PAIRS = (("independent", INDEPENDENT_CHANCES), ("fair coins", LOCKED_CHANCES))
_METHODS: dict[str, tuple[Method, int]] = {
    "herded Gibbs": (HerdedGibbs(phases="half"), 1),
    f"Gibbs, herd of {HERD_MEMBERS}": (Gibbs(herd=HERD_MEMBERS), HERD_MEMBERS),
}


def _row(name: str, chances: tuple[float, ...], method: str) -> list[Any]:
    chosen, members = _METHODS[method]
    model = independent_model(chances)
    joint = infer(model, chosen, sweeps=ORBIT_SWEEPS // members, keep=[Joint()]).joint
    first, second = chances
    truth = np.outer([1 - first, first], [1 - second, second])
    states = int((joint > 0).sum())
    return [name, method, states, f"{total_variation(joint, truth):.4f}"]


def max_stray_count(chance: float) -> float:
    """Return how far the count of ones of a herded variable strays from T pi, over all T."""
    method = HerdedGibbs(phases="half")
    drawn = infer(
        independent_model((chance,)), method, sweeps=ORBIT_SWEEPS, keep=[Samples()]
    ).samples[0, :, 0]
    due = chance * np.arange(1, ORBIT_SWEEPS + 1)
    return float(np.abs(np.cumsum(drawn, dtype=np.int64) - due).max())

"""Section 3 and the appendix of Bornn et al. (2013) as code, for small models.

what the paper writes                      here
P_T^(tau), P_T,i^(tau)                     empirical, empirical_within
d_v                                        total_variation
X^(0), X^(1), ..                           within_sweep_path
T_i, T; T~_T,i^(tau), T~_T^(tau)           gibbs_kernel, gibbs_sweep_kernel; herded_kernel,
                                           herded_sweep_kernel
eta                                        dobrushin
pi_min, t*, l, B, lambda, T*, tau*(T)      constants
Lemma 1, Propositions 1 and 2,             check_lemma1, check_proposition1,
Theorem 2, its corollary                   check_proposition2, check_theorem2, check_corollary
Theorem 1's rational independence          rational_dependence, warn_if_locked
the related rotor-router walks             rotor_router
"unknown for sparse graphs"                plateau_predictor, measured_plateau

and of herds (docs/herds.md), which the paper does not have:

the law of a visit, of a sweep             together_law, visit_law; herd_kernel, herd_sweep_kernel
members are Gibbs chains                   check_members, member_kernel
counts, and how much they vary             check_counts, check_variance, count_variance
what a herd's average gains                variance_ratio
"""

from herded.theory.bounds import Constants, constants
from herded.theory.checks import (
    Check,
    check_corollary,
    check_lemma1,
    check_proposition1,
    check_proposition2,
    check_theorem2,
    is_complete,
)
from herded.theory.herd_checks import (
    check_counts,
    check_members,
    check_variance,
    count_variance,
    variance_ratio,
)
from herded.theory.herds import (
    herd_kernel,
    herd_sweep_kernel,
    member_kernel,
    phase_law,
    together_law,
    visit_law,
)
from herded.theory.path import path_of_samples, within_sweep_path
from herded.theory.plateau import (
    Plateau,
    PlateauRow,
    Prediction,
    measured_plateau,
    plateau_predictor,
    plateau_table,
)
from herded.theory.random_graphs import (
    Row,
    format_rows,
    random_complete_graph,
    theorem2_table,
)
from herded.theory.rational import Relation, rational_dependence, warn_if_locked
from herded.theory.rotor import rotor_router
from herded.theory.states import empirical, empirical_within, support, target, total_variation
from herded.theory.transition import (
    dobrushin,
    gibbs_kernel,
    gibbs_sweep_kernel,
    herded_kernel,
    herded_sweep_kernel,
)

__all__ = [
    "Check",
    "Constants",
    "Plateau",
    "PlateauRow",
    "Prediction",
    "Relation",
    "Row",
    "check_corollary",
    "check_counts",
    "check_lemma1",
    "check_members",
    "check_proposition1",
    "check_proposition2",
    "check_theorem2",
    "check_variance",
    "constants",
    "count_variance",
    "dobrushin",
    "empirical",
    "empirical_within",
    "format_rows",
    "gibbs_kernel",
    "gibbs_sweep_kernel",
    "herd_kernel",
    "herd_sweep_kernel",
    "herded_kernel",
    "herded_sweep_kernel",
    "is_complete",
    "measured_plateau",
    "member_kernel",
    "path_of_samples",
    "phase_law",
    "plateau_predictor",
    "plateau_table",
    "random_complete_graph",
    "rational_dependence",
    "rotor_router",
    "support",
    "target",
    "theorem2_table",
    "together_law",
    "total_variation",
    "variance_ratio",
    "visit_law",
    "warn_if_locked",
    "within_sweep_path",
]

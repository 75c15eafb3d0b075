"""Section 3 and the appendix of Bornn et al. (2013) as code, for small models.

what the paper writes                      here
Algorithm 1                                algorithm_1
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
"unknown for sparse graphs"                plateau_predictor

Start reading at `paper_algorithm.py`, which takes models of any size. Then read `state_space.py`,
which defines P_T, `transition_matrices.py` and `paper_checks.py`: these enumerate states, so they
are for small models only.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)

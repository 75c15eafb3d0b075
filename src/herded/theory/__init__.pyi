from herded.theory.paper_algorithm import algorithm_1 as algorithm_1
from herded.theory.bounds import Constants as Constants, constants as constants
from herded.theory.paper_checks import (
    Check as Check,
    check_corollary as check_corollary,
    check_lemma1 as check_lemma1,
    check_proposition1 as check_proposition1,
    check_proposition2 as check_proposition2,
    check_theorem2 as check_theorem2,
    is_complete as is_complete,
)
from herded.theory.herd_checks import (
    check_counts as check_counts,
    check_members as check_members,
    check_variance as check_variance,
    count_variance as count_variance,
    variance_ratio as variance_ratio,
)
from herded.theory.herd_laws import (
    herd_kernel as herd_kernel,
    herd_sweep_kernel as herd_sweep_kernel,
    member_kernel as member_kernel,
    phase_law as phase_law,
    together_law as together_law,
    visit_law as visit_law,
)
from herded.theory.update_path import (
    path_of_samples as path_of_samples,
    within_sweep_path as within_sweep_path,
)
from herded.theory.plateau_prediction import (
    Prediction as Prediction,
    plateau_predictor as plateau_predictor,
)
from herded.theory.random_graphs import random_complete_graph as random_complete_graph
from herded.theory.rational_dependence_search import (
    Relation as Relation,
    rational_dependence as rational_dependence,
    warn_if_locked as warn_if_locked,
)
from herded.theory.state_space import (
    empirical as empirical,
    empirical_within as empirical_within,
    support as support,
    target as target,
    total_variation as total_variation,
)
from herded.theory.transition_matrices import (
    dobrushin as dobrushin,
    gibbs_kernel as gibbs_kernel,
    gibbs_sweep_kernel as gibbs_sweep_kernel,
    herded_kernel as herded_kernel,
    herded_sweep_kernel as herded_sweep_kernel,
)

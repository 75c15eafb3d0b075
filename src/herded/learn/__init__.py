"""Learning from data: parameters and structure of models, variables to select, clusters.

`fitting` fits the parameters of any model (`fit`), and `assessment` judges how good a stochastic
fit is. `boltzmann` has Boltzmann machines and RBMs, `structure` finds which variables interact,
`variable_selection` selects columns of a regression, `mixture` clusters points. The estimators
follow scikit-learn. `resumable_herd_run.py` runs the herds of variable selection and of mixtures,
with progress, Ctrl-C and checkpoints.

Start reading at `fitting/fit_function.py`.
"""

from herded.system.lazy_imports import attach

# Classes of scikit-learn's.
__getattr__, __dir__, __all__ = attach(
    __name__, extras=["BoltzmannMachine", "DirichletMixture", "RBM", "VariableSelector"]
)

"""Learning from data: parameters and structure of models, variables to select, clusters."""

from herded.system.lazy_imports import attach

# Classes of scikit-learn's.
__getattr__, __dir__, __all__ = attach(
    __name__, extras=["BoltzmannMachine", "DirichletMixture", "RBM", "VariableSelector"]
)

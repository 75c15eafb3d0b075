"""Learning from data: parameters of models, variables to select, clusters."""

from herded.system.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, extras=["DirichletMixture", "VariableSelector"]
)  # which need scikit-learn

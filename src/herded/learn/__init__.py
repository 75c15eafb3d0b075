"""Learning: the parameters and the structure of models, from data."""

from herded.system.lazy import attach

# Classes of scikit-learn's.
__getattr__, __dir__, __all__ = attach(__name__, extras=["BoltzmannMachine", "RBM"])

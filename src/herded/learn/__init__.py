"""Learning: the parameters and the structure of models, from data."""

from herded.system.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)

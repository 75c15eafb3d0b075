"""Pictures of results and models: marginals, error curves, samples, observables, graphs.

Each function gives a matplotlib figure; a notebook shows it, `figure.savefig(path)` writes it.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)

"""Pictures of results and models: marginals, error curves, samples, observables, graphs.

Each function gives a matplotlib figure; a notebook shows it, `figure.savefig(path)` writes it.
`marginal_plots.py`, `curve_plots.py`, `sample_plots.py` and `graph_plots.py` have the functions,
and `figure_helpers.py` what they share. The functions take results and models as they are and
compute nothing new; matplotlib itself is imported by `herded.system.figures` only.

Start reading at `marginal_plots.py`.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)

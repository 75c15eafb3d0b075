"""Plots of results and models: marginals, error curves, samples, observables, graphs.

Each function returns a matplotlib figure: a notebook displays it, `figure.savefig(path)` writes it.
The functions are in `marginal_plots.py`, `curve_plots.py`, `sample_plots.py` and `graph_plots.py`;
`figure_helpers.py` has what they share. They take results and models as they are and compute
nothing new. Only `herded.system.figures` imports matplotlib.

Start reading at `marginal_plots.py`.
"""

from herded.system.lazy_imports import attach

__getattr__, __dir__, __all__ = attach(__name__)

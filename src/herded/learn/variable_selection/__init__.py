"""Bayesian variable selection for linear regression: the columns that y depends on.

`selection.py` (`select_variables`) checks the data (`validation.py`), prepares the columns
(`regression_problem.py`), and either visits all models (`enumeration.py`) or samples them with
herds (`herd_sampling.py`, kernels in `sweeps.py` and `column_moves.py`). `result.py` is the result
for the user, `inclusion_plot.py` draws it, and `estimator.py` is the scikit-learn estimator.

Start reading at `selection.py`.
"""

"""Estimates of the noise in a picture.

`models.py` has the kinds of noise on a picture of two levels, and `initial_guesses.py` first
estimates. `two_level_fit.py` fits noise, levels and coupling, the coupling by predicting pixels
from all others (`leave_one_out.py`). `bounds.py` computes upper bounds of the noise from the
calmest part of a picture, and `fit_diagnostic.py` tests whether the residual of a model looks like
noise. `normal_distribution.py` has the arithmetic.

Start reading at `models.py`, then `two_level_fit.py`.
"""

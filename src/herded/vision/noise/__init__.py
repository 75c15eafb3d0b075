"""What can be read from a picture about its noise.

`models.py` has the kinds of noise on a picture of two levels, `initial_guesses.py` first estimates,
and `two_level_fit.py` fits noise, levels and coupling, the coupling by predicting pixels from all
others (`leave_one_out.py`). `bounds.py` gives upper bounds of the noise from the calmest part of a
picture, and `fit_diagnostic.py` tests whether what a model leaves over looks like noise.
`normal_distribution.py` is the arithmetic.

Start reading at `models.py`, then `two_level_fit.py`.
"""

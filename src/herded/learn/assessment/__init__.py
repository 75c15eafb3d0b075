"""Tests of stochastic fits: how good the parameters are, and with what certainty.

A fit by sampled gradients ends at a point that is known only up to noise. `fit_outcome.py` decides
which parameters to return and `fit_assessment.py` measures them. `gradient_test.py` tests whether
the gradient is zero, `likelihood_gain.py` estimates how much better they are than others (with
`bennett_ratio.py` between neighbouring models), and `mixing.py` shows whether the herd of chains
mixes. `curvature.py` bounds the length of steps before the fit begins. RBMs use the same tests.

Start reading at `fit_assessment.py`.
"""

"""Fitting the parameters of a model to data: `hd.learn.fit`.

`fit_function.py` checks the data (`observations.py`), writes the model as log-linear
(`build_log_linear.py`) and sets up the optimisation with `fit_setup.py`. The objectives are in
`objectives.py`; their expectations come from `exact_moments.py` (elimination) or `herd_moments.py`
(a persistent herd), with the kernels of `conditional_kernels.py`. Steps are those of `lbfgs.py`, or
of `averaged_gradient.py` if gradients are noisy; `training_loop.py` repeats them, scores held-out
rows and saves checkpoints. `fit_result.py` is the result for the user.

Start reading at `fit_function.py`.
"""

"""Fitting the parameters of a model to data: `hd.learn.fit`.

`fit_function.py` checks the data (`observations.py`), writes the model as log-linear
(`build_log_linear.py`) and asks `fit_setup.py` how to climb. What is maximised is in
`objectives.py`; its expectations come from `exact_moments.py` (elimination) or `herd_moments.py` (a
herd that goes on), with the kernels of `conditional_kernels.py`. Steps are those of `lbfgs.py`, or
of `averaged_gradient.py` where gradients are noisy; `training_loop.py` repeats them, watches
held-out rows and saves checkpoints. `fit_result.py` is what the user gets.

Start reading at `fit_function.py`.
"""

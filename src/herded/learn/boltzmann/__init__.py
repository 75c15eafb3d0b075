"""Boltzmann machines and restricted Boltzmann machines as scikit-learn estimators.

`boltzmann_machine.py` builds a pairwise model and fits it with `herded.learn.fitting`. `rbm.py`
trains with its own herds: parameters and steps are in `rbm_parameters.py`, kernels in
`rbm_kernels.py`, and `rbm_assessment.py` decides which parameters training returns. `log_z.py`
estimates the log Z of both.

Start reading at `rbm.py`.
"""

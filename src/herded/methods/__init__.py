"""Methods: frozen dataclasses that name a way to infer, all with the same interface.

Samplers: `gibbs.py`, `herded_gibbs.py` (Algorithm 1 of the paper), `tempered.py` and `herding.py`,
which needs no model. `site_sampler.py` is what Gibbs and herded Gibbs share: a move, a draw and a
`schedule.py` of temperatures. Solvers: `exact` (variable elimination), `belief_propagation`,
`mean_field` and `viterbi`; `damped_solver.py` is what the iterated ones share.

A method checks its options (`options.py`) when it is created; `compile` lays a model out, `init`
starts a chain or a solver, and `advance` or `step` moves it on. `registry.py` finds methods by the
names of the command line, `serialization.py` writes them as JSON and reads them again,
`layout_cache.py` keeps the layouts of small models, and `default_weights.py` picks the weights of a
model.

Start reading at `protocol.py`, then `herded_gibbs.py`.
"""

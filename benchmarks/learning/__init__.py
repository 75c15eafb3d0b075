"""How well are parameters, graphs and labels learned?

`parameter_recovery` learns couplings, an RBM and graphs from samples of known models.
`fit_improvement` asks whether `hd.learn.fit` ends below its start, on `fit_problems`.
`bayesian_models` compares variable selection and Dirichlet mixtures with Gibbs samplers
written by hand. `ner_speed` measures the recogniser. Start at `parameter_recovery`.
"""

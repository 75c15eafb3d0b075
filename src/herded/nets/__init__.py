"""Bayesian networks by name: variables with named states and tables of probabilities.

`bayes_net.BayesNet` is a `FactorGraph` that knows which variable each factor is the distribution
of. `conditional_table` reads and prints tables, `ancestral_sampling` draws from a net. Rows of data
enter through `models/data_frames`; exact queries are in `methods/row_queries`. Start reading at
`bayes_net`.
"""

"""Bayesian networks by name: variables with named states and tables of probabilities.

`bayes_net.BayesNet` is a `FactorGraph` that knows which variable each factor is the distribution
of. `variable_arguments` and `table_reader` read what a user gives, `conditional_table` is the table
of one variable, `net_structure` says which factor graphs are nets, and `ancestral_sampling` draws
from one. Rows of data enter through `models/data_frames`; exact queries are in
`methods/row_queries`. Start reading at `bayes_net`.
"""

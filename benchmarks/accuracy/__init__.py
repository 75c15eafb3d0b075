"""How accurate are answers, and are doubtful ones reported?

`ising_marginals`, `complete_graphs` and `default_weights` measure errors against exact
answers; `which_method` compares methods by family of models. `time_to_accuracy` is a section of
the comparison with peers. `warning_precision`, `calibration` and `run_length` count how often
diagnostics and intervals are right. `bias` tests the distribution of every layout and method. Start
at `ising_marginals`, the shortest.
"""

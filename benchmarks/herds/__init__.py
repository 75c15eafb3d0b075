"""How do herds compare with Gibbs sampling and its variants?

`herd_comparison` is the main table, on models of all families with exact answers. `herd_goals`
prints goals and results, from `herd_accuracy_goals` and `herd_speed_goals`.
`phase_orders` and `energy_spread` study details of the systematic draw, `pair_model_speed` the
layout "pairs". `gibbs_variants`, `metropolised_gibbs` and `shared_bins` are samplers that herds
are compared with, written to be read.
"""

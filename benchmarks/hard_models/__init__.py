"""What happens on models that single-site moves do not mix?

`uai_competition` runs every method on files of the UAI competitions. `model_generators` makes
random models of similar families with exact answers. `exact_inference`, `block_moves`,
`tempering` and `ladder_settings` measure one method each. `qubo` compares minima of quadratic
problems, from `qubo_problems`. Start at `block_moves`, which generates its own models.
"""

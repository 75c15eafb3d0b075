"""What the benchmarks share: models, clocks and tables.

`workloads` has models as plain arrays, which every contender can take. `random_models`,
`model_families` and `held_out_models` generate models with exact answers. `timing` measures
CPU time of alternating runs. `results_store` and `run_scores` keep results between runs,
`goal_rows` formats goals and whether they are met, and `machine` describes the computer.
"""

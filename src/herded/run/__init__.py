"""Running methods: from a call of `infer` to a `Result`.

    infer.py          the public function: takes a method, or asks `selection` for one
    query.py          checks the options
    execute.py        runs a given method: layout, memory, first states, loop, result
    sampler_run.py    chains of a sampler, which write blocks of samples; solver_run.py for solvers
    run_loop.py       advances a run block by block; interrupts.py: Ctrl-C; progress.py: the bar
    recording         reads the blocks, as `keep=` asks; observables averages functions of states
    build_result.py   makes the `Result` (result.py) and its warnings, with `diagnostics`

`initial_states.py` starts chains, `memory` estimates what a run takes, `checkpoints` saves and
resumes runs, `distributed` runs chains and models on executors, `export` shows results and converts
them, `interrupted_result.py` says what becomes of partial results, and `training_helpers.py` is
what learners share.

Start reading at `infer.py`, then `execute.py`.
"""

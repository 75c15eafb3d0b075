"""Running methods: from a call of `infer` to a `Result`.

    infer.py          the public function: builds a query, has it executed, settles interruptions
    query.py          the query: what is asked of a run, and the checks of it
    selection         plans the run of a query without a method, or with the name of one
    execute.py        runs the method of a query: layout, memory, first states, loop, result
    sampler_run.py    chains of a sampler, which write blocks of samples; solver_run.py for solvers
    run_loop.py       advances a run block by block; interrupts.py: Ctrl-C; progress.py: the bar
    recording         reads the blocks, as `keep=` asks; observables averages functions of states
    build_result.py   makes the `Result` (result.py) and its warnings, with `diagnostics`
    result_check.py   compares the result with short runs of other methods or from other starts

`initial_states.py` starts chains, `memory` estimates what a run takes, `checkpoints` saves and
resumes runs, `distributed` runs chains and models on executors, `export` shows results and converts
them, `interrupted_result.py` says what becomes of partial results, and `training_helpers.py` is
what learners share.

Start reading at `infer.py`, then `execute.py`.
"""

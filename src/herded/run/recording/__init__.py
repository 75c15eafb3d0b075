"""What a run records: a recorder for each entry of `keep=`, in each chain.

A chain writes blocks of samples and shows each block to its recorders (`recorder_base.py`).
`recorders.py` has marginals, pair marginals, joint distributions, samples and error curves;
`best_state_recorder.py` the best state; `log_z_estimator.py` log Z by a ladder of temperatures;
`trace.py` what every run notes for its diagnostics. Kernels are in `count_kernels.py` and
`log_z_kernels.py`; `growing_arrays.py` holds what grows with the run. `herded.run.build_result`
reads the recorders in the end. Observables have a package of their own.

Start reading at `recorder_base.py`, then `recorders.py`.
"""

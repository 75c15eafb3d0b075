"""The reliability of a run, judged by the run itself: intervals, and reasons to doubt its numbers.

`autocorrelation.py` and `intervals.py` give errors of averages. `chain_agreement.py` finds chains
that disagree and members that have not moved, `confinement.py` chains that hard zeros wall in,
`run_length.py` and `length_diagnostics.py` runs that are too short. `cross_check.py` compares an
answer with a short run of a second method, `start_check.py` compares with other starts, and
`log_z_check.py` judges estimates of log Z.

To add a diagnostic: a function here that returns a `Diagnostic` or None; its call in
`herded.run.build_result` if the run alone shows it, or in `herded.run.result_check` if other runs
are needed; its kind and meaning in `herded.system.diagnostics.kinds`, its sentence in
`sampler_texts.py` or `solver_texts.py` there, and an entry in `texts.py`; a row in the table of
docs/how-to/results.md. Diagnostics of one layout or ladder alone are methods of it
(`diagnostics(states)`).

Start reading at `chain_agreement.py`.
"""

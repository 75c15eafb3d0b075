"""What a run can know about its own reliability: intervals, and reasons to doubt its numbers.

`autocorrelation.py` and `intervals.py` give errors of averages. `chain_agreement.py` finds chains
that disagree and members that have not moved, `confinement.py` chains that hard zeros wall in,
`run_length.py` and `length_diagnostics.py` runs that are too short. `cross_check.py` compares an
answer with a short run of a second method, `start_check.py` compares with other starts, and
`log_z_check.py` judges estimates of log Z. `herded.run.build_result` collects what they find; a new
diagnostic is a function here and a call there.

Start reading at `chain_agreement.py`.
"""

"""Choosing a method and a run length, and running the plan.

`plan.py` turns a query without a method, or with the name of one, into a `Plan`:
`method_choice.py` decides whether exact inference fits, and `recommendation.py` which sampler to
use, after a short `pilot.py` run. `execute_plan` runs the plan: `escalation.py` tries methods from
cheap to expensive until the chains agree, `log_z_escalation.py` does so for log Z, and
`annealing_restarts.py` fills a time budget with searches for the best state.

Start reading at `plan.py`. Whether inference is exact is decided in `method_choice.choose_method`,
unless `plan.py` has found a reason to sample: a start, or something to keep that only runs give.
"""

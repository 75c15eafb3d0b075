"""Estimates of the memory that a run takes, before it takes any.

`method_estimate.py` estimates `infer(model, method)` from the model and the method alone: choosing
a method and `herded info` use it. `sampler_run_estimate.py` knows the layout, what is recorded and
how long the run is: it refuses a run above the limit, and lets a run that the clock ends stop when
it reaches the limit. What is free, and sizes as text, are in `herded.system.memory_limits`.

Start reading at `sampler_run_estimate.py`.
"""

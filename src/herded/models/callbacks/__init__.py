"""Models given by the user's own functions instead of factors.

`conditional_model.py` is the public class `ConditionalModel`. `function_calls.py` compiles the
user's functions into a form that kernels call for all members of a herd. `frozen_data.py` freezes
the data that these functions read, so that a model never changes. `path_scores.py` computes
differences of log-scores from conditionals alone.

Start reading at `conditional_model.py`; the kernels are in `herded.layouts.callback`.
"""

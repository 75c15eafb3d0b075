"""What hard zeros (log-potentials of -inf) allow: first states, reachability, separate classes.

`constraint_search.py` is the search itself: domains of states, propagation and backtracking.
`start_states.py` uses it to find states to start from and to tell which states are possible.
`reachability.py` proves where given moves can lead from a state, and `disconnected_support.py`
finds classes of states that moves cannot pass between. Diagnostics and the choice of a method use
these results.

Start reading at `start_states.py`.
"""

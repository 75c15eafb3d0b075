"""Draws: how a conditional distribution is turned into new values.

A layout computes the conditional of a variable in fixed point (`fixed_point.py`). A draw chooses
the state: at random (`random.py`, Gibbs sampling), from weights that persist between visits
(`herded.py`, Algorithm 1 of the paper), or for all members of a herd with one shared phase
(`systematic.py`; `systematic_lanes.py` where lanes are variables). The weights of Algorithm 1 start
and split in `herded_weights.py`; `weight_modes.py` numbers the ways to find a weight, and
`context_hashing.py` finds it by hashing.

Start reading at `protocol.py`, then `herded.py`.
"""

"""Moves: which variables change at once, given all others.

A move selects variables and finds the layout that computes their joint conditional; a draw then
chooses their states. `sites.py` moves one variable at a time. `blocks` moves sets of variables
exactly. `tempering` runs replicas at several temperatures that exchange states.

A new kind of move is a folder here, with a frozen dataclass in `move.py` that users pass as
`Gibbs(moves=...)` and that has `propose` and `to_dict`; its layout and kernels are a folder of
`herded.layouts`, as those of `blocks` are. Cluster moves, such as those of Swendsen and Wang, would
be `moves/clusters` and `layouts/clusters`.

Start reading at `protocol.py`, then `sites.py`, then `blocks/move.py`.
"""

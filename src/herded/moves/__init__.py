"""Moves: which variables change at once, given all others.

A move selects variables and finds the layout that computes their joint conditional; a draw then
chooses their states. `sites.py` moves one variable at a time. `blocks` moves sets of variables
exactly. `tempering` runs replicas at several temperatures that exchange states. Cluster moves, such
as those of Swendsen and Wang, would be another package.

Start reading at `protocol.py`, then `sites.py`.
"""

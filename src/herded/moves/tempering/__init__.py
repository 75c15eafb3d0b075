"""Tempering: replicas of a model on a ladder of temperatures, which exchange states.

`herded.methods.tempered` builds a ladder. `ladder_layouts.py` lays it out, `ladder_sweeps.py`
sweeps all rungs, and `replica_exchange.py` exchanges states between neighbouring rungs, component
by component. `learned_block_moves.py` learns sets of variables that flip together during burn-in.
Faster or different versions: `tabulated_ladder_sweeps.py` looks conditionals up in tables,
`binary_pairs_ladder_sweeps.py` and `binary_pairs_exchange.py` are for binary pairwise models,
`callback_ladder.py` and `callback_ladder_sweeps.py` for models given by functions.

Start reading at `ladder_layouts.py`.
"""

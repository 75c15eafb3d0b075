"""Moves of blocks: sets of variables whose joint conditional is cheap enough to compute exactly.

`move.py` is the option `Blocks(...)` that users pass. `block_selection.py` covers a model with
blocks, each built by `block_builder.py`, which eliminates variables while tables stay small and
cuts where they do not. The blocks go to `herded.layouts.blocks`, which sweeps them.

Start reading at `move.py`.
"""

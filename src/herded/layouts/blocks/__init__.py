"""The layout of moves that change several variables at once, exactly given all others.

`moves.blocks` chooses the blocks. `arrays.py` lays each one out as a sequence of elimination steps,
`elimination_kernels.py` sums the block out, and `sweeps.py` draws its variables backwards, the last
one eliminated first. `layout.py` holds chains and herds of such sweeps.

Start reading at `arrays.py`, which defines the terms.
"""

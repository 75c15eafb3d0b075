"""Models: variables, their states and log-potentials, without any algorithm.

`factor_graph.py` holds any discrete model as flat arrays, `lattice.py` grids of any dimension.
`lattice_builders.py` (Ising and Potts), `pairwise.py` and `chain.py` build these, and `convert`
builds them from objects of other libraries. `callbacks` holds models given by functions.
`constraints` works out what hard zeros allow. `evidence.py` clamps variables, `naming.py`
translates names, `validation.py` checks what users pass, and `structure_queries.py` and
`summary.py` describe models.

A model never changes once built: `given` returns a new one. `content_hash` identifies the content.

Start reading at `protocol.py`, then `factor_graph.py`.
"""

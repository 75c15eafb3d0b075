"""Models: variables, their states and log-potentials, without any algorithm.

`factor_graph.py` holds any discrete model as flat arrays, `lattice.py` grids of any dimension.
Other modules build these: `lattice_builders.py` (Ising and Potts), `pairwise.py`, `chain.py`, and
`convert` from objects of other libraries. `callbacks` holds models that are given by functions.
`constraints` finds out what hard zeros allow. `evidence.py` clamps variables, `naming.py`
translates names, `validation.py` checks what users pass, and `structure_queries.py` and
`summary.py` describe models.

Models never change once built: `given` returns a new one, and `content_hash` names the content.

Start reading at `protocol.py`, then `factor_graph.py`.
"""

"""Lattices that do not fit in memory: cut into tiles, swept from disk or on a Dask cluster.

`infer_tiled.py` is the public function. It reads a `stored_lattice.py` rectangle by rectangle, cuts
it into tiles (`tiling.py`, `tile.py`), and sweeps them from disk (`out_of_core.py`) or on the
workers of a cluster (`dask_cluster.py`), with the kernels of `tile_kernels.py`. `snapshots.py`
saves all tiles after a sweep, so that a run can resume, and `marginals_output.py` writes the
marginals. The results equal those of `infer` on the whole lattice bit for bit.

Start reading at `infer_tiled.py`.
"""

"""Lattices that do not fit in memory: cut into tiles, swept from disk or on a Dask cluster."""

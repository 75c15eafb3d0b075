"""One lattice that no memory holds: cut into tiles, swept from disk or on a Dask cluster."""

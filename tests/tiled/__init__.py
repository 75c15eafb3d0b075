"""Tests of `herded.tiled`: one lattice in tiles, on disk, on hosts and on Dask."""

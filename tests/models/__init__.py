"""Tests of `herded.models`: factor graphs, lattices, callback models and hard constraints."""

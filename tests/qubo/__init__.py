"""Tests of `herded.qubo`: the dimod sampler and its schedule of temperatures."""

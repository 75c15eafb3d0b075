"""Tests of `herded.learn`: fits, Boltzmann machines, mixtures, variable selection and structure."""

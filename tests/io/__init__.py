"""Tests of `herded.io`: formats of models, results and images, with random and broken files."""

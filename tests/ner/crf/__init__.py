"""Tests of `herded.ner.crf`: features, chain kernels, skip chains and model files."""
